package policy

import (
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestAutoLeavesSlowMachines plays jobs that need half of the machines, one after the other. The first machine takes
// five times as long: spark begins there again and again, auto twice or so until it tries anew.
func TestAutoLeavesSlowMachines(t *testing.T) {
	const s, jobs = sched.Second, 12
	for spec, most := range map[string]int{"auto": 3, "spark": jobs} {
		w := on(t, spec, sched.DefaultLimits())
		w.Machines(8)
		for j := range sched.Time(jobs) {
			w.Submit(j*60*s, policytest.Tasks(4))
		}
		slow := 0
		w.Fate = func(d *sched.Decision) policytest.Fate {
			if d.Machine == 0 {
				if d.Number == 0 {
					slow++
				}
				return policytest.Fate{Lasts: 50 * s}
			}
			return policytest.Fate{Lasts: 10*s + sched.Time(d.Task%7)*s/10}
		}
		w.Run()
		if slow > most || slow == 0 || spec == "spark" && slow != jobs {
			t.Errorf("%s: %d tasks of %d jobs began on the slow machine, want at most %d", spec, slow, jobs, most)
		}
	}
}
