package sched

import (
	"encoding/json"
	"testing"
)

// Tasks that are done when the job is submitted are not run: who waits for them need not, stages that are done are closed
// as they are opened, and a core that is restored knows it too.
func TestDoneAtSubmission(t *testing.T) {
	spec := JobSpec{
		Stages: []StageSpec{{Tasks: 2, Done: []int{0, 1}}, {Tasks: 3, Done: []int{1}}, {Tasks: 3}, {Tasks: 1}},
		Edges:  []Edge{{From: 0, To: 1}, {From: 1, To: 2, Kind: Pointwise}, {From: 2, To: 3}},
	}
	w := newWorld(t, NoLimits(), 4)
	w.wantStates("")
	w.at(1, joined(0))
	j, err := w.Submit(&spec)
	if err != nil {
		t.Fatal(err)
	}
	if u := w.View().Job(j).Unfinished; u != 6 {
		t.Errorf("%d tasks are unfinished, want 6", u)
	}
	text, err := json.Marshal(w.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	w.seen = nil
	w.at(2, Event{Kind: JobArrived, Job: j})
	w.told("job-arrived 0, stage-ready 0, stage-done 0, stage-ready 1, stage-ready 2")
	w.wantStates("DDPDPBPBB")
	if job := w.View().Job(j); job.Pending != 3 || job.Attempts != 0 || job.State != JobActive {
		t.Errorf("%+v", job)
	}
	for _, task := range []TaskID{2, 4, 6, 5, 7} {
		w.at(w.View().Now()+1, done(w.launch(task, 0)))
	}
	w.at(w.View().Now()+1, done(w.launch(8, 0)))
	if job := w.View().Job(j); job.State != JobSucceeded || job.Attempts != 6 {
		t.Errorf("%+v", job)
	}

	var s Snapshot
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	p := &script{}
	again, err := Restore(&s, p, NoLimits())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Advance(2, []Event{{At: 2, Kind: JobArrived, Job: j}}); err != nil {
		t.Fatal(err)
	}
	if job := again.View().Job(j); job.Pending != 3 || job.Unfinished != 6 {
		t.Errorf("after a restart: %+v", job)
	}
	whole := JobSpec{Stages: []StageSpec{{Tasks: 1, Done: []int{0}}}}
	if j := w.arrive(whole); w.View().Job(j).State != JobSucceeded {
		t.Error("a job of which all is done does not end")
	}
	for _, bad := range [][]int{{3}, {-1}, {1, 1}, {1, 0}} {
		spec.Stages[1].Done = bad
		if spec.Validate() == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}
