//go:build !long

package policytest

// fewer divides the number of worlds and of jobs in them. Builds with the tag long go through all.
const fewer = 3
