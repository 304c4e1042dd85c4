package live

import (
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Job is a job of an engine. Its methods, and what changes of it, belong to the loop's goroutine: see [Engine.Look].
type Job struct {
	*trace.JournalJob
	lives
	loop  *loop
	exec  Executor                // of the job of a Run
	deeds *deeds                  // of a job of an Engine; nil while nothing was to be done
	notes map[sched.TaskID]Report // last failure of each task that failed
	told  bool                    // Finish has returned nil since it was over

	failure  error         // why its results cannot be kept or published, or its executor cannot be opened
	settling chan struct{} // closed when that is done which is done beside the loop; nil while nothing is
	retired  bool          // the next batch says so
	halted   bool          // by the loop, see halt.go
	breaking int           // tasks that the batch is to let fail for good
	touched  bool          // see Observer.Changed
}

// View returns what the core knows.
func (j *Job) View() *sched.View { return j.loop.core.View() }

// row returns what the core knows of the job.
func (j *Job) row() sched.Job { return j.loop.core.View().Job(j.ID) }

// State names the state of a job: queued, running, paused, succeeded, failed or cancelled. A job has succeeded when its
// results are published.
func (j *Job) State() string {
	row := j.row()
	switch {
	case row.State > sched.JobActive && j.failure != nil, row.State == sched.JobBroken, row.State == sched.JobStopped && (j.halts(&row) || row.Dropped()):
		return "failed"
	case row.State == sched.JobStopped:
		return "cancelled"
	case row.State == sched.JobSucceeded && j.told:
		return "succeeded"
	case row.Paused && !j.halted:
		return "paused"
	case row.State != sched.JobSucceeded && row.Attempts == 0:
		return "queued"
	}
	return "running"
}

// Failure returns why the job's results cannot be kept or published, or its executor cannot be opened; nil for none.
func (j *Job) Failure() error { return j.failure }

// Winner returns the attempt whose output is the result of a task, with that output where the journal has it; false if
// the task is not done.
func (j *Job) Winner(t sched.TaskID) (a Attempt, output []byte, done bool) {
	at, done := j.winnerOf(t)
	if !done {
		return a, nil, false
	}
	return j.records[at].Attempt, j.outputAt(at), true
}

// Records returns the attempts of a job since its submission, in the order of their launches.
func (j *Job) Records() []Record { return j.records }
