package sched

import (
	"errors"
	"testing"
)

// Facts: what each does, and what late, double and contradictory ones must not do.

func TestFirstFinisherWins(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 3)
	j := w.arrive(tasks(2))
	a, b, c := w.launch(0, 0), w.launch(0, 0), w.launch(0, 0)
	w.seen = nil
	want(t, "decisions", w.at(5, done(b)), "commit 0#1, kill 0#2 sibling-won, kill 0#0 sibling-won")
	w.told("attempt-done 0#1, attempt-lost 0#2, attempt-lost 0#0")
	want(t, "decisions to late facts", w.at(6, done(a), failed(c), done(b), progress(a, 1, 0)), "")
	w.told("")
	if job := w.View().Job(j); job.Fruitful != 5 || job.Fruitless != 10 || job.Attempts != 3 || job.Clones != 2 || job.Failures != 0 {
		t.Errorf("job is %+v", job)
	}
}

func TestFactToldTwiceInOneBatchCountsOnce(t *testing.T) {
	for _, c := range []struct {
		name    string
		facts   func(a AttemptID) []Event
		want    string
		states  string
		observe string
	}{
		{"done and done", func(a AttemptID) []Event { return []Event{done(a), done(a)} }, "commit 0#0", "DP", "attempt-done 0#0"},
		{"failed and failed", func(a AttemptID) []Event { return []Event{failed(a), failed(a)} }, "", "PP", "attempt-failed 0#0, task-ready 0"},
		{"failed and done", func(a AttemptID) []Event { return []Event{failed(a), done(a)} }, "commit 0#0", "DP", "attempt-done 0#0"},
		{"done and machine lost", func(a AttemptID) []Event { return []Event{lostMachine(0), done(a)} }, "commit 0#0", "DP", "attempt-done 0#0, machine-lost 0"},
		{"lost twice", func(AttemptID) []Event { return []Event{lostMachine(0), lostMachine(0)} }, "kill 0#0 machine-gone", "PP",
			"attempt-lost 0#0, task-ready 0, machine-lost 0"},
		{"arrived again", func(AttemptID) []Event { return []Event{{Kind: JobArrived}, {Kind: JobArrived}} }, "", "RP", ""},
		{"joined again", func(AttemptID) []Event { return []Event{joined(0), joined(0)} }, "", "RP", ""},
		{"a timer nobody set", func(AttemptID) []Event { return []Event{{Kind: TimerFired}} }, "", "RP", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, DefaultLimits(), 1)
			spec := tasks(2)
			spec.Retries = 5
			w.arrive(spec)
			a := w.launch(0, 0)
			w.seen = nil
			want(t, "decisions", w.at(1, c.facts(a)...), c.want)
			w.wantStates(c.states)
			w.told(c.observe)
		})
	}
}

// What was fetched is told as it was reported, with the task while the attempt runs; links are as fast whatever becomes of the attempt.
func TestFetchIsToldOfAttemptsThatAreGone(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 2)
	w.arrive(tasks(2))
	a := w.launch(1, 0)
	fetched := Event{Kind: DataFetched, Attempt: a, Site: 0, Bytes: 10, Span: 3}
	w.seen = nil
	w.at(5, done(a), fetched)
	w.at(6, fetched)
	w.told("data-fetched 10 bytes in 3 of 1, attempt-done 1#0, data-fetched 10 bytes in 3 of 0")
	if _, err := w.Advance(7, []Event{{At: 7, Kind: DataFetched, Bytes: 1, Machine: 1}}); err == nil {
		t.Error("a machine that is not there fetched")
	}
}

// How long an attempt took to get to work is told as it was reported.
func TestStartsAreTold(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 1)
	w.arrive(tasks(2))
	a := w.launch(0, 0)
	if _, err := w.Advance(5, []Event{{At: 5, Kind: AttemptDone, Attempt: a, Span: -1}}); err == nil {
		t.Error("an attempt was at work before its launch")
	}
	w.seen = nil
	w.at(5, Event{Kind: AttemptDone, Attempt: a, Span: 3})
	w.told("attempt-done 0#0 at work after 3")
}

func TestFactOfAnEarlierGenerationIsLate(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 1)
	w.arrive(tasks(3))
	a := w.launch(0, 0)
	w.at(1, done(a))
	b := w.launch(1, 0)
	if a.Row() != b.Row() || a == b {
		t.Fatalf("attempts %x and %x: want one row, two generations", a, b)
	}
	want(t, "decisions to the late fact", w.at(2, done(a)), "")
	w.wantStates("DRP")
}

