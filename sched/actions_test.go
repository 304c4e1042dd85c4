package sched

import (
	"fmt"
	"math"
	"testing"
)

// Orders: what the core refuses, what preemption keeps, what limits allow, and when it asks to be woken.

func TestRefusedLaunch(t *testing.T) {
	for _, c := range []struct {
		name string
		task TaskID
		m    MachineID
		from float64
		want error
	}{
		{"no such task", 99, 0, 0, ErrNotRunnable},
		{"blocked task", 3, 0, 0, ErrNotRunnable},
		{"done task", 0, 0, 0, ErrNotRunnable},
		{"blocked comes before no slot", 3, 1, 0, ErrNotRunnable},
		{"no such machine", 1, 99, 0, ErrNoSlot},
		{"full machine", 1, 1, 0, ErrNoSlot},
		{"lost machine", 1, 2, 0, ErrNoSlot},
		{"machine that never joined", 1, 3, 0, ErrNoSlot},
		{"resumes where the stage cannot", 1, 0, 0.5, ErrFrom},
		{"from below 0", 1, 0, -0.1, ErrFrom},
		{"from the end", 1, 0, 1, ErrFrom},
		{"from nowhere", 1, 0, math.NaN(), ErrFrom},
		{"exhausted task", 4, 0, 0, ErrRetries},
		{"two attempts where two are the limit", 2, 0, 0, ErrAttempts},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Limits{Attempts: 2, Clones: CloneBudget{Floor: 10}}, 6, 1, 1)
			if _, err := w.AddMachine(0, 1); err != nil {
				t.Fatal(err)
			}
			w.arrive(JobSpec{
				Stages: []StageSpec{{Tasks: 3}, {Tasks: 1}, {Tasks: 1}},
				Edges:  []Edge{{From: 0, To: 1}},
			})
			a := w.launch(0, 0)
			w.launch(2, 0)
			w.launch(2, 1)
			x := w.launch(4, 0)
			w.launch(4, 0)
			w.at(1, done(a), failed(x), lostMachine(2))
			w.refuse(c.want, func(act *Actions) error {
				before := fmt.Sprintf("%+v", w.Core)
				id, err := act.Launch(c.task, c.m, c.from, Unexplained)
				if id != 0 {
					t.Errorf("a refused order has attempt %x", id)
				}
				if after := fmt.Sprintf("%+v", w.Core); after != before {
					t.Errorf("the refused order changed\n%s\nto\n%s", before, after)
				}
				return err
			})
		})
	}
}

func TestRefusedKill(t *testing.T) {
	w := newWorld(t, NoLimits(), 2)
	w.arrive(tasks(2))
	a := w.launch(0, 0)
	b := w.launch(1, 0)
	w.at(1, done(a))
	for name, id := range map[string]AttemptID{
		"no attempt": 0, "ended": a, "a later generation": b + 1<<32, "no such row": 77 | 1<<32,
	} {
		t.Run(name, func(t *testing.T) {
			w.refuse(ErrNotAlive, func(act *Actions) error { return act.Kill(id, Replaced) })
		})
	}
	t.Run("twice", func(t *testing.T) {
		got := w.order(func(act *Actions) {
			if err := act.Kill(b, Share); err != nil {
				t.Error(err)
			}
			if err := act.Kill(b, Share); err != ErrNotAlive {
				t.Errorf("the second kill met %v", err)
			}
		})
		want(t, "decisions", got, "kill 1#0 share")
	})
}

func TestKillMakesRoomAtOnce(t *testing.T) {
	w := newWorld(t, NoLimits(), 1)
	w.arrive(tasks(2))
	a := w.launch(0, 0)
	w.at(Second)
	w.seen = nil
	got := w.order(func(act *Actions) {
		if err := act.Kill(a, Share); err != nil {
			t.Fatal(err)
		}
		b, err := act.Launch(1, 0, 0, Original)
		if err != nil {
			t.Fatal(err)
		}
		if err := act.Kill(b, Replaced); err != ErrTooSoon || w.View().Rows().MayKill(b) { // changed its mind within one instant
			t.Fatalf("killing what was launched just now met %v", err)
		}
	})
	want(t, "decisions", got, "kill 0#0 share, launch 1#0 on 0")
	w.told("") // a policy is not told what it did itself
	w.wantStates("PR")
}

