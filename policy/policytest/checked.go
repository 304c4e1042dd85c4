//go:build !long && invariants

package policytest

const (
	fewer     = 3
	fewerJobs = 3
)
