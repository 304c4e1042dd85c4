package sched

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func patient(wait Time) Limits {
	l := NoLimits()
	l.MaxWait = wait
	return l
}

// A job of which nothing runs for so long gets the next slot, the one that has waited longest first, and asks to be
// called in time. The policy is told.
func TestMaxWait(t *testing.T) {
	w := newWorld(t, patient(10), 1)
	w.arrive(tasks(2))
	want(t, "wake", w.at(1), "")
	w.arrive(tasks(1))
	w.seen = nil
	want(t, "decisions", w.at(10), "launch 0#0 on 0, wake 11ns")
	w.told("attempt-taken 0#0")
	a := w.View().Rows().AttemptIn(0)
	want(t, "decisions while no slot is free", w.at(11), "")
	w.refuse(ErrOwed, func(x *Actions) error { return x.Kill(a, Replaced) })
	want(t, "the other is due", w.at(15, done(a)), "commit 0#0, launch 2#0 on 0, wake 25ns")
	want(t, "and the first waits anew", w.at(25, done(w.running())), "commit 2#0, close 1, launch 1#0 on 0")
}

// A policy's kill is no turn, and what it launches in the slot that it has freed is taken back for a job that is due.
func TestMaxWaitTakesBack(t *testing.T) {
	w := newWorld(t, patient(10), 1)
	w.arrive(tasks(3))
	w.arrive(tasks(1))
	w.at(5, done(w.launch(0, 0)))
	a := w.launch(1, 0)
	w.at(16)
	w.seen = nil
	got := w.order(func(x *Actions) {
		if err := x.Kill(a, Share); err != nil {
			t.Fatal(err)
		}
		if _, err := x.Launch(2, 0, 0, Original); err != nil {
			t.Fatal(err)
		}
	})
	want(t, "decisions", got, "kill 1#0 share, launch 3#0 on 0")
	w.told("attempt-lost 2#0, task-ready 2, attempt-taken 3#0")
	if job := w.View().Job(0); job.Attempts != 2 || job.Live != 0 {
		t.Errorf("%+v", job)
	}
	want(t, "the first is due at once", w.at(17, done(w.running())), "commit 3#0, close 1, launch 1#1 on 0")
}

// What a policy launches of a due job in place of what it has killed stays: else it could do so for ever.
func TestMaxWaitKillAndLaunch(t *testing.T) {
	w := newWorld(t, patient(10), 1)
	w.arrive(tasks(1))
	a := w.launch(0, 0)
	w.at(12)
	w.order(func(x *Actions) {
		if err := x.Kill(a, Share); err != nil {
			t.Fatal(err)
		}
		b, err := x.Launch(0, 0, 0, Original)
		if err != nil {
			t.Fatal(err)
		}
		a = b
	})
	w.at(13)
	w.refuse(ErrOwed, func(x *Actions) error { return x.Kill(a, Share) })
	want(t, "the end", w.at(20, done(a)), "commit 0#1, close 0")
}

// running returns the only attempt that runs.
func (w *world) running() AttemptID {
	for row := range w.View().Rows().Attempts() {
		if id := w.View().Rows().AttemptIn(row); w.View().Rows().Alive(id) {
			return id
		}
	}
	w.t.Fatal("nothing runs")
	return 0
}

// A paused job is in no line; one that goes on waits from then on.
func TestMaxWaitAndPauses(t *testing.T) {
	w := newWorld(t, patient(10), 1)
	w.arrive(tasks(1))
	w.at(5, paused(0))
	want(t, "paused", w.at(12), "")
	want(t, "goes on", w.at(20, continued(0)), "wake 30ns")
	core, err := restored(w.Core, w)
	if err != nil {
		t.Fatal(err)
	}
	w.Core = core
	want(t, "restored", w.at(20), "wake 30ns")
	want(t, "due", w.at(30), "launch 0#0 on 0")
}

// hostile is a policy that does what it can to keep jobs from running: it serves one of them, or none, and kills what
// it can of the others.
type hostile struct {
	favourite JobID
	launches  bool
}

func (p *hostile) Observe(*View, *Event) {}

func (p *hostile) Decide(v *View, act *Actions) {
	for row := range v.Rows().Attempts() {
		if id := v.Rows().AttemptIn(row); v.Rows().MayKill(id) && v.Rows().JobOf(v.Attempt(id).Task) != p.favourite {
			_ = act.Kill(id, Share)
		}
	}
	for m, ok := v.FreeMachine(0); ok && p.launches; m, ok = v.FreeMachine(m + 1) {
		for s, ok := v.WaitingStage(0); ok; s, ok = v.WaitingStage(s + 1) {
			if t, ok := v.PendingTask(s, 0); ok && v.Stage(s).Class == v.Machine(m).Class && v.Machine(m).Used < v.Machine(m).Slots {
				_, _ = act.Launch(t, m, 0, Original)
			}
		}
	}
}

// TestNoJobWaitsForEver: whatever the policy does, an attempt of each job that waits ends in time, by itself.
func TestNoJobWaitsForEver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wait, longest := Time(rapid.IntRange(1, 30).Draw(t, "wait")), Time(rapid.IntRange(1, 20).Draw(t, "longest"))
		classes, slots := rapid.IntRange(1, 2).Draw(t, "classes"), rapid.IntRange(1, 3).Draw(t, "slots")
		c := New(&hostile{JobID(rapid.IntRange(0, 3).Draw(t, "favourite")), rapid.Bool().Draw(t, "launches")}, patient(wait))
		facts := []Event{}
		for k := range classes {
			if _, err := c.AddMachineOf(Class(k), 0, slots); err != nil {
				t.Fatal(err)
			}
			facts = append(facts, Event{Kind: MachineJoined, Machine: MachineID(k)})
		}
		jobs := rapid.IntRange(1, 6).Draw(t, "jobs")
		for range jobs {
			spec := JobSpec{Retries: 100}
			for k := range classes {
				spec.Stages = append(spec.Stages, StageSpec{Tasks: rapid.IntRange(1, 4).Draw(t, "tasks"), Class: Class(k)})
			}
			j, err := c.Submit(&spec)
			if err != nil {
				t.Fatal(err)
			}
			facts = append(facts, Event{Kind: JobArrived, Job: j})
		}
		bound := wait + Time((jobs+slots-1)/slots+2)*longest
		ends, turns := map[AttemptID]Time{}, make([]Time, jobs)
		for now := Time(0); ; now++ {
			for _, id := range slices.Sorted(maps.Keys(ends)) { // in an order, so that a failure can be repeated
				if ends[id] == now {
					facts = append(facts, Event{At: now, Kind: AttemptDone, Attempt: id})
				}
			}
			orders, err := c.Advance(now, facts)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Check(); err != nil {
				t.Fatal(err)
			}
			for _, d := range orders {
				switch d.Kind {
				case Launch:
					ends[d.Attempt] = now + 1 + Time(rapid.IntRange(0, int(longest)-1).Draw(t, "lasts"))
				case Kill:
					delete(ends, d.Attempt)
				case Commit:
					delete(ends, d.Attempt)
					turns[d.Job] = now
				}
			}
			left := 0
			for j := range turns {
				if c.View().Job(JobID(j)).State != JobActive {
					continue
				}
				if left++; now-turns[j] > bound {
					t.Fatalf("at %d job %d has had no turn since %d, %s", now, j, turns[j], fmt.Sprintf("wait %d, longest %d, %d jobs, %d slots", wait, longest, jobs, slots))
				}
			}
			if facts = nil; left == 0 {
				return
			}
		}
	})
}
