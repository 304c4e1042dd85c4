//go:build linux && long

package e2e

import "time"

// How large the jobs are, how often the engine dies, and within what time of its start.
const (
	deaths    = 10
	window    = 300 * time.Millisecond
	splitSize = "12KiB"
	tasks     = 150
	accounts  = 60 // stories about what is mapped twice
	seeds     = 40

	leastResumed = 5 // of attempts that must go on in the middle
)

func policies(registered []string) []string { return registered }
