package sched

import (
	"strings"
	"testing"
)

// A check that finds nothing is worth what it would have found. Each case breaks one thing of a sound core.
func TestCheckFindsWhatIsBroken(t *testing.T) {
	for _, c := range []struct {
		name  string
		wreck func(v *View)
		want  string
	}{
		{"nothing", func(*View) {}, ""},
		{"a slot used twice", func(v *View) { v.machines[0].Used++ }, "machine 0"},
		{"a machine that is full and free", func(v *View) { v.free[0].add(1) }, "machine 1 is free: false"},
		{"a free machine that nobody sees", func(v *View) { v.free[0].remove(0) }, "machine 0 is free: true"},
		{"an attempt on a lost machine", func(v *View) { v.machines[1].Up = false }, "machine 1 (up false)"},
		{"slots miscounted", func(v *View) { v.slots[0]++ }, "slots counted"},
		{"a task that runs unseen", func(v *View) { v.running.remove(0) }, "task 0"},
		{"a task that waits unseen", func(v *View) { v.pending.remove(2) }, "task 2"},
		{"a task that nobody would ever run", func(v *View) { v.task(2).State = TaskBlocked; v.pending.remove(2) }, "stage 0 counts"},
		{"a task that waits for nothing", func(v *View) { v.dequeue(2, v.kin(2)); v.task(2).State = TaskBlocked }, "and 1 that wait for nothing"},
		{"a task of a paused job that waits", func(v *View) { v.job(0).Paused = true }, "(paused true) has 1 tasks that wait"},
		{"a running task without attempt", func(v *View) { v.task(2).State = TaskRunning }, "task 2"},
		{"an attempt too many", func(v *View) { v.task(0).Live++ }, "task 0"},
		{"a result too many", func(v *View) { v.stage(0).Done++ }, "stage 0 counts"},
		{"a task of a blocked stage that waits", func(v *View) { v.stage(0).State = StageBlocked }, "of stage 0 in state 0"},
		{"a stage that waits unseen", func(v *View) { v.waiting[0].remove(0) }, "stage 0 with 1 pending"},
		{"a job that is active unseen", func(v *View) { v.active.remove(0) }, "job 0"},
		{"a job miscounted", func(v *View) { v.job(0).Unfinished-- }, "job 0 counts"},
		{"a job over with work left", func(v *View) { v.job(0).State = JobBroken; v.active.remove(0) }, "job 0 in state 3"},
		{"the cluster miscounted", func(v *View) { v.pendingTasks[0]++ }, "the cluster's counters"},
		{"counted for another class", func(v *View) { v.pendingTasks[0]--; v.pendingTasks[1]++ }, "the cluster's counters"},
		{"one that waits where nobody does", func(v *View) { v.attempts[0].waiting = true }, "row 0 (running true) is waiting: true"},
		{"one that began tomorrow", func(v *View) { v.attempts[1].started = v.now + 1 }, "row 1 (running true)"},
		{"a slot of the wrong class", func(v *View) { v.machines[0].Class = 1 }, "needs a slot of class 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, NoLimits(), 2, 1)
			w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 3}, {Tasks: 1}}, Edges: []Edge{{From: 0, To: 1}}})
			w.launch(0, 0)
			w.launch(1, 1)
			c.wreck(&w.view)
			err := w.Check()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestActiveJobHasSomethingToDo(t *testing.T) {
	w := newWorld(t, NoLimits())
	w.arrive(tasks(1))
	w.view.dequeue(0, w.view.kin(0))
	w.view.task(0).State, w.view.task(0).blocked = TaskBlocked, 1 // every counter agrees, and nothing will ever happen
	if err := w.Check(); err == nil || !strings.Contains(err.Error(), "nothing that runs or may run") {
		t.Errorf("got %v", err)
	}
}

// However large the world, the audit comes round to it, and not at every call.
func TestAuditComesRound(t *testing.T) {
	for _, n := range []int{1, 100, 100_000} {
		w := newWorld(t, NoLimits(), 1)
		w.arrive(tasks(n))
		w.unaudited = 0
		w.view.pendingTasks[0]++
		calls := 0
		for found := false; !found; calls++ {
			func() {
				defer func() { found = recover() != nil }()
				w.audit()
			}()
		}
		if most := n/auditedRows + 1; calls > most || calls < n/auditedRows {
			t.Errorf("%d tasks: found by call %d, want by call %d", n, calls, most)
		}
	}
}
