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
	exec  Executor                // nil while it is not open
	notes map[sched.TaskID]Report // last failure of each task that failed
	told  bool                    // Finish has returned nil since it was over
}

// recommit repeats the commit of every finished task, for the engine may have died between a journal record and its
// execution, and drops what other attempts have left.
func (j *Job) recommit() error {
	for task := range j.winner {
		a := j.winnerOf(task)
		if err := j.exec.Commit(a, j.outputs[a.ID]); err != nil {
			return err
		}
	}
	return j.exec.Clean()
}

// Records returns the attempts of a job since its submission, in the order of their launches.
func (j *Job) Records() []Record { return j.records }

// Executor returns that of a job while it is open, else nil.
func (j *Job) Executor() Executor { return j.exec }

// begin starts an attempt of the job. If its executor cannot be opened, none of its attempts can be.
func (l *loop) begin(j *Job, a Attempt) {
	j.exec.Start(a)
}