func TestPreemptedAttemptResumes(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 2)
	j := w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 1, Resumable: true}}})
	kill := func(a AttemptID) func(*Actions) {
		return func(act *Actions) {
			if err := act.Kill(a, Share); err != nil {
				t.Fatal(err)
			}
		}
	}
	saved := func(want float64) {
		t.Helper()
		if got := w.View().Task(0).Saved; math.Abs(got-want) > 1e-12 {
			t.Errorf("saved %v, want %v", got, want)
		}
	}
	a := w.launch(0, 0)
	w.at(2*Second, progress(a, 0.25, 0.125)) // an eighth per second from here on
	w.next = kill(a)
	w.at(4 * Second)
	saved(0.5)
	w.wantStates("P")

	b := w.launchFrom(0, 0, w.View().Task(0).Saved)
	w.at(5*Second, progress(b, 0.75, 0)) // as reported; no rate, so it stands still
	clone := w.launchFrom(0, 0, 0.5)     // knows no more than it began with
	w.next = kill(clone)
	w.at(6 * Second)
	saved(0.5)
	w.next = kill(b)
	w.at(8 * Second)
	saved(0.75)

	c := w.launchFrom(0, 0, 0.75)
	w.at(9*Second, progress(c, 0.875, 100))
	w.next = kill(c) // it has reached the end by its rate, but nobody has said that it is done
	w.at(10 * Second)
	saved(1)
	if s := w.View().Task(0).Saved; s >= 1 {
		t.Errorf("saved %v leaves nothing to resume from", s)
	}
	w.at(11*Second, done(w.launchFrom(0, 0, w.View().Task(0).Saved)))

	// Fruitful: a 4 s, b 4 s, c 2 s and the winner 1 s. Fruitless: the clone, which kept nothing, 1 s.
	if job := w.View().Job(j); job.Fruitful != 11*Second || job.Fruitless != Second {
		t.Errorf("fruitful %v, fruitless %v", job.Fruitful, job.Fruitless)
	}
}

// An attempt that fails has saved its work all the same: it is time well spent, and its successor goes on from there.
func TestFailureKeepsProgress(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 1)
	spec := tasks(1)
	spec.Retries, spec.Stages[0].Resumable = 2, true
	j := w.arrive(spec)
	a := w.launch(0, 0)
	w.at(2*Second, progress(a, 0.5, 0))
	w.at(3*Second, failed(a))
	if s := w.View().Task(0).Saved; s != 0.5 {
		t.Errorf("saved %v, want 0.5", s)
	}
	b := w.launchFrom(0, 0, 0.5)
	w.at(4*Second, failed(b)) // no further than a was
	w.at(6*Second, done(w.launchFrom(0, 0, w.View().Task(0).Saved)))
	if job := w.View().Job(j); job.Fruitful != 5*Second || job.Fruitless != Second {
		t.Errorf("fruitful %v, fruitless %v", job.Fruitful, job.Fruitless)
	}
}

// What an attempt began with is the work of the one that it goes on from, which still runs: a clone that ends before it has gone further,
// by itself or by order, has made nothing.
func TestCloneThatGetsNoFurtherIsFruitless(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 2)
	w.CountClones() // or the task would have no clone after the first that fails
	spec := tasks(1)
	spec.Retries, spec.Stages[0].Resumable = 2, true
	j := w.arrive(spec)
	a := w.launch(0, 0)
	w.at(2*Second, progress(a, 0.5, 0))
	clone := w.launchFrom(0, 0, 0.5)
	w.at(3*Second, failed(clone))
	clone = w.launchFrom(0, 0, 0.5)
	w.next = func(act *Actions) {
		if err := act.Kill(clone, Share); err != nil {
			t.Fatal(err)
		}
	}
	w.at(5 * Second)
	if job := w.View().Job(j); w.View().Task(0).Saved != 0 || job.Fruitful != 0 || job.Fruitless != 3*Second {
		t.Errorf("saved %v, fruitful %v, fruitless %v", w.View().Task(0).Saved, job.Fruitful, job.Fruitless)
	}
	clone = w.launchFrom(0, 0, 0.5)
	w.at(6*Second, progress(clone, 0.75, 0))
	w.at(7*Second, failed(clone)) // a quarter of the work is its own
	w.at(8*Second, done(a))
	if job := w.View().Job(j); w.View().Task(0).Saved != 0.75 || job.Fruitful != 10*Second || job.Fruitless != 3*Second {
		t.Errorf("saved %v, fruitful %v, fruitless %v", w.View().Task(0).Saved, job.Fruitful, job.Fruitless)
	}
}

