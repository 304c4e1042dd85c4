package policy

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestAutoLongestPathFirst checks that of a job's stages the one with the longest path begins, and that spark takes
// them in their order.
func TestAutoLongestPathFirst(t *testing.T) {
	for spec, want := range map[string][]sched.TaskID{"auto": {2, 1, 3, 0}, "spark": {0, 1, 2, 3}} {
		w := on(t, spec, sched.DefaultLimits())
		w.Machine(0, 1)
		stage := func(seconds sched.Time) sched.StageSpec {
			return sched.StageSpec{Tasks: 1, Mean: seconds * sched.Second}
		}
		w.Submit(0, &sched.JobSpec{
			Stages: []sched.StageSpec{stage(1), stage(6), stage(3), stage(5)},
			Edges:  []sched.Edge{{From: 2, To: 3}}, // 1, 6, 8 and 5 s
		})
		w.Fate = func(d *sched.Decision) policytest.Fate {
			return policytest.Fate{Lasts: w.Core.View().Stage(w.Core.View().Task(d.Task).Stage).Mean}
		}
		w.Run()
		if diff := cmp.Diff(want, w.Launches()); diff != "" {
			t.Errorf("%s launched (-want +got):\n%s", spec, diff)
		}
	}
}

// TestAutoLeavesWhatHasSlack checks that a straggler has no clone while another stage of its job ends much later, and
// has one where its stage is the only one or the other one is done sooner.
func TestAutoLeavesWhatHasSlack(t *testing.T) {
	const s = sched.Second
	for name, x := range map[string]struct {
		other  sched.Time
		clones bool
	}{"no other stage": {0, true}, "one that is done sooner": {10 * s, true}, "one that takes hours": {3600 * s, false}} {
		w := on(t, "auto", sched.DefaultLimits())
		w.Machine(0, 40)
		job := &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 20, Mean: 10 * s, SD: 4 * s}}}
		if x.other > 0 {
			job.Stages = append(job.Stages, sched.StageSpec{Tasks: 1, Mean: x.other, SD: x.other / 10})
		}
		w.Submit(0, job)
		w.Fate = func(d *sched.Decision) policytest.Fate {
			switch {
			case d.Task == 20:
				return policytest.Fate{Lasts: x.other}
			case d.Task == 7 && d.Number == 0:
				return policytest.Fate{Lasts: 18 * s}
			}
			return policytest.Fate{Lasts: 8*s + sched.Time(d.Task)*s/5}
		}
		w.Run()
		cloned := slices.ContainsFunc(w.Orders, func(d sched.Decision) bool { return d.Kind == sched.Launch && d.Number > 0 && d.Task < 20 })
		if cloned != x.clones {
			t.Errorf("%s: clones %v", name, w.Clones())
		}
	}
}
