//go:build long && unix

package policy_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/internal/measure"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// The surrogate of the 28 hours of Google's cluster on which Xu et al. (TPDS 2017) compare: 4,000 jobs with about 450,000 tasks on 11,000 machines, a load of 0.55.

func surrogate(tb testing.TB, jobs int) *trace.Workload {
	tb.Helper()
	w, err := trace.Synthesize(fmt.Sprintf("synth:google;jobs=%d", jobs), 1)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

func run(tb testing.TB, w *trace.Workload, machines int, spec string, l sched.Limits) measure.Usage {
	tb.Helper()
	return measure.Run(tb, w, spec, sim.Options{Machines: machines, Limits: l})
}

// settings are the limits under which time is measured: those that users have, and none, as in the paper.
var settings = []struct {
	name string
	sched.Limits
}{{"default", sched.DefaultLimits()}, {"none", sched.NoLimits()}}

// TestSurrogateSpeed holds every policy to its time for the whole surrogate on one core. Without limits mantri starts 3.6 million duplicates, one a period for each late
// task, and has the time of all others.
func TestSurrogateSpeed(t *testing.T) {
	w := surrogate(t, 4000)
	for _, s := range settings {
		for _, e := range policy.Entries() {
			t.Run("limits="+s.name+"/"+e.Name, func(t *testing.T) {
				most := 30.0
				if slices.Contains([]string{"srew", "mantri", "dolly", "grass"}, e.Name) && (e.Name != "mantri" || s.name == "default") {
					most = 5
				}
				x := run(t, w, 11_000, e.Name, s.Limits)
				t.Logf("| %s | %s | %.2f s | %.2f M/s | %.4f | %d |", e.Name, s.name, x.CPU.Seconds(), float64(x.Events)/x.CPU.Seconds()/1e6,
					float64(x.Mallocs)/float64(x.Events), x.Clones)
				if x.CPU.Seconds() > most {
					t.Errorf("%.1f s, at most %v s wanted", x.CPU.Seconds(), most)
				}
				if perEvent := float64(x.Mallocs) / float64(x.Events); perEvent > 0.05 {
					t.Errorf("%.3f allocations per event", perEvent)
				}
			})
		}
	}
}

// TestSurrogateGrowth: twice the machines and twice the jobs in the same time take at most 2.3 times as long. The best of up to five measurements of each counts,
// for whatever else the machine does only makes them worse. Of a policy that does next to nothing, fifo, more than twice the time is due to caches: so much more others may take.
func TestSurrogateGrowth(t *testing.T) {
	one, two := surrogate(t, 4000), surrogate(t, 8000)
	type pair struct{ one, two float64 }
	best := func(old pair, spec string) pair {
		return pair{
			min(old.one, run(t, one, 11_000, spec, sched.DefaultLimits()).CPU.Seconds()),
			min(old.two, run(t, two, 22_000, spec, sched.DefaultLimits()).CPU.Seconds()),
		}
	}
	fifo := pair{math.Inf(1), math.Inf(1)}
	for _, e := range policy.Entries() {
		t.Run(e.Name, func(t *testing.T) {
			x, most := pair{math.Inf(1), math.Inf(1)}, 0.0
			for n := 0; n == 0 || n < 5 && x.two > most*x.one; n++ {
				fifo, x = best(fifo, "fifo"), best(x, e.Name)
				most = 2.3 * max(1, fifo.two/fifo.one/2)
			}
			t.Logf("| %s | %.2f s | %.2f s | %.2f | %.2f |", e.Name, x.one, x.two, x.two/x.one, fifo.two/fifo.one)
			if x.two > most*x.one {
				t.Errorf("%.2f times as long, at most %.2f wanted", x.two/x.one, most)
			}
		})
	}
}
