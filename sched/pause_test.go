package sched

import "testing"

func paused(j JobID) Event    { return Event{Kind: JobPaused, Job: j} }
func continued(j JobID) Event { return Event{Kind: JobContinued, Job: j} }

// While a job is paused what runs goes on, and nothing starts; what lost its attempt waits until the job goes on.
func TestPause(t *testing.T) {
	w := newWorld(t, NoLimits(), 4)
	w.arrive(JobSpec{Retries: 1, Stages: []StageSpec{{Tasks: 4}, {Tasks: 1}}, Edges: []Edge{{From: 0, To: 1}}})
	a, b := w.launch(0, 0), w.launch(1, 0)
	w.seen = nil
	want(t, "decisions", w.at(1, paused(0), paused(0)), "")
	w.told("job-paused 0")
	w.wantStates("RRBBB")
	if job := w.View().Job(0); !job.Paused || job.Pending != 0 || w.View().Pending() != 0 || w.View().AttemptRoom(0) != 0 {
		t.Errorf("%+v, room for %d clones", job, w.View().AttemptRoom(0))
	}
	w.refuse(ErrNotRunnable, func(x *Actions) error { _, err := x.Launch(2, 0, 0, 0); return err })
	w.refuse(ErrPaused, func(x *Actions) error { _, err := x.Launch(0, 0, 0, 0); return err })
	w.refuse(ErrPaused, func(x *Actions) error { return x.Kill(a, Replaced) })
	w.at(2, done(a), failed(b))
	w.told("attempt-done 0#0, attempt-failed 1#0")
	w.wantStates("DBBBB")
	w.at(3, continued(0), continued(0))
	w.told("job-continued 0")
	w.wantStates("DPPPB")
}

// A job that is paused before it arrives arrives paused. Stages may open and end meanwhile; one that is over is not paused.
func TestPauseAtTheEnds(t *testing.T) {
	w := newWorld(t, NoLimits(), 4)
	spec := JobSpec{Stages: []StageSpec{{Tasks: 1}, {Tasks: 1}}, Edges: []Edge{{From: 0, To: 1}}}
	j, err := w.Submit(&spec)
	if err != nil {
		t.Fatal(err)
	}
	w.at(1, paused(j))
	w.told("")
	w.at(2, Event{Kind: JobArrived, Job: j})
	w.told("job-arrived 0, stage-ready 0, job-paused 0")
	w.at(3, continued(j))
	a := w.launch(0, 0)
	w.at(4, paused(j))
	w.seen = nil
	w.at(5, done(a))
	w.told("attempt-done 0#0, stage-done 0, stage-ready 1")
	w.wantStates("DB")
	want(t, "decisions", w.at(6, cancelled(j)), "close 0")
	w.seen = nil
	w.at(7, paused(j), continued(j))
	w.told("")
	if w.View().Job(j).Paused {
		t.Error("a job that is over is paused")
	}
}

// A change of rank holds before the job arrives, too, and not for one that is over.
func TestChange(t *testing.T) {
	w := newWorld(t, NoLimits(), 1)
	spec := tasks(1)
	j, err := w.Submit(&spec)
	if err != nil {
		t.Fatal(err)
	}
	change := Event{Kind: JobChanged, Job: j, Priority: 3, Weight: 2, Deadline: 90}
	w.at(1, change)
	w.told("")
	if job := w.View().Job(j); job.Priority != 3 || job.Weight != 2 || job.Deadline != 90 {
		t.Errorf("%+v", job)
	}
	w.at(2, Event{Kind: JobArrived, Job: j}, Event{Kind: JobChanged, Job: j})
	w.told("job-arrived 0, stage-ready 0, job-changed 0")
	if job := w.View().Job(j); job.Priority != 0 || job.Weight != 1 || job.Deadline != Never {
		t.Errorf("%+v", job)
	}
	w.at(3, cancelled(j))
	w.seen = nil
	w.at(4, change)
	w.told("")
	if job := w.View().Job(j); job.Priority != 0 {
		t.Errorf("%+v", job)
	}
}
