//go:build long

package sched

// How many jobs go through a core, and how much more a fact may cost after them than in a fresh core.
const (
	riverJobs  = 1_000_000
	mostSlower = 1.1
)
