//go:build !long && !invariants

package policytest

// fewer divides the number of worlds, fewerJobs that of jobs in a long one. Builds with the tag invariants, which
// .ci/run tests, have more worlds, and those with the tag long go through all.
const (
	fewer     = 5
	fewerJobs = 3
)
