//go:build long

package policytest

const (
	fewer     = 1
	fewerJobs = 1
)
