//go:build linux && !long

package attack

import (
	"slices"
	"time"
)

// How large the jobs are, how often the engine dies, and within what time of its start.
const (
	deaths    = 3
	window    = 400 * time.Millisecond
	splitSize = "128KiB"
	tasks     = 40
	accounts  = 1 // stories about what is mapped twice
	seeds     = 3

	leastResumed = 0 // of attempts that must go on in the middle: none, three stories may all be lucky
)

// policies names those under which the tests run: one without clones, and those that exist of two with.
func policies(registered []string) []string {
	return slices.DeleteFunc([]string{"fifo", "spark", "srew"}, func(n string) bool { return !slices.Contains(registered, n) })
}

// How many attacks there are, unless a flag says it.
var shortOrLong = struct {
	amounts
	soak time.Duration
	goOn bool // after a finding
}{amounts{deaths: 15, cuts: 12, damages: 18, jumps: 6, servers: 30}, 9 * time.Second, false}