func TestKillKeepsNothingWhereTheStageCannotResume(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 1)
	j := w.arrive(tasks(1))
	a := w.launch(0, 0)
	w.next = func(act *Actions) { _ = act.Kill(a, Share) }
	w.at(2, progress(a, 0.9, 0))
	if job := w.View().Job(j); w.View().Task(0).Saved != 0 || job.Fruitless != 2 || job.Fruitful != 0 {
		t.Errorf("task is %+v, job %+v", w.View().Task(0), job)
	}
}

func TestAttemptEstimatesWhatRemains(t *testing.T) {
	for _, c := range []struct {
		name string
		a    Attempt
		now  Time
		want Time // -1: unknown
	}{
		{"nothing reported", Attempt{}, 5 * Second, -1},
		{"no further than it began", Attempt{From: 0.5, Progress: 0.5, ProgressAt: 4 * Second}, 5 * Second, -1},
		{"a quarter in 2 s", Attempt{Progress: 0.25, ProgressAt: 2 * Second}, 2 * Second, 6 * Second},
		{"the same, 3 s ago", Attempt{Progress: 0.25, ProgressAt: 2 * Second}, 5 * Second, 3 * Second},
		{"overdue", Attempt{Progress: 0.25, ProgressAt: 2 * Second}, 60 * Second, 0},
		{"resumed at a half, did a quarter in 2 s", Attempt{From: 0.5, Progress: 0.75, ProgressAt: 2 * Second}, 2 * Second, 2 * Second},
		{"by its rate", Attempt{Progress: 0.5, Rate: 0.25, ProgressAt: 2 * Second}, 3 * Second, Second},
		{"so slow that it takes for ever", Attempt{Progress: 0.5, Rate: 1e-300}, 0, Never},
		{"so little progress that it takes for ever", Attempt{Progress: 5e-324, ProgressAt: 1}, 1, Never},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := c.a.Remaining(c.now)
			if !ok {
				got = -1
			}
			if got != c.want {
				t.Errorf("remaining %v, want %v", got, c.want)
			}
		})
	}
}

func TestStageMeasuresWinners(t *testing.T) {
	w := newWorld(t, NoLimits(), 4)
	w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 4, Resumable: true}}})
	if _, _, ok := ptr(w.View().Stage(0)).Estimate(); ok {
		t.Error("a stage without winners has an estimate")
	}
	a, loser, b, c := w.launch(0, 0), w.launch(0, 0), w.launch(1, 0), w.launchFrom(2, 0, 0.5)
	w.at(2*Second, done(a))
	w.at(3*Second, done(loser), done(c)) // half the work in 3 s: 6 s for the whole
	w.at(4*Second, done(b))
	mean, sd, ok := ptr(w.View().Stage(0)).Estimate()
	if !ok || math.Abs(mean-4) > 1e-12 || math.Abs(sd-2) > 1e-12 { // of 2, 6 and 4
		t.Errorf("mean %v, sd %v, %v; want 4 and 2", mean, sd, ok)
	}
	known := Stage{Mean: 9 * Second, SD: Second, count: 1, mean: 1}
	if mean, sd, _ := known.Estimate(); mean != 9 || sd != 1 {
		t.Errorf("what is known beforehand comes first, got %v and %v", mean, sd)
	}
}

func ptr[T any](x T) *T { return &x }

