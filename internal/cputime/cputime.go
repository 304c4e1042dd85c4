// Package cputime tells what a process has used of processors: other programs on the machine do not count.
package cputime

import (
	"syscall"
	"time"
)

// Used returns what this process has used so far, in user and system mode, on all processors; 0 if nobody knows.
func Used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
