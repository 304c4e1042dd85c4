//go:build invariants || race

package sched

// checking makes calls of Advance end with an audit.
const checking = true
