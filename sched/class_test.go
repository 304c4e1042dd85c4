package sched

import (
	"slices"
	"testing"
)

// witness launches whatever it sees and writes down what it is told.
type witness struct {
	greedy
	told, heard []EventKind
}

func (w *witness) Observe(v *View, ev *Event)  { w.told = append(w.told, ev.Kind) }
func (w *witness) Overhear(v *View, ev *Event) { w.heard = append(w.heard, ev.Kind) }

// TestPerClass: two maps, each before its shuffle, on one machine with a slot of either class. A shuffle begins as soon as its map is done, beside
// the next map, and each policy is told of its own class alone.
func TestPerClass(t *testing.T) {
	maps, shuffles := &witness{}, &witness{}
	c := New(PerClass(maps, shuffles), NoLimits())
	for class := range Class(2) {
		if _, err := c.AddMachineOf(class, 0, 1); err != nil {
			t.Fatal(err)
		}
	}
	spec := JobSpec{Stages: []StageSpec{{Tasks: 2}, {Tasks: 2, Class: 1}}, Edges: []Edge{{From: 0, To: 1, Kind: Pointwise}}}
	if _, err := c.Submit(&spec); err != nil {
		t.Fatal(err)
	}
	var launched [][2]int // task and machine
	facts := []Event{{Kind: MachineJoined}, {Kind: MachineJoined, Machine: 1}, {Kind: JobArrived}}
	for now := Time(0); len(facts) > 0; now++ {
		for i := range facts {
			facts[i].At = now
		}
		ds, err := c.Advance(now, facts)
		if err != nil {
			t.Fatal(err)
		}
		facts = facts[:0]
		for _, d := range ds {
			if d.Kind == Launch {
				launched = append(launched, [2]int{int(d.Task), int(d.Machine)})
				facts = append(facts, done(d.Attempt))
			}
		}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if want := [][2]int{{0, 0}, {1, 0}, {2, 1}, {3, 1}}; !slices.Equal(launched, want) {
		t.Errorf("launched %v, want %v", launched, want)
	}
	if c.View().Job(0).State != JobSucceeded {
		t.Errorf("the job is in state %d", c.View().Job(0).State)
	}
	own := []EventKind{MachineJoined, JobArrived, StageReady, AttemptDone, AttemptDone, StageDone, JobDone}
	if !slices.Equal(maps.told, own) {
		t.Errorf("the policy for maps was told %v, want %v", maps.told, own)
	}
	readied := []EventKind{MachineJoined, JobArrived, StageReady, TaskReady, TaskReady, AttemptDone, AttemptDone, StageDone, JobDone}
	if !slices.Equal(shuffles.told, readied) {
		t.Errorf("the policy for shuffles was told %v, want %v", shuffles.told, readied)
	}
	if want := []EventKind{MachineJoined, StageReady, AttemptDone, AttemptDone, StageDone}; !slices.Equal(shuffles.heard, want) {
		t.Errorf("the policy for shuffles overheard %v, want %v", shuffles.heard, want)
	}
}

// TestWrongClass: a slot of another class is refused, and so is a class that nobody can have.
func TestWrongClass(t *testing.T) {
	w := newWorld(t, NoLimits(), 1)
	w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 1, Class: 1}}})
	w.refuse(ErrClass, func(act *Actions) error { _, err := act.Launch(0, 0, 0, Original); return err })
	if _, err := w.AddMachineOf(Classes, 0, 1); err == nil {
		t.Errorf("a machine of class %d was accepted", Classes)
	}
	spec := JobSpec{Stages: []StageSpec{{Tasks: 1, Class: Classes}}}
	if _, err := w.Submit(&spec); err == nil {
		t.Errorf("a stage of class %d was accepted", Classes)
	}
}
