package sched

import "testing"

// waits is a world in which attempts wait until they begin.
func waits(t *testing.T, slots ...int) *world {
	w := newWorld(t, NoLimits(), slots...)
	w.WaitToBegin()
	w.arrive(JobSpec{Retries: 1, Stages: []StageSpec{{Tasks: 2, Resumable: true}}})
	return w
}

// An attempt that waits has age zero at every instant, and its clock starts when it begins.
func TestAnAttemptWaitsUntilItBegins(t *testing.T) {
	w := waits(t, 1)
	a := w.launchFrom(0, 0, 0.5)
	w.at(40)
	if x := w.View().Attempt(a); !x.Waiting || x.Started != 40 || x.ProgressAt != 40 || w.View().Rows().Started(a) != 40 || !w.View().Rows().Waiting(a) {
		t.Errorf("while it waits: %+v", x)
	}
	w.seen = nil
	w.at(50, Event{Kind: AttemptBegan, Attempt: a})
	w.at(55, Event{Kind: AttemptBegan, Attempt: a})
	w.told("attempt-began 0#0")
	w.at(60)
	if x := w.View().Attempt(a); x.Waiting || x.Started != 50 || x.ProgressAt != 50 || x.Progress != 0.5 || w.View().Rows().Waiting(a) {
		t.Errorf("since it began: %+v", x)
	}
	w.at(80, Event{Kind: AttemptDone, Attempt: a})
	if got := w.View().Job(0).Fruitful; got != 30 {
		t.Errorf("it took %v", got)
	}
	st := w.View().Stage(0)
	if mean, _, _ := st.Measured(); mean != Time(60).Seconds() {
		t.Errorf("a task takes %v s", mean)
	}
}

// A report of progress says that an attempt has begun; one that ends while it waits has taken no time.
func TestWhatElseEndsTheWait(t *testing.T) {
	w := waits(t, 1, 1)
	a, b := w.launch(0, 0), w.launch(1, 1)
	w.seen = nil
	w.at(7, Event{Kind: AttemptProgress, Attempt: a, Progress: 0.5}, Event{Kind: AttemptFailed, Attempt: b})
	w.told("attempt-failed 1#0, task-ready 1, attempt-began 0#0, attempt-progress 0#0")
	if job := w.View().Job(0); job.Fruitless != 0 {
		t.Errorf("waiting took %v", job.Fruitless)
	}
	w.at(9, Event{Kind: MachineLost, Machine: 0})
	if job := w.View().Job(0); job.Fruitless != 2 {
		t.Errorf("what began took %v", job.Fruitless)
	}
}

// Without WaitToBegin an attempt begins at its launch, whatever is told.
func TestNobodyWaitsUnlessSaid(t *testing.T) {
	w := newWorld(t, NoLimits(), 1)
	w.arrive(tasks(1))
	a := w.launch(0, 0)
	w.seen = nil
	w.at(50, Event{Kind: AttemptBegan, Attempt: a})
	w.told("")
	if x := w.View().Attempt(a); x.Waiting || x.Started != 0 {
		t.Errorf("%+v", x)
	}
}

// What waits may be killed, but not at the instant of its launch nor at that of its beginning.
func TestKillWhatWaits(t *testing.T) {
	w := waits(t, 1, 1)
	a, b := w.launch(0, 0), w.launch(1, 1)
	w.refuse(ErrTooSoon, func(x *Actions) error { return x.Kill(a, Replaced) })
	w.at(5, Event{Kind: AttemptBegan, Attempt: a})
	w.refuse(ErrTooSoon, func(x *Actions) error { return x.Kill(a, Replaced) })
	w.order(func(x *Actions) {
		if err := x.Kill(b, Replaced); err != nil {
			t.Error(err)
		}
	})
	if job := w.View().Job(0); job.Fruitless != 0 || job.Fruitful != 0 {
		t.Errorf("it took machine time: %+v", job)
	}
}

// A core that has changed hands still waits.
func TestHandOverKeepsTheWait(t *testing.T) {
	w := waits(t, 1)
	w.at(1, Event{Kind: MachineLost})
	if err := w.HandOver(&HandOver{Policy: w, Limits: NoLimits()}); err != nil {
		t.Fatal(err)
	}
	w.at(2, Event{Kind: MachineJoined})
	if a := w.launch(0, 0); !w.View().Rows().Waiting(a) {
		t.Error("an attempt does not wait")
	}
	w.Reset(w, NoLimits())
	if w.View().Cluster().WaitToBegin() {
		t.Error("it does after Reset, too")
	}
}

// In a core whose attempts do not wait, those of a stage that says so do, and no others.
func TestAttemptsOfAStageWait(t *testing.T) {
	w := newWorld(t, NoLimits(), 2)
	w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 1, Waits: true}, {Tasks: 1}}})
	a, b := w.launch(0, 0), w.launch(1, 0)
	w.at(10, Event{Kind: AttemptBegan, Attempt: b})
	if rows := w.View().Rows(); !rows.Waiting(a) || rows.Waiting(b) {
		t.Errorf("the first waits: %v, the second: %v", rows.Waiting(a), rows.Waiting(b))
	}
	w.at(20, Event{Kind: AttemptBegan, Attempt: a})
	w.at(30, Event{Kind: AttemptDone, Attempt: a}, Event{Kind: AttemptDone, Attempt: b})
	if got := w.View().Job(0).Fruitful; got != 10+30 {
		t.Errorf("%v of machine time, want 40", got)
	}
}
