package policy

import (
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// specs are all policies and presets as they come, and settings that take other ways through the code.
func specs() []string {
	return append(Names(),
		"late:estimate=progress,order=srpt", "late:node_filter=true,min_age=0s,cap=0.5", "late:min_age=1s,slow_task=0.5,order=fair",
		"spark:quantile=0,multiplier=0,min_runtime=0s", "spark:quantile=0.5,multiplier=1.1,order=fair,interval=1s",
		"spark:task_threshold=5s,order=srpt",
		"fork:p=0", "fork:p=1,r=2", "fork:p=0.3,r=2,original=kill,order=fair", "fork:p=0.5,r=0,original=kill,order=srpt",
		"fork:p=1,r=3,original=kill", "wlaps:energy=3", "wlaps:energy=2,power=1,slot=0s",
	)
}

// limits are those that the battery runs every policy under.
var limits = []sched.Limits{
	sched.DefaultLimits(),
	sched.NoLimits(),
	{Attempts: 1, Clones: sched.CloneBudget{Floor: sched.Unlimited}}, // no clones: the metamorphic case, everything completes all the same
	{Attempts: 2, Clones: sched.CloneBudget{Floor: 1}},
	{Attempts: sched.Unlimited, Clones: sched.CloneBudget{TaskShare: 0.05, RunningShare: 0.2}},
}

// TestBattery holds every policy to the contract of sched.Policy in messy worlds. That the core refuses no order is part of it: policies
// panic if it does.
func TestBattery(t *testing.T) {
	worlds, clones, retried := 60, 0, 0
	if testing.Short() {
		worlds = 15
	}
	for _, spec := range specs() {
		t.Run(spec, func(t *testing.T) {
			for seed := range uint64(worlds) {
				l := limits[seed%uint64(len(limits))]
				first := inspect(t, spec, l, seed)
				clones += countClones(first)
				retried += countRetried(first)
				if seed%4 > 0 {
					continue
				}
				if diff := cmp.Diff(first, inspect(t, spec, l, seed)); diff != "" {
					t.Fatalf("seed %d: the same world twice, not the same decisions (-first +second):\n%s", seed, diff)
				}
			}
		})
	}
	if clones < 20*worlds || retried < worlds {
		t.Errorf("only %d clones and %d retried jobs in all: the worlds test nothing", clones, retried)
	}
}

// countRetried counts how often a job was closed after the first time.
func countRetried(orders []sched.Decision) (n int) {
	closed := map[sched.JobID]bool{}
	for i := range orders {
		if d := &orders[i]; d.Kind == sched.Close {
			if closed[d.Job] {
				n++
			}
			closed[d.Job] = true
		}
	}
	return n
}

func countClones(orders []sched.Decision) (n int) {
	for i := range orders {
		if r := orders[i].Reason; orders[i].Kind == sched.Launch && (r == sched.Straggling || r == sched.Cloning) {
			n++
		}
	}
	return n
}

// TestBatteryOfClasses is the battery where there are two classes of slots: every policy of the registry serves them, each class on its own.
func TestBatteryOfClasses(t *testing.T) {
	worlds := 30
	if testing.Short() {
		worlds = 8
	}
	for _, spec := range append(specs(), "fifo/fair", "late/srew", "maxsrpt:size=first", "splitsrpt:size=history") {
		if p, err := New(spec, 1); err == nil && sched.Paces(p) {
			continue // NewPerClass refuses it, see TestPacesServesNoClass
		}
		t.Run(spec, func(t *testing.T) {
			for seed := range uint64(worlds) {
				l := limits[seed%uint64(len(limits))]
				first := inspectClasses(t, spec, l, seed)
				if seed%4 > 0 {
					continue
				}
				if diff := cmp.Diff(first, inspectClasses(t, spec, l, seed)); diff != "" {
					t.Fatalf("seed %d: the same world twice, not the same decisions (-first +second):\n%s", seed, diff)
				}
			}
		})
	}
}

// inspectClasses is inspect with two classes of slots. A policy that claims so leaves no slot free while a task of the slot's class waits.
func inspectClasses(t *testing.T, spec string, l sched.Limits, seed uint64) []sched.Decision {
	t.Helper()
	p, err := NewPerClass(spec, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%s, seed %d: panic: %v", spec, seed, r)
		}
	}()
	conserving := true
	specs, _ := splitClasses(spec, 2)
	for _, s := range specs {
		e, _ := Find(s)
		conserving = conserving && e.WorkConserving
	}
	w := messyOf(t, 2, p, l, seed)
	w.again = int(seed % 3)
	v := w.core.View()
	w.seen = func(_ sched.Time, orders []sched.Decision) {
		if err := w.core.Check(); err != nil {
			t.Fatalf("seed %d at %v: %v", seed, w.now, err)
		}
		if err := withinLimits(v, l, orders); err != nil {
			t.Fatalf("seed %d at %v: %v", seed, w.now, err)
		}
		if m, s, idle := idle(v); conserving && idle {
			t.Fatalf("seed %d at %v: machine %d has a free slot, and a task of stage %d waits for one", seed, w.now, m, s)
		}
	}
	w.run()
	checkOutcome(t, w, seed)
	return w.orders
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

// inspect runs a messy world to its end under a policy of the registry, checks every step, and returns all decisions.
func inspect(t *testing.T, spec string, l sched.Limits, seed uint64) []sched.Decision {
	t.Helper()
	entry, err := Find(spec)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	return inspectNew(t, entry, p, l, seed)
}

// inspectNew is inspect for any policy.
func inspectNew(t *testing.T, entry *kit.Entry, p sched.Policy, l sched.Limits, seed uint64) []sched.Decision {
	t.Helper()
	w := messy(t, p, l, seed)
	w.again = int(seed % 3)
	return inspectIn(t, entry, w, l, seed)
}

// inspectIn runs a world to its end and checks every step.
func inspectIn(t *testing.T, entry *kit.Entry, w *world, l sched.Limits, seed uint64) []sched.Decision {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%s, seed %d: panic: %v\n%s", entry.Name, seed, r, debug.Stack())
		}
	}()
	v := w.core.View()
	w.seen = func(_ sched.Time, orders []sched.Decision) {
		if err := w.core.Check(); err != nil {
			t.Fatalf("seed %d at %v: %v", seed, w.now, err)
		}
		if entry.WorkConserving && v.FreeSlots() > 0 && v.Pending() > 0 {
			t.Fatalf("seed %d at %v: %d slots are free and %d tasks wait", seed, w.now, v.FreeSlots(), v.Pending())
		}
		if err := withinLimits(v, l, orders); err != nil {
			t.Fatalf("seed %d at %v: %v", seed, w.now, err)
		}
	}
	w.run()
	checkOutcome(t, w, seed)
	return w.orders
}

