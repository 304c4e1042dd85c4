package policy

import (
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestGivenUpTasksHoldNobodyUp: of ten tasks six fail for good, three are done after 10 s and one would last for
// 1000 s. Rules that wait for a share of the stage wait for that share of the four that are left.
func TestGivenUpTasksHoldNobodyUp(t *testing.T) {
	for _, c := range []struct {
		policy string
		late   bool // the failures come after the others are done, and the rule looks again then
	}{
		{"spark:quantile=0.75", false}, {"spark:quantile=0.75", true},
		{"flink:lower_bound=1s", false}, {"flink:lower_bound=1s", true},
		{"fork:p=0.25", false}, {"fork:p=0.25", true}, {"fork:p=0.25,original=kill", true},
		{"hadoop2", false}, {"hadoop", false}, {"late:min_age=1s", false}, {"mantri", false}, {"srew", false},
	} {
		t.Run(c.policy, func(t *testing.T) {
			w := on(t, c.policy, sched.NoLimits())
			w.Machines(20)
			j := w.Submit(0, &sched.JobSpec{MaxFailed: sched.Unlimited, Stages: []sched.StageSpec{{Tasks: 10}}})
			w.Fate = func(d *sched.Decision) policytest.Fate {
				switch {
				case d.Task < 6 && c.late:
					return policytest.Fate{Lasts: 20 * sched.Second, Fails: true}
				case d.Task < 6:
					return policytest.Fate{Lasts: sched.Second, Fails: true}
				case d.Task < 9 || d.Number > 0:
					return policytest.Fate{Lasts: 10 * sched.Second, Reports: sched.Second}
				}
				return policytest.Fate{Lasts: 1000 * sched.Second, Reports: sched.Second}
			}
			w.Run()
			v := w.Core.View()
			if job, st := v.Job(j), v.Stage(0); job.State != sched.JobBroken || job.Broken != 6 || st.Done != 4 || st.GivenUp != 6 {
				t.Errorf("job %+v, stage %+v", job, st)
			}
			if w.Now > 200*sched.Second {
				t.Errorf("the job took %v: the straggler has no clone", w.Now)
			}
		})
	}
}
