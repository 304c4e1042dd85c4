package policy

import (
	"math"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestAutoClonesAtTheFirstReport: what the first reports say is acted upon at once. All stragglers have clones then, not
// only those that the first look finds best, be the mean of the stage told beforehand or not.
func TestAutoClonesAtTheFirstReport(t *testing.T) {
	const s, tasks, slow = sched.Second, 100, 12
	for _, told := range []sched.Time{0, 100 * s} {
		w := on(t, "auto", sched.DefaultLimits())
		w.Machines(2 * tasks)
		job := policytest.Tasks(tasks)
		job.Stages[0].Mean = told
		job.Stages[0].SD = told / 10
		w.Submit(0, job)
		w.Fate = func(d *sched.Decision) policytest.Fate {
			f := policytest.Fate{Lasts: 100*s + sched.Time(d.Task)*s/100, Reports: s}
			if d.Number == 0 && d.Task < slow {
				f.Lasts = sched.FromSeconds(3000 * math.Pow(0.85, float64(d.Task)))
			}
			return f
		}
		for w.Core.View().Now() <= s+s/16 && w.Step() {
		}
		cloned := 0
		for task := range sched.TaskID(slow) {
			if w.Core.View().Task(task).Live > 1 {
				cloned++
			}
		}
		if cloned < slow {
			t.Errorf("told a mean of %v: %d of %d stragglers have a clone after the first report", told, cloned, slow)
		}
	}
}
