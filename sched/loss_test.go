package sched

import "testing"

func TestJobThatLosesTasks(t *testing.T) {
	pairs := func(n int) (p [][2]uint32) {
		for i := range uint32(n) {
			p = append(p, [2]uint32{i, i})
		}
		return p
	}
	for _, c := range []struct {
		name   string
		spec   JobSpec
		fail   []TaskID // at 1, in this order; all others of the first stage are done at 2
		states string   // when these have ended
		told   string   // of the ends at 2
		state  JobState
		broken uint32
	}{
		{"none may fail", JobSpec{Stages: []StageSpec{{Tasks: 3}}}, []TaskID{1}, "SFS", "", JobBroken, 1},
		{"as many as may fail", JobSpec{MaxFailed: 2, Stages: []StageSpec{{Tasks: 3}}}, []TaskID{0, 1}, "FFD",
			"attempt-done 2#0, stage-done 0, job-failed 0", JobBroken, 2},
		{"one more", JobSpec{MaxFailed: 1, Stages: []StageSpec{{Tasks: 4}}}, []TaskID{0, 1}, "FFSS", "", JobBroken, 2},
		{"all", JobSpec{MaxFailed: Unlimited, Stages: []StageSpec{{Tasks: 2}, {Tasks: 1}}}, []TaskID{0, 1}, "FFP", "", JobActive, 2},
		{"a stage waits for all", JobSpec{MaxFailed: Unlimited, Stages: []StageSpec{{Tasks: 2}, {Tasks: 2}, {Tasks: 1}}, Edges: []Edge{{From: 0, To: 1}, {From: 1, To: 2}}},
			[]TaskID{0}, "FDTTT", "attempt-done 1#0, stage-done 0, stage-ready 1, stage-done 1, stage-ready 2, stage-done 2, job-failed 0", JobBroken, 1},
		{"a task waits for a task", JobSpec{MaxFailed: Unlimited, Stages: []StageSpec{{Tasks: 2}, {Tasks: 2}}, Edges: []Edge{{From: 0, To: 1, Kind: Pointwise}}},
			[]TaskID{0}, "FDTP", "attempt-done 1#0, task-ready 3, stage-done 0, task-given-up 2", JobActive, 1},
		{"a task waits by a list", JobSpec{MaxFailed: Unlimited, Stages: []StageSpec{{Tasks: 2}, {Tasks: 2}}, Edges: []Edge{{From: 0, To: 1, Kind: PerTask, Pairs: pairs(2)}}},
			[]TaskID{1}, "DFPT", "attempt-done 0#0, task-ready 2, stage-done 0, task-given-up 3", JobActive, 1},
		{"the stage has enough without them", JobSpec{MaxFailed: 1, Stages: []StageSpec{{Tasks: 2, Need: 1}, {Tasks: 2}}, Edges: []Edge{{From: 0, To: 1, Kind: Pointwise}}},
			[]TaskID{0}, "FDPP", "attempt-done 1#0, task-ready 3, task-ready 2, stage-done 0", JobActive, 1},
		{"an empty stage after them", JobSpec{MaxFailed: 1, Stages: []StageSpec{{Tasks: 1}, {}, {Tasks: 1}}, Edges: []Edge{{From: 0, To: 1}, {From: 1, To: 2}}},
			[]TaskID{0}, "FT", "", JobBroken, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, NoLimits(), 8)
			j := w.arrive(c.spec)
			attempts := map[TaskID]AttemptID{}
			for i := range TaskID(c.spec.Stages[0].Tasks) {
				attempts[i] = w.launch(i, 0)
			}
			for _, task := range c.fail {
				w.at(1, failed(attempts[task]))
				delete(attempts, task)
			}
			w.seen = nil
			for i := range TaskID(c.spec.Stages[0].Tasks) {
				if a, ok := attempts[i]; ok && w.View().Rows().Alive(a) {
					w.at(2, done(a))
				}
			}
			w.told(c.told)
			w.wantStates(c.states)
			if job := w.View().Job(j); job.State != c.state || job.Broken != c.broken {
				t.Errorf("state %d with %d failed tasks, want %d with %d", job.State, job.Broken, c.state, c.broken)
			}
			for _, task := range c.fail {
				w.refuse(ErrNotRunnable, func(act *Actions) error {
					_, err := act.Launch(task, 0, 0, Retry)
					return err
				})
			}
		})
	}
}

// A job that has ended without some of its tasks is retried with just these, and with what waited for them.
func TestRetryOfLostTasks(t *testing.T) {
	spec := JobSpec{MaxFailed: 1, Stages: []StageSpec{{Tasks: 3}, {Tasks: 1}}, Edges: []Edge{{From: 0, To: 1}}}
	again := func(j JobID) Event { return Event{Kind: JobRetried, Job: j} }
	t.Run("after its end", func(t *testing.T) {
		w := newWorld(t, NoLimits(), 3)
		j := w.arrive(spec)
		a, b, c := w.launch(0, 0), w.launch(1, 0), w.launch(2, 0)
		w.at(1, done(a), failed(b), done(c))
		w.wantStates("DFDT")
		w.seen = nil
		w.at(2, again(j))
		w.told("job-arrived 0, stage-ready 0")
		w.wantStates("DPDB")
		w.at(3, done(w.launch(1, 0)))
		w.at(4, done(w.launch(3, 0)))
		if job := w.View().Job(j); job.State != JobSucceeded || job.Broken != 0 {
			t.Errorf("the job is %+v", job)
		}
	})
	t.Run("before its end", func(t *testing.T) {
		w := newWorld(t, NoLimits(), 3)
		j := w.arrive(spec)
		a, b, c := w.launch(0, 0), w.launch(1, 0), w.launch(2, 0)
		w.at(1, done(a), failed(b))
		w.at(2, again(j)) // it means nothing while something runs
		w.wantStates("DFRB")
		w.at(3, lostMachine(0))
		w.seen = nil
		want(t, "decisions", w.at(4, joined(0), again(j)), "")
		w.told("machine-joined 0, job-failed 0, job-arrived 0, stage-ready 0")
		w.wantStates("DPPB")
		w.at(5, failed(w.launch(1, 0))) // the first failure since
		if job := w.View().Job(j); job.State != JobActive || job.Broken != 1 {
			t.Errorf("the job is %+v", job)
		}
		w.at(6, done(c), failed(w.launch(2, 0)))
		w.wantStates("DFFS")
	})
}

func TestMaxFailedOutOfRange(t *testing.T) {
	for _, n := range []int{-2, maxTasks + 1} {
		spec := tasks(1)
		if spec.MaxFailed = n; spec.Validate() == nil {
			t.Errorf("%d was accepted", n)
		}
		if err := New(&script{}, NoLimits()).HandOver(&HandOver{Policy: &script{}, MaxFailed: n}); err == nil {
			t.Errorf("a handover to %d was accepted", n)
		}
	}
}
