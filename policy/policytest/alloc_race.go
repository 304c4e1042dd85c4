//go:build race || invariants

package policytest

const allocationsCount = false
