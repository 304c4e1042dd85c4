package sched

import "testing"

// Of a bounded job so many tasks wait for an attempt as there is room for. Clones come when no task is held back.
func TestMaxLive(t *testing.T) {
	w := newWorld(t, NoLimits(), 4)
	w.arrive(JobSpec{MaxLive: 2, Retries: 1, Stages: []StageSpec{{Tasks: 4}}})
	w.wantStates("PPBB")
	if job := w.View().Job(0); job.Pending != 2 || job.Unfinished != 4 || w.View().Pending() != 2 {
		t.Errorf("%+v", job)
	}
	a, b := w.launch(0, 0), w.launch(1, 0)
	w.refuse(ErrNotRunnable, func(x *Actions) error { _, err := x.Launch(2, 0, 0, 0); return err })
	w.refuse(ErrAttempts, func(x *Actions) error { _, err := x.Launch(0, 0, 0, 0); return err })
	w.seen = nil
	w.at(1, done(a))
	w.told("attempt-done 0#0, task-ready 2")
	w.wantStates("DRPB")
	if room := w.View().AttemptRoom(1); room != 0 {
		t.Errorf("room for %d clones", room)
	}
	w.seen = nil
	w.at(2, failed(b), paused(0))
	w.wantStates("DBBB")
	w.at(3, continued(0))
	w.wantStates("DPPB")
	c := w.launch(1, 0)
	w.at(4, done(c))
	w.wantStates("DDPP")
	w.at(5, done(w.launch(2, 0)))
	w.launch(3, 0)
	if room := w.View().AttemptRoom(3); room != 1 {
		t.Errorf("room for %d clones of the last task", room)
	}
	w.launch(3, 0) // its clone
	w.refuse(ErrAttempts, func(x *Actions) error { _, err := x.Launch(3, 0, 0, 0); return err })
}

// A job may allow its tasks fewer attempts than the limits do.
func TestMaxAttempts(t *testing.T) {
	w := newWorld(t, NoLimits(), 4)
	w.arrive(JobSpec{MaxAttempts: 1, Stages: []StageSpec{{Tasks: 1}}})
	w.arrive(tasks(1))
	w.launch(0, 0)
	w.refuse(ErrAttempts, func(x *Actions) error { _, err := x.Launch(0, 0, 0, 0); return err })
	w.launch(1, 0)
	w.launch(1, 0)
}

// Gentle limits let policies kill clones of what runs, and what can be gone on from.
func TestGentle(t *testing.T) {
	l := NoLimits()
	l.Gentle = true
	w := newWorld(t, l, 5)
	w.arrive(JobSpec{Retries: 1, Stages: []StageSpec{{Tasks: 1}}})
	w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 1, Resumable: true}}})
	original, resumable := w.launch(0, 0), w.launch(1, 0)
	kill := func(a AttemptID) func(*Actions) error { return func(x *Actions) error { return x.Kill(a, Share) } }
	w.at(1)
	w.refuse(ErrLoses, kill(original))
	clone, last := w.launch(0, 0), w.launch(0, 0)
	w.at(2)
	w.refuse(ErrLoses, kill(original))
	w.refuse(nil, kill(clone))
	w.refuse(nil, kill(resumable))
	w.at(3, failed(original))
	w.refuse(ErrLoses, kill(last)) // nothing else runs of its task
	w.at(4, paused(0))
	w.refuse(ErrPaused, kill(last))
}
