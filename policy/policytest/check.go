package policytest

import (
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// Limits are those that the battery runs every policy under.
var Limits = []sched.Limits{
	sched.DefaultLimits(),
	sched.NoLimits(),
	// no clones: the metamorphic case, everything completes all the same
	{Attempts: 1, Clones: sched.CloneBudget{Floor: sched.Unlimited}},
	{Attempts: 2, Clones: sched.CloneBudget{Floor: 1}},
	{Attempts: sched.Unlimited, Clones: sched.CloneBudget{TaskShare: 0.05, RunningShare: 0.2}},
}

// idle looks for a free slot and a task that waits for one of its class.
func idle(v *sched.View) (sched.MachineID, sched.StageID, bool) {
	for m, ok := v.FreeMachine(0); ok; m, ok = v.FreeMachine(m + 1) {
		for s, ok := v.WaitingStage(0); ok; s, ok = v.WaitingStage(s + 1) {
			if v.Stage(s).Class == v.Machine(m).Class {
				return m, s, true
			}
		}
	}
	return 0, 0, false
}

// inspect runs a world to its end and checks every step.
func inspect(t testing.TB, w *World, conserving bool, l sched.Limits, seed uint64) []sched.Decision {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("seed %d: panic: %v\n%s", seed, r, debug.Stack())
		}
	}()
	w.Seen = func(_ sched.Time, orders []sched.Decision) {
		v := w.Core.View()
		if err := w.Core.Check(); err != nil {
			t.Fatalf("seed %d at %v: %v", seed, w.Now, err)
		}
		if conserving && v.FreeSlots() > 0 && v.Pending() > 0 {
			if m, st, found := idle(v); found {
				t.Fatalf("seed %d at %v: machine %d has a free slot, and a task of stage %d waits for one", seed, w.Now, m, st)
			}
		}
		if err := withinLimits(v, l, own(w.Policy), orders); err != nil {
			t.Fatalf("seed %d at %v: %v", seed, w.Now, err)
		}
	}
	w.Run()
	checkOutcome(t, w, seed)
	return w.Orders
}

// own returns the bounds that a policy keeps itself.
func own(p sched.Policy) (b sched.Bounds) {
	if bounded, ok := p.(sched.Bounded); ok {
		b = bounded.Bounds()
	}
	return b
}

// withinLimits checks the attempts of each task and, where clones were launched, the clone budget, with arithmetic of
// its own. Limits may give way to bounds of the policy's own.
func withinLimits(v *sched.View, l sched.Limits, self sched.Bounds, orders []sched.Decision) error {
	clones, launched := 0, false
	if l.OwnAttempts && (self.Attempts < 0 || self.Attempts > l.Attempts) {
		l.Attempts = self.Attempts
	}
	for i := range orders {
		if d := &orders[i]; d.Kind == sched.Launch {
			n := int(v.Task(d.Task).Live)
			if l.Attempts >= 0 && n > l.Attempts {
				return fmt.Errorf("task %d has %d attempts, limit %d", d.Task, n, l.Attempts)
			}
			launched = launched || n > 1
		}
	}
	for t := range v.Rows().Tasks() {
		clones += max(0, int(v.Task(sched.TaskID(t)).Live)-1)
	}
	b := l.Clones
	most := max(b.Floor, int(b.TaskShare*float64(v.Cluster().Unfinished())), int(b.RunningShare*float64(v.Cluster().RunningTasks())))
	if b.Own {
		most = max(most, int(self.Clones*float64(v.Slots())), int(self.Running*float64(v.Cluster().RunningTasks())))
	}
	if launched && b.Floor >= 0 && clones > most {
		return fmt.Errorf("%d clones run, budget %d", clones, most)
	}
	return nil
}

// checkOutcome checks that what ended well is whole: each task has one result, or its stage needed no more.
func checkOutcome(t testing.TB, w *World, seed uint64) {
	t.Helper()
	v := w.Core.View()
	commits := make(map[sched.TaskID]int)
	for i := range w.Orders {
		if w.Orders[i].Kind == sched.Commit {
			commits[w.Orders[i].Task]++
		}
	}
	for j := range v.Rows().Jobs() {
		job := v.Job(sched.JobID(j))
		for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages) && job.State == sched.JobSucceeded; s++ {
			st := v.Stage(s)
			if st.Done < st.Need {
				t.Fatalf("seed %d: job %d is done, its stage %d has %d of %d tasks", seed, j, s, st.Done, st.Need)
			}
		}
	}
	for task, n := range commits {
		if n > 1 {
			t.Fatalf("seed %d: task %d was committed %d times", seed, task, n)
		}
	}
}
