//go:build !long

package sched

// With the tag long there are ten times as many, on a machine that does little else, and a fact may cost a tenth more.
const (
	riverJobs  = 100_000
	mostSlower = 1.5
)
