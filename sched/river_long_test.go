//go:build long

package sched

const riverJobs = 1_000_000