func TestEndedAttemptStaysReadableUntilTheNextCall(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 1)
	w.arrive(tasks(2))
	a := w.launch(0, 0)
	w.next = func(act *Actions) {
		if got := w.View().Attempt(a); w.View().Rows().Alive(a) || got.Task != 0 || got.Number != 0 {
			t.Errorf("in Decide the ended attempt reads %+v", got)
		}
		b, err := act.Launch(1, 0, 0, Original) // its slot is free at once
		if err != nil || b.Row() == a.Row() {
			t.Errorf("launched %x beside %x: %v", b, a, err)
		}
	}
	w.at(1, done(a))
	if got := w.View().Attempt(a); got.Task != 0 {
		t.Errorf("after the call it reads %+v", got)
	}
}

func TestLostMachineIsNobodysFailure(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 2, 1)
	j := w.arrive(tasks(2)) // no retries
	w.launch(0, 0)
	w.launch(1, 0)
	clone := w.launch(1, 1)
	w.seen = nil
	want(t, "decisions", w.at(3, lostMachine(0)), "kill 1#0 machine-gone, kill 0#0 machine-gone")
	w.told("attempt-lost 1#0, attempt-lost 0#0, task-ready 0, machine-lost 0")
	w.wantStates("PR")
	if job := w.View().Job(j); job.Failures != 0 || job.Fruitless != 6 {
		t.Errorf("job is %+v", job)
	}
	if w.View().Slots() != 1 || w.View().FreeSlots() != 0 {
		t.Errorf("%d slots, %d free", w.View().Slots(), w.View().FreeSlots())
	}
	w.at(4, joined(0), done(clone))
	w.wantStates("PD")
	want(t, "decisions", w.at(5, done(w.launch(0, 0))), "commit 0#1, close 0")
}

// A job that has failed goes on with what it lacks: a task that is done stays done and keeps those open that waited for it alone, what was given up
// waits again, and failures are forgiven. Policies see it arrive a second time.
func TestFailedJobIsRetried(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 3)
	j := w.arrive(JobSpec{
		Stages: []StageSpec{{Tasks: 3}, {Tasks: 3}, {Tasks: 1}},
		Edges:  []Edge{{From: 0, To: 1, Kind: Pointwise}, {From: 1, To: 2}},
	})
	want(t, "decisions", w.at(1, done(w.launch(0, 0))), "commit 0#0")
	lost := w.launch(3, 0)
	want(t, "decisions", w.at(2, failed(w.launch(1, 0))), "kill 3#0 job-over, close 0")
	want(t, "decisions of what is over", w.at(3, done(lost), Event{Kind: JobArrived, Job: j}), "")
	w.seen = nil
	w.at(5, Event{Kind: JobRetried, Job: j})
	w.told("job-arrived 0, stage-ready 0, stage-ready 1")
	w.wantStates("DPPPBBB")
	if job := w.View().Job(j); job.State != JobActive || job.Arrived != 0 || job.Unfinished != 6 || job.Failures != 1 || w.View().Task(1).Failures != 0 {
		t.Errorf("job is %+v, its task 1 %+v", job, w.View().Task(1))
	}
	w.seen = nil
	want(t, "decisions when told again", w.at(6, Event{Kind: JobRetried, Job: j}), "")
	w.told("")
	want(t, "decisions", w.at(7, done(w.launch(1, 0)), done(w.launch(2, 0)), done(w.launch(3, 0))), "commit 1#1, commit 2#0, commit 3#1")
	want(t, "decisions", w.at(8, done(w.launch(4, 0)), done(w.launch(5, 0))), "commit 5#0, commit 4#0")
	want(t, "decisions", w.at(9, done(w.launch(6, 0))), "commit 6#0, close 0")
	want(t, "decisions once it has succeeded", w.at(10, Event{Kind: JobRetried, Job: j}), "")
	if job := w.View().Job(j); job.State != JobSucceeded || job.Closed != 9 {
		t.Errorf("job is %+v", job)
	}
}

// A job closes in the middle of the loop over a lost machine's attempts: its other attempts there are gone before the
// loop comes to them, and those of another job are not.
func TestJobClosesInsideLostMachine(t *testing.T) {
	w := newWorld(t, NoLimits(), 5, 1)
	broken, other := w.arrive(tasks(3)), w.arrive(tasks(1))
	w.launch(2, 0)
	w.launch(3, 0)
	a := w.launch(0, 0)
	w.launch(1, 1)
	w.launch(0, 0)
	w.launch(2, 0)
	w.at(1, failed(a)) // uses up the budget of task 0; its clone runs on
	want(t, "decisions", w.at(2, lostMachine(0)),
		"kill 2#1 machine-gone, kill 0#1 machine-gone, kill 1#0 job-over, kill 2#0 job-over, close 0, kill 3#0 machine-gone")
	w.wantStates("FSSP")
	if s := w.View().Job(broken).State; s != JobBroken {
		t.Errorf("job is in state %d", s)
	}
	if s := w.View().Job(other).State; s != JobActive {
		t.Errorf("the other job is in state %d", s)
	}
}

