package sched

import "testing"

// Edges: who may run when. Every test finishes tasks one by one and looks at the letters of the tasks' states.

func TestBarrierHoldsEveryTaskUntilTheStageIsDone(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 2)
	w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 2}, {Tasks: 2}}, Edges: []Edge{{From: 0, To: 1}}})
	w.told("job-arrived 0, stage-ready 0")
	a, b := w.launch(0, 0), w.launch(1, 0)
	w.at(1, done(a))
	w.wantStates("DRBB")
	w.told("attempt-done 0#0")
	w.at(2, done(b))
	w.wantStates("DDPP")
	w.told("attempt-done 1#0, stage-done 0, stage-ready 1")
}

func TestPointwiseEdgeReleasesTaskByTask(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 2)
	w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 2}, {Tasks: 2}}, Edges: []Edge{{From: 0, To: 1, Kind: Pointwise}}})
	w.told("job-arrived 0, stage-ready 0, stage-ready 1")
	w.wantStates("PPBB")
	w.at(1, done(w.launch(1, 0)))
	w.wantStates("PDBP")
	w.told("attempt-done 1#0, task-ready 3")
}

func TestPerTaskEdgeWaitsForEveryPair(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 3)
	pairs := [][2]uint32{{2, 0}, {0, 0}, {0, 0}, {1, 1}} // one pair is named twice
	w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 3}, {Tasks: 3}}, Edges: []Edge{{From: 0, To: 1, Kind: PerTask, Pairs: pairs}}})
	w.wantStates("PPPBBP")
	w.at(1, done(w.launch(0, 0)))
	w.wantStates("DPPBBP")
	w.at(2, done(w.launch(1, 0)))
	w.wantStates("DDPBPP")
	w.at(3, done(w.launch(2, 0)))
	w.wantStates("DDDPPP")
}

func TestTaskEdgeDoesNotPassBarrier(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 1)
	w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 1}, {Tasks: 1}, {Tasks: 1}}, Edges: []Edge{
		{From: 0, To: 2, Kind: Pointwise}, {From: 1, To: 2, Kind: Barrier},
	}})
	w.at(1, done(w.launch(0, 0)))
	w.wantStates("DPB")
	w.seen = nil
	w.at(2, done(w.launch(1, 0)))
	w.wantStates("DDP")
	w.told("attempt-done 1#0, stage-done 1, stage-ready 2") // the stage, not the task, is what became ready
}

func TestTwoEdgesBetweenTheSameStages(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 1)
	w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 1}, {Tasks: 1}}, Edges: []Edge{{From: 0, To: 1}, {From: 0, To: 1}, {From: 0, To: 1, Kind: Pointwise}}})
	w.at(1, done(w.launch(0, 0)))
	w.wantStates("DP")
}

func TestStageWithoutTasksIsDoneAtOnce(t *testing.T) {
	chain := JobSpec{}
	for i := range 5 {
		chain.Stages = append(chain.Stages, StageSpec{})
		if i > 0 {
			chain.Edges = append(chain.Edges, Edge{From: i - 1, To: i})
		}
	}
	t.Run("a chain of nothing ends as it arrives", func(t *testing.T) {
		w := newWorld(t, DefaultLimits(), 1)
		j, err := w.Submit(&chain)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "decisions", w.at(7, Event{Kind: JobArrived, Job: j}), "close 0")
		if got := w.View().Job(j); got.State != JobSucceeded || got.Closed != 7 {
			t.Errorf("job is %+v", got)
		}
		w.told("job-arrived 0, stage-ready 0, stage-done 0, stage-ready 1, stage-done 1, stage-ready 2, stage-done 2, " +
			"stage-ready 3, stage-done 3, stage-ready 4, stage-done 4, job-done 0")
	})
	t.Run("work at its end is reached", func(t *testing.T) {
		spec := chain
		spec.Stages = append([]StageSpec{}, chain.Stages...)
		spec.Stages[4].Tasks = 1
		w := newWorld(t, DefaultLimits(), 1)
		w.arrive(spec)
		w.wantStates("P")
		want(t, "decisions", w.at(1, done(w.launch(0, 0))), "commit 0#0, close 0")
	})
	t.Run("a diamond of nothing after work closes the job once", func(t *testing.T) {
		w := newWorld(t, DefaultLimits(), 1)
		w.arrive(JobSpec{
			Stages: []StageSpec{{Tasks: 1}, {}, {}, {}},
			Edges:  []Edge{{From: 0, To: 1}, {From: 0, To: 2}, {From: 1, To: 3}, {From: 2, To: 3}},
		})
		want(t, "decisions", w.at(1, done(w.launch(0, 0))), "commit 0#0, close 0")
	})
}

func TestStageIsOverWhenItHasWhatItNeeds(t *testing.T) {
	w := newWorld(t, NoLimits(), 4)
	w.arrive(JobSpec{
		Stages: []StageSpec{{Tasks: 4, Need: 2}, {Tasks: 4}},
		Edges:  []Edge{{From: 0, To: 1, Kind: Pointwise}},
	})
	a, _, b := w.launch(3, 0), w.launch(1, 0), w.launch(0, 0)
	w.launch(1, 0)
	w.at(1, done(a))
	w.seen = nil
	got := w.at(2, done(b))
	want(t, "decisions", got, "commit 0#0, kill 1#1 stage-over, kill 1#0 stage-over") // the latest attempt first
	w.wantStates("DSSDPPPP")                                                          // a task that is not needed holds nobody up
	w.told("attempt-done 0#0, task-ready 4, attempt-lost 1#1, attempt-lost 1#0, task-ready 5, task-ready 6, stage-done 0")
	if left := w.View().Stage(0); left.Unfinished() != 0 {
		t.Errorf("a closed stage needs %d more", left.Unfinished())
	}
}

// A stage may have what it needs before the stages in front of it are done. What they release later is not needed.
func TestReleaseIntoClosedStageIsIgnored(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 2)
	w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 2}, {Tasks: 2, Need: 1}}, Edges: []Edge{{From: 0, To: 1, Kind: Pointwise}}})
	w.at(1, done(w.launch(0, 0)))
	w.at(2, done(w.launch(2, 0)))
	w.wantStates("DPDS")
	want(t, "decisions", w.at(3, done(w.launch(1, 0))), "commit 1#0, close 0")
	w.wantStates("DDDS")
}

// Two winners in one batch, of which the stage needs one: the second attempt is gone before its fact is read.
func TestSecondWinnerOfBatchComesTooLate(t *testing.T) {
	w := newWorld(t, DefaultLimits(), 2)
	w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 2, Need: 1}}})
	a, b := w.launch(0, 0), w.launch(1, 0)
	want(t, "decisions", w.at(1, done(b), done(a)), "commit 0#0, kill 1#0 stage-over, close 0")
	w.wantStates("DS")
}
