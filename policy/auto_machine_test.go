package policy

import (
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestAutoLeavesSlowMachines plays jobs that need half of the machines, one after the other. The first machine takes
// five times as long: spark begins there again and again, auto twice or so until it tries anew. The first jobs do not
// count: as long as little is known of durations, tasks have clones from their start, which hide that a machine is slow.
func TestAutoLeavesSlowMachines(t *testing.T) {
	const s, first, jobs = sched.Second, 20, 60
	for spec, most := range map[string]int{"auto": 3, "spark": jobs - first} {
		w := on(t, spec, sched.DefaultLimits())
		w.Machines(8)
		for j := range sched.Time(jobs) {
			w.Submit(j*60*s, policytest.Tasks(4))
		}
		slow := 0
		w.Fate = func(d *sched.Decision) policytest.Fate {
			if d.Machine == 0 {
				if d.Number == 0 && d.Job >= first {
					slow++
				}
				return policytest.Fate{Lasts: 50 * s}
			}
			return policytest.Fate{Lasts: 10*s + sched.Time(d.Task%7)*s/10}
		}
		w.Run()
		if slow > most || slow == 0 || spec == "spark" && slow != most {
			t.Errorf("%s: %d tasks of %d jobs began on the slow machine, want at most %d", spec, slow, jobs-first, most)
		}
	}
}

// TestMachinesStaySlow checks what a straggler's slot is worth by what it is in worlds in which machines are slow for
// long, attempts are slow by chance, and attempts of some times are slow wherever they run.
func TestMachinesStaySlow(t *testing.T) {
	const all, slow, times = 20, 0.2, 5.0
	for name, x := range map[string]struct {
		slow   func(r *rand.Rand, n, m int) bool
		lo, hi float64
	}{
		"machines":    {func(_ *rand.Rand, _, m int) bool { return m < slow*all }, 0.2, 0.35},
		"chance":      {func(r *rand.Rand, _, _ int) bool { return r.Float64() < slow }, 0.85, 1},
		"bad times":   {func(_ *rand.Rand, n, _ int) bool { return n/100%5 == 0 }, 0.95, 1},
		"nothing yet": {nil, 1, 1},
	} {
		var w machines
		r := rand.New(rand.NewPCG(117, 3))
		for n := 0; n < 4000 && x.slow != nil; n++ {
			m := r.IntN(all)
			is := x.slow(r, n, m)
			if w.ran(sched.MachineID(m), is); is {
				w.took(times)
			}
		}
		if got := w.worth(); got < x.lo || got > x.hi {
			t.Errorf("%s: a slow slot is worth %.3f, want %v to %v", name, got, x.lo, x.hi)
		}
	}
}
