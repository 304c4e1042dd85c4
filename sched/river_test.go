//go:build !long

package sched

const riverJobs = 100_000