// withinLimits checks the attempts of each task and, where clones were launched, the clone budget, with arithmetic of its own.
func withinLimits(v *sched.View, l sched.Limits, orders []sched.Decision) error {
	clones, launched := 0, false
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
	if launched && b.Floor >= 0 && clones > most {
		return fmt.Errorf("%d clones run, budget %d", clones, most)
	}
	return nil
}

// checkOutcome checks that what ended well is whole: each task has one result, or its stage needed no more.
func checkOutcome(t *testing.T, w *world, seed uint64) {
	t.Helper()
	v := w.core.View()
	commits := make(map[sched.TaskID]int)
	for i := range w.orders {
		if w.orders[i].Kind == sched.Commit {
			commits[w.orders[i].Task]++
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

// TestWithoutClones checks that Attempts=1 makes a policy about redundancy its base: as many launches as tasks where nothing fails.
func TestWithoutClones(t *testing.T) {
	for _, spec := range specs() {
		w := on(t, spec, sched.Limits{Attempts: 1, Clones: sched.CloneBudget{Floor: sched.Unlimited}})
		w.machine(0, 4)
		w.submit(0, &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 40}}})
		w.fate = func(d *sched.Decision) fate { return fate{lasts: sched.Time(1+d.Task%7) * 20 * sched.Second} }
		w.run()
		if got := w.core.View().Job(0); got.Clones > 0 || got.State != sched.JobSucceeded {
			t.Errorf("%s: %d clones, state %d", spec, got.Clones, got.State)
		}
	}
}
