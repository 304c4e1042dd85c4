//go:build !invariants && !race

package sched

const checking = false
