//go:build invariants || race

package sched

// checking makes every call of Advance end with Check.
const checking = true
