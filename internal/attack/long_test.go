//go:build linux && long

package attack

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

// How many attacks there are, unless a flag says it.
var shortOrLong = struct {
	amounts
	soak time.Duration
	goOn bool // after a finding
}{amounts{deaths: 1000, cuts: 500, damages: 1000, jumps: 100, servers: 1000}, time.Hour, true}