func TestMachineThatNeverJoined(t *testing.T) {
	w := newWorld(t, DefaultLimits())
	if _, err := w.AddMachine(3, 2); err != nil {
		t.Fatal(err)
	}
	w.at(1, lostMachine(0))
	w.told("")
	if w.View().Slots() != 0 {
		t.Errorf("%d slots of a machine that is not up", w.View().Slots())
	}
	if m, ok := w.View().FreeMachine(0); ok {
		t.Errorf("machine %d is free before it joined", m)
	}
	w.at(2, joined(0))
	if m, ok := w.View().FreeMachine(0); !ok || w.View().Machine(m).Site != 3 {
		t.Error("the machine joined and is not free")
	}
}

func TestFailureBudget(t *testing.T) {
	t.Run("forgives as many failures as the job says", func(t *testing.T) {
		w := newWorld(t, DefaultLimits(), 1)
		spec := tasks(1)
		spec.Retries = 2
		j := w.arrive(spec)
		for i := range 2 {
			want(t, "decisions", w.at(Time(i), failed(w.launch(0, 0))), "")
			w.wantStates("P")
		}
		w.seen = nil
		want(t, "decisions", w.at(5, failed(w.launch(0, 0))), "close 0")
		w.told("attempt-failed 0#2, task-given-up 0, job-failed 0")
		w.wantStates("F")
		if job := w.View().Job(j); job.State != JobBroken || job.Failures != 3 || job.Closed != 5 {
			t.Errorf("job is %+v", job)
		}
	})
	t.Run("waits for a clone that still runs, and the clone may win", func(t *testing.T) {
		w := newWorld(t, DefaultLimits(), 2)
		j := w.arrive(tasks(1))
		a, clone := w.launch(0, 0), w.launch(0, 0)
		want(t, "decisions", w.at(1, failed(a)), "")
		w.refuse(ErrRetries, func(act *Actions) error { _, err := act.Launch(0, 0, 0, Retry); return err })
		w.refuse(ErrRetries, func(act *Actions) error { return act.Kill(clone, Replaced) })
		if w.View().AttemptRoom(0) > 0 {
			t.Error("an exhausted task can be cloned")
		}
		want(t, "decisions", w.at(2, done(clone)), "commit 0#1, close 0")
		if s := w.View().Job(j).State; s != JobSucceeded {
			t.Errorf("job is in state %d", s)
		}
	})
	t.Run("counts no failure of a clone, and clones the task no more", func(t *testing.T) {
		w := newWorld(t, DefaultLimits(), 3)
		j := w.arrive(tasks(1))
		a, one := w.launch(0, 0), w.launch(0, 0)
		w.launch(0, 0) // another clone
		want(t, "decisions", w.at(1, failed(one)), "")
		if task := w.View().Task(0); task.Failures != 0 || !task.NoClones || w.View().AttemptRoom(0) > 0 {
			t.Errorf("task is %+v, with room for %d attempts", task, w.View().AttemptRoom(0))
		}
		w.refuse(ErrAttempts, func(act *Actions) error { _, err := act.Launch(0, 0, 0, Straggling); return err })
		w.at(2, lostMachine(0), joined(0)) // and with it the original and the other clone
		w.at(3, joined(0))
		late := a
		a = w.launch(0, 0)
		want(t, "decisions", w.at(4, done(a), failed(late)), "commit 0#3, close 0")
		if s := w.View().Job(j).State; s != JobSucceeded {
			t.Errorf("job is in state %d", s)
		}
	})
	t.Run("counts no failure of a clone that is left alone", func(t *testing.T) {
		w := newWorld(t, DefaultLimits(), 2)
		spec := tasks(1)
		spec.Retries = 1
		j := w.arrive(spec)
		a, clone := w.launch(0, 0), w.launch(0, 0)
		w.at(1, failed(a))
		want(t, "decisions", w.at(2, failed(clone)), "")
		w.wantStates("P")
		want(t, "decisions", w.at(3, failed(w.launch(0, 0))), "close 0")
		if job := w.View().Job(j); job.State != JobBroken || job.Failures != 3 || w.View().Task(0).Failures != 2 {
			t.Errorf("job is %+v", job)
		}
	})
	t.Run("counts failures of clones where that is the rule", func(t *testing.T) {
		w := newWorld(t, DefaultLimits(), 2)
		w.CountClones()
		j := w.arrive(tasks(1))
		a, clone := w.launch(0, 0), w.launch(0, 0)
		w.at(1, failed(clone))
		w.at(2, lostMachine(0))
		if job := w.View().Job(j); job.State != JobBroken || w.View().Rows().Alive(a) {
			t.Errorf("job is %+v", job)
		}
	})
	t.Run("lets the policy choose among clones as long as one is left", func(t *testing.T) {
		w := newWorld(t, DefaultLimits(), 3)
		w.arrive(tasks(1))
		a, one, two := w.launch(0, 0), w.launch(0, 0), w.launch(0, 0)
		w.at(1, failed(a))
		w.order(func(act *Actions) {
			if err := act.Kill(one, Replaced); err != nil {
				t.Error(err)
			}
			if err := act.Kill(two, Replaced); err != ErrRetries {
				t.Errorf("killing the last met %v", err)
			}
		})
		w.wantStates("R")
	})
	t.Run("fails when the last clone ends", func(t *testing.T) {
		for name, last := range map[string]func(AttemptID) Event{
			"by failure":       failed,
			"with its machine": func(AttemptID) Event { return lostMachine(1) },
		} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, DefaultLimits(), 1, 1)
				j := w.arrive(tasks(2))
				a, clone := w.launch(0, 0), w.launch(0, 1)
				w.at(1, failed(a))
				w.at(2, last(clone))
				w.wantStates("FS")
				if s := w.View().Job(j).State; s != JobBroken {
					t.Errorf("job is in state %d", s)
				}
			})
		}
	})
	t.Run("is per task", func(t *testing.T) {
		w := newWorld(t, DefaultLimits(), 1)
		spec := tasks(3)
		spec.Retries = 1
		w.arrive(spec)
		for i := range 3 {
			want(t, "decisions", w.at(Time(i), failed(w.launch(TaskID(i), 0))), "")
		}
		w.wantStates("PPP")
	})
	t.Run("holds for the largest number that a job may ask for", func(t *testing.T) {
		w := newWorld(t, DefaultLimits(), 1)
		spec := tasks(1)
		spec.Retries = MaxRetries
		w.arrive(spec)
		for range MaxRetries {
			w.at(1, failed(w.launch(0, 0)))
		}
		w.wantStates("P")
		w.at(2, failed(w.launch(0, 0)))
		w.wantStates("F")
	})
}

