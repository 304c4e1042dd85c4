package policy

import (
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
