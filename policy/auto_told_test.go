package policy

import (
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestAutoToldOfEqualTasks: tasks that are all equal have no clones in slots to spare, be what was told of them right or
// wrong. Without reports nothing else is known before the first is done.
func TestAutoToldOfEqualTasks(t *testing.T) {
	const ms, tasks, lasts = sched.Second / 1000, 20, 10 * sched.Second
	for _, c := range []struct {
		name     string
		mean, sd sched.Time
	}{
		{"right", lasts, 50 * ms},
		{"right, and known to a hair", lasts, ms},
		{"a tenth too little", 9 * sched.Second, 50 * ms},
		{"a tenth of it", sched.Second, 50 * ms},
		{"a thousandth of it", 10 * ms, ms},
		{"ten times too much", 10 * lasts, 500 * ms},
	} {
		w := on(t, "auto", sched.DefaultLimits())
		w.Machines(2 * tasks)
		job := policytest.Tasks(tasks)
		job.Stages[0].Mean, job.Stages[0].SD = c.mean, c.sd
		w.Submit(0, job)
		w.Fate = func(d *sched.Decision) policytest.Fate {
			return policytest.Fate{Lasts: lasts + sched.Time(d.Task)*ms}
		}
		for w.Step() {
		}
		done := w.Core.View().Job(0)
		if flow := done.Closed - done.Arrived; flow > lasts+tasks*ms {
			t.Errorf("%s: done after %v", c.name, flow)
		}
		if part := done.Fruitless.Seconds() / done.Fruitful.Seconds(); part > 0.01 {
			t.Errorf("%s: clones took %.3f of the tasks' machine time", c.name, part)
		}
	}
}

// TestAutoLastWaveOfEqualTasks: tasks that are all equal, but for a hundredth, have next to no clones in the slots that their last wave
// leaves idle, although none reports. Of six on four slots one has a clone: with the fourth of the first wave still running, the third to
// be done leaves a slot idle.
func TestAutoLastWaveOfEqualTasks(t *testing.T) {
	const ms, lasts = sched.Second / 1000, 10 * sched.Second
	for _, c := range []struct {
		tasks, slots int
		most         float64
	}{{6, 4, 0.16}, {7, 4, 0.01}, {42, 4, 0.01}, {30, 20, 0.01}, {50, 20, 0.01}, {1010, 1000, 0.01}} {
		for seed := range uint64(5) {
			w := on(t, "auto", sched.DefaultLimits())
			w.Machines(c.slots)
			w.Submit(0, policytest.Tasks(c.tasks))
			r := rand.New(rand.NewPCG(seed, 127))
			w.Fate = func(*sched.Decision) policytest.Fate {
				return policytest.Fate{Lasts: lasts + sched.Time(r.IntN(100))*ms}
			}
			w.Run()
			done := w.Core.View().Job(0)
			if part := done.Fruitless.Seconds() / done.Fruitful.Seconds(); part > c.most {
				t.Errorf("%d tasks, %d slots, seed %d: %d clones took %.3f of the tasks' machine time", c.tasks, c.slots, seed, done.Clones, part)
			}
		}
	}
}
