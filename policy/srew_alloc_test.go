//go:build !race && !invariants

package policy // where the core checks itself after every call, it allocates

import (
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// Once warm the policy allocates nothing, whatever its mode and whether durations are known.
func TestSREWAllocatesNothing(t *testing.T) {
	for _, spec := range []string{"srew", "srew:preempt=true,slot=1s", "srew:preempt=clones,slot=1s", "srew:slot=0s"} {
		for _, mean := range []sched.Time{0, 10 * sched.Second} {
			w := srewOn(t, spec, sched.DefaultLimits(), 100)
			w.lasts = func(t sched.TaskID, number uint32) sched.Time {
				return sched.Time(1+(7*t+sched.TaskID(number))%19) * sched.Second
			}
			for j := range 200 {
				w.submit(0, flat(20+j, mean, 0))
			}
			w.advance(0)
			for range 200 {
				w.step(sched.Never)
			}
			launches := w.launches
			if n := testing.AllocsPerRun(100, func() { w.step(sched.Never) }); n != 0 {
				t.Errorf("%s, mean %v: %v allocations per instant", spec, mean, n)
			}
			if w.launches == launches {
				t.Errorf("%s, mean %v: nothing was launched", spec, mean)
			}
		}
	}
}
