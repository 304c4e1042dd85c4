//go:build long && unix

package sim_test

import (
	"math"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/cputime"
	"github.com/tailcut/tailcut/sim"
)

// TestDoubling: twice the machines and twice the jobs in the same time, so that the load is the same, cost at most 2.3
// times the processor time, on average over three doublings. The time is that of all that simulating takes: making the
// workload, the run, the statistics. An event costs more in a larger cluster because its tables leave the caches, so it
// wants a machine with nothing else to do: neighbours take cache away. So that they meet small and large clusters alike,
// a measurement is as many runs of a small one as make up the work of the largest, and the least of several is taken.
func TestDoubling(t *testing.T) {
	if sim.Checked {
		t.Skip("the core checks itself after every step in this build")
	}
	const rounds, most = 4, 2.3
	sizes := []int{2_750, 5_500, 11_000, 22_000}
	largest := sizes[len(sizes)-1]
	for _, spec := range known("fifo", "spark", "srew") {
		least := make([]time.Duration, len(sizes))
		for range rounds {
			for i, machines := range sizes {
				begin, runs := cputime.Used(), largest/machines
				for range runs {
					measured(t, workload(t, machines, 50, machines), machines, spec)
				}
				took := (cputime.Used() - begin) / time.Duration(runs)
				if least[i] == 0 || took < least[i] {
					least[i] = took
				}
			}
		}
		growth := math.Cbrt(float64(least[len(sizes)-1]) / float64(least[0]))
		t.Logf("%s: %v on %v machines, %.2f times as much per doubling", spec, least, sizes, growth)
		if growth > most {
			t.Errorf("%s: the time grows by %.2f per doubling, want at most %v", spec, growth, most)
		}
	}
}
