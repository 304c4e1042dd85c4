package kit

import "github.com/tailcut/tailcut/sched"

// A job that is paused has no task that waits, and no running task of it may have another attempt or be killed. So most
// policies need not know of it. Those that remember which tasks may have another attempt look at them again when the
// job is paused, and when it goes on.

// Reconsider calls a function for each running task of a job that was just paused or continued.
func Reconsider(v *sched.View, ev *sched.Event, do func(sched.TaskID)) {
	if ev.Kind != sched.JobPaused && ev.Kind != sched.JobContinued {
		return
	}
	job := v.Job(ev.Job)
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
			do(t)
		}
	}
}

// Paused tells whether the job of a task is paused: the task may have no other attempt now, but perhaps later.
func Paused(v *sched.View, t sched.TaskID) bool { return v.Job(v.Rows().JobOf(t)).Paused }
