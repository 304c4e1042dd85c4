//go:build !invariants && !race && !long

package policytest

// fewer divides the number of worlds and of jobs in them. Builds with the tag long go through all,
// and those that check each event through half of them.
const fewer = 3