func TestCancel(t *testing.T) {
	t.Run("before arrival", func(t *testing.T) {
		w := newWorld(t, DefaultLimits(), 1)
		spec := tasks(1)
		j, err := w.Submit(&spec)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "decisions", w.at(4, cancelled(j)), "close 0")
		want(t, "decisions to a late arrival", w.at(5, Event{Kind: JobArrived, Job: j}, cancelled(j)), "")
		w.told("job-cancelled 0")
		if job := w.View().Job(j); job.State != JobStopped || job.Arrived != 4 || job.Closed != 4 {
			t.Errorf("job is %+v", job)
		}
	})
	t.Run("with the arrival", func(t *testing.T) {
		w := newWorld(t, DefaultLimits(), 1)
		spec := tasks(1)
		j, err := w.Submit(&spec)
		if err != nil {
			t.Fatal(err)
		}
		w.at(1, cancelled(j), Event{Kind: JobArrived, Job: j})
		w.told("job-arrived 0, stage-ready 0, job-cancelled 0")
		w.wantStates("S")
	})
	t.Run("while it runs", func(t *testing.T) {
		w := newWorld(t, DefaultLimits(), 3)
		j := w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 3}, {Tasks: 1}}, Edges: []Edge{{From: 0, To: 1}}})
		a := w.launch(0, 0)
		w.launch(1, 0)
		w.launch(1, 0)
		w.at(1, done(a))
		want(t, "decisions", w.at(2, cancelled(j)), "kill 1#1 job-over, kill 1#0 job-over, close 0")
		w.wantStates("DSSS") // what is done stays done
		if v := w.View(); v.Cluster().Unfinished() != 0 || v.Cluster().Live() != 0 || v.Pending() != 0 {
			t.Errorf("%d unfinished, %d live, %d pending", v.Cluster().Unfinished(), v.Cluster().Live(), v.Pending())
		}
	})
	t.Run("by the policy", func(t *testing.T) {
		w := newWorld(t, DefaultLimits(), 1)
		j := w.arrive(tasks(2))
		w.launch(0, 0)
		w.seen = nil
		want(t, "decisions", w.order(func(act *Actions) {
			if err := errors.Join(act.Cancel(j), act.Cancel(j)); err != nil {
				t.Fatal(err)
			}
			if v := w.View(); v.Cluster().Live() != 1 || v.Job(j).State != JobActive {
				t.Errorf("job is in state %d before Decide has returned", v.Job(j).State)
			}
			w.next = func(act *Actions) { // asked again
				if v := w.View(); v.FreeSlots() != 1 || act.Cancel(j) != ErrNotActive || act.Cancel(9) != ErrNotActive {
					t.Errorf("job is in state %d, %d slots are free", v.Job(j).State, v.FreeSlots())
				}
			}
		}), "kill 0#0 job-over, close 0")
		w.told("attempt-lost 0#0, job-cancelled 0")
		if w.next != nil {
			t.Error("the policy was not asked again")
		}
		w.wantStates("SS")
	})
	t.Run("after its end", func(t *testing.T) {
		w := newWorld(t, DefaultLimits(), 1)
		j := w.arrive(tasks(1))
		w.at(1, done(w.launch(0, 0)))
		want(t, "decisions", w.at(2, cancelled(j)), "")
		if s := w.View().Job(j).State; s != JobSucceeded {
			t.Errorf("job is in state %d", s)
		}
	})
}