func TestCloneBudgetIsTheLargestOfThree(t *testing.T) {
	for _, c := range []struct {
		name                string
		b                   CloneBudget
		unfinished, running int
		want                int // -1: no bound
	}{
		{"the floor", CloneBudget{Floor: 10, TaskShare: 0.01, RunningShare: 0.1}, 100, 50, 10},
		{"a share of the tasks, rounded down", CloneBudget{Floor: 10, TaskShare: 0.01, RunningShare: 0.1}, 1999, 0, 19},
		{"a share of the running", CloneBudget{Floor: 10, TaskShare: 0.01, RunningShare: 0.1}, 1000, 501, 50},
		{"nothing", CloneBudget{}, 1000, 1000, 0},
		{"a share of the slots", CloneBudget{Floor: 10, RunningShare: 0.1, SlotShare: 0.25}, 100, 50, 50},
		{"unlimited", CloneBudget{Floor: Unlimited, TaskShare: 0.01}, 1000, 1000, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := c.b.allowed(c.unfinished, c.running, 200)
			if !ok {
				got = -1
			}
			if got != c.want {
				t.Errorf("allowed %d, want %d", got, c.want)
			}
		})
	}
}

func TestCloneBudgetIsOneForTheCluster(t *testing.T) {
	w := newWorld(t, Limits{Attempts: Unlimited, Clones: CloneBudget{Floor: 2}}, 9)
	w.arrive(tasks(2))
	w.arrive(tasks(1))
	w.launch(0, 0)
	w.launch(2, 0)
	w.launch(0, 0)
	if n := w.View().CloneRoom(); n != 1 {
		t.Errorf("room for %d clones, want 1", n)
	}
	clone := w.launch(2, 0)
	w.refuse(ErrCloneBudget, func(act *Actions) error { _, err := act.Launch(0, 0, 0, Cloning); return err })
	if w.View().CloneRoom() != 0 || w.View().Cluster().Clones() != 2 {
		t.Errorf("%d clones, room for %d", w.View().Cluster().Clones(), w.View().CloneRoom())
	}
	w.launch(1, 0)         // a first attempt is no clone
	w.at(1, failed(clone)) // and the room of one that ended is free again
	w.launch(0, 0)
}

func TestUnlimitedLiftsBothLimits(t *testing.T) {
	w := newWorld(t, NoLimits(), 200)
	w.arrive(tasks(1))
	for range 200 {
		w.launch(0, 0)
	}
	if w.View().CloneRoom() > 0 {
		t.Error("no slot is free, yet the task can be cloned")
	}
	w.refuse(ErrNoSlot, func(act *Actions) error { _, err := act.Launch(0, 0, 0, Cloning); return err })
}

func TestWake(t *testing.T) {
	wake := func(at ...Time) func(*Actions) {
		return func(act *Actions) {
			for _, x := range at {
				act.WakeAt(x)
			}
		}
	}
	t.Run("the earliest request holds", func(t *testing.T) {
		w := newWorld(t, NoLimits())
		want(t, "decisions", w.order(wake(9, 5, 7)), "wake 5ns")
		want(t, "later ones change nothing", w.order(wake(6, 5)), "")
		want(t, "an earlier one replaces it", w.order(wake(3)), "wake 3ns")
		w.at(2)
		w.told("")
		w.at(3)
		w.told("timer-fired at 3ns")
		w.at(9)
		w.told("") // it was one request, and it is gone
	})
	t.Run("is told late when the driver is late, after the facts", func(t *testing.T) {
		w := newWorld(t, NoLimits(), 1)
		w.arrive(tasks(1))
		a := w.launch(0, 0)
		w.order(wake(3))
		w.seen = nil
		w.at(8, done(a))
		w.told("attempt-done 0#0, stage-done 0, job-done 0, timer-fired at 8ns")
	})
	t.Run("can be asked for again as it fires", func(t *testing.T) {
		w := newWorld(t, NoLimits())
		w.order(wake(3))
		w.next = wake(6)
		want(t, "decisions", w.at(3), "wake 6ns")
	})
	t.Run("the present, the past and never are ignored", func(t *testing.T) {
		w := newWorld(t, NoLimits())
		w.at(5)
		want(t, "decisions", w.order(wake(5, 4, -1, Never)), "")
		w.at(6)
		w.told("")
	})
}
