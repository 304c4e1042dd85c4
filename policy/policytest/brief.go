//go:build !invariants && !race && !long

package policytest

// fewer divides the number of worlds and of jobs in them. Builds with the tags invariants or long go through all.
const fewer = 3