// What a machine refuses is no failure and no attempt; only the number is gone.
func TestRefusedAttempt(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 2)
	j := w.arrive(tasks(1))
	a := w.launch(0, 0)
	b := w.launch(0, 0)
	w.seen = nil
	want(t, "decisions", w.at(1, Event{Kind: AttemptRefused, Attempt: b}), "")
	w.told("attempt-lost 0#1")
	want(t, "decisions", w.at(2, Event{Kind: AttemptRefused, Attempt: a}, Event{Kind: AttemptRefused, Attempt: b}), "")
	w.told("attempt-lost 0#0, task-ready 0")
	w.wantStates("P")
	if job := w.View().Job(j); job.Failures != 0 || job.Attempts != 0 || job.Clones != 0 || w.View().Task(0).Failures != 0 {
		t.Errorf("job is %+v", job)
	}
	if c := w.launch(0, 0); w.View().Attempt(c).Number != 2 {
		t.Errorf("the next attempt is number %d", w.View().Attempt(c).Number)
	}
}

// A doomed task has no retries left; a clone that runs decides.
func TestDoomedAttempt(t *testing.T) {
	spec := tasks(2)
	spec.Retries = 5
	w := newWorld(t, DefaultLimits(), 3)
	j := w.arrive(spec)
	a, b, c := w.launch(0, 0), w.launch(0, 0), w.launch(1, 0)
	w.seen = nil
	want(t, "decisions", w.at(1, Event{Kind: AttemptDoomed, Attempt: b}), "")
	w.told("attempt-failed 0#1")
	want(t, "decisions", w.at(2, done(a)), "commit 0#0")
	want(t, "decisions", w.at(3, Event{Kind: AttemptDoomed, Attempt: c}), "close 0")
	if job := w.View().Job(j); job.State != JobBroken || job.Failures != 2 {
		t.Errorf("job is %+v", job)
	}
}

// A machine with less room keeps what runs there, loses its slots one by one, and has all again when it comes back.
func TestResizedMachine(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 4)
	w.arrive(tasks(8))
	a, b, c := w.launch(0, 0), w.launch(1, 0), w.launch(2, 0)
	slots := func(when string, slots, free int) {
		t.Helper()
		if v := w.View(); v.Slots() != slots || v.FreeSlots() != free {
			t.Errorf("%s: %d slots, %d free, want %d and %d", when, v.Slots(), v.FreeSlots(), slots, free)
		}
	}
	w.seen = nil
	w.at(1, Event{Kind: MachineResized, Slots: 1})
	w.told("machine-resized 0 to 1")
	slots("three run", 3, 0)
	w.at(2, done(a), done(b))
	slots("one runs", 1, 0)
	w.refuse(ErrNoSlot, func(x *Actions) error { _, err := x.Launch(3, 0, 0, Original); return err })
	w.at(3, done(c), Event{Kind: MachineResized, Slots: 0})
	slots("none may run", 0, 0)
	w.at(4, Event{Kind: MachineResized, Slots: 2})
	slots("two may run", 2, 2)
	w.at(5, lostMachine(0))
	w.at(6, joined(0))
	slots("it is back", 4, 4)
}
