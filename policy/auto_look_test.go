package policy

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestSurveySeesTheSlowest compares the tasks that a look sees of a large stage with those that seem slowest of all that
// run: while its tasks wait and once none does, with reports and without.
func TestSurveySeesTheSlowest(t *testing.T) {
	const s, tasks = sched.Second, 3000
	for _, c := range []struct {
		slots   int
		reports sched.Time
		most    int
	}{{tasks, 0, tasks / 16}, {tasks, s, tasks / 16}, {tasks / 2, 0, 96}, {tasks / 2, s, 96}} {
		p := autoOn(t, "auto")
		w := policytest.NewWorld(t, p, sched.DefaultLimits())
		w.Machine(0, c.slots)
		w.Submit(0, policytest.Tasks(tasks))
		r := rand.New(rand.NewPCG(4, 18))
		w.Fate = func(*sched.Decision) policytest.Fate {
			return policytest.Fate{Lasts: sched.FromSeconds(10 + 5*r.ExpFloat64()), Reports: c.reports}
		}
		for w.Core.View().Now() < 12*s && w.Step() {
		}
		v, st := w.Core.View(), p.stages.Of(0)
		stage := v.Stage(0)
		if !p.renew(v, st, &stage) {
			t.Fatal("nothing is known of the stage")
		}
		var want []runner
		for id, ok := v.RunningTask(0, 0); ok; id, ok = v.RunningTask(0, id+1) {
			x := runner{id: id}
			p.glance(v, &x, st.usually(&stage))
			want = append(want, x)
		}
		slices.SortStableFunc(want, func(a, b runner) int { return cmp.Compare(b.seems, a.seems) })
		p.survey(v, st, &stage)
		if len(p.eye.seen) != c.most || !p.eye.crowded {
			t.Fatalf("%+v: sees %d tasks of %d, crowded %v", c, len(p.eye.seen), stage.Running, p.eye.crowded)
		}
		seen := map[sched.TaskID]bool{}
		for _, x := range p.eye.seen {
			seen[x.id] = true
		}
		for _, x := range want[:c.most] {
			if !seen[x.id] {
				t.Errorf("%+v: does not see task %d, which seems to take %v more", c, x.id, x.seems)
			}
		}
	}
}
