//go:build !race && !invariants

package policytest

// allocationsCount tells whether all allocations are those of the policy and the core.
const allocationsCount = true
