//go:build (invariants || race) && !long

package policytest

const fewer = 2
