//go:build long

package policytest

const fewer = 1
