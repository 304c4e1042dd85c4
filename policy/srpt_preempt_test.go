package policy

import (
	"slices"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestPreemptiveSRPT: Schrage 1968. On one slot a job of 10 s has worked for 4 s as one of 5 s arrives, less than the
// 6 s left. One of 12 s that arrives at 1 s has to wait for both.
func TestPreemptiveSRPT(t *testing.T) {
	w := on(t, "srpt:preempt=true", sched.NoLimits())
	w.Machine(0, 1)
	var began []sched.TaskID
	w.Seen = func(_ sched.Time, orders []sched.Decision) {
		for _, d := range orders {
			if d.Kind == sched.Launch {
				began = append(began, d.Task)
			}
		}
	}
	lasts := []sched.Time{10 * sched.Second, 12 * sched.Second, 5 * sched.Second}
	for i, at := range []sched.Time{0, 1 * sched.Second, 4 * sched.Second} {
		w.Submit(at, &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 1, Mean: lasts[i], Resumable: true}}})
	}
	w.Fate = func(d *sched.Decision) policytest.Fate {
		return policytest.Fate{Lasts: lasts[d.Task], Reports: sched.Second}
	}
	w.Run()
	want := []sched.TaskID{0, 2, 0, 1}
	if !slices.Equal(began, want) {
		t.Errorf("tasks began as %v, want %v", began, want)
	}
	if end := w.Now; end != 27*sched.Second {
		t.Errorf("over at %v, want 27 s: nothing is lost", end)
	}
}

// TestProcessorSharing: two tasks at once run at half speed on one server, at full speed on two.
func TestProcessorSharing(t *testing.T) {
	for spec, want := range map[string]float64{"laps:servers=1": 0.5, "laps:servers=2": 1, "laps:servers=3": 1} {
		w := on(t, spec, sched.NoLimits())
		w.Machine(0, 8)
		w.Submit(0, policytest.Tasks(2))
		w.Fate = func(*sched.Decision) policytest.Fate { return policytest.Fate{Lasts: 100 * sched.Second} }
		for w.Now < sched.Second && w.Step() {
		}
		if got := w.Core.View().Cluster().Pace(); got != want {
			t.Errorf("%s: speed %v, want %v", spec, got, want)
		}
	}
}
