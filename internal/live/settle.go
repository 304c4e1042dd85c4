package live

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// A job of an engine that is over is settled: its results are published, its executor is closed, and its owner hears of
// its end. That may wait for a disk, and is done beside the loop, so that no other job waits with it. When all went
// well the journal says so. Until then an engine that takes the journal up does it again, which changes nothing.

// Over is a job that is over. It can be read on any goroutine.
type Over struct {
	Job     *Job // of which only the JournalJob may be read
	State   sched.JobState
	Summary *Summary
	Records []Record // of its attempts, in the order of their launches
	// Failure is why results could not be kept or published, or the executor could not be opened; nil for neither.
	Failure error
	Ended   error // what may still run; nil for nothing

	started time.Time // the engine's, at its instant 0
	saved   sched.SavedJob
	left    jobState // what it leaves beside that, without its attempts
}

// Succeeded tells whether the results are published.
func (o *Over) Succeeded() bool { return o.State == sched.JobSucceeded && o.Failure == nil }

// settle begins to settle a job that is over, once what is to be done in its folder is done.
func (e *Engine) settle(j *Job) {
	o := &Over{Job: j, State: j.row().State, Summary: j.Summary(), Records: slices.Clip(j.records), Failure: j.failure, started: e.Started()}
	o.saved = e.core.View().SaveJob(j.ID)
	o.left = jobState{Retries: j.retries, Crashed: j.crashed, StageDone: slices.Clone(j.stageDone)}
	d, journal := j.deeds, e.journal
	j.deeds, j.settling = nil, make(chan struct{})
	e.settling[j.ID] = j
	go func() {
		exec, failed := d.end()
		if err := journal.Sync(); err != nil { // nobody may hear of an end that a crash takes back
			if exec != nil {
				err = errors.Join(err, exec.Close())
			}
			e.aside.add(func() { e.isSettled(j, err, false) })
			return
		}
		o.Failure = cmp.Or(o.Failure, failed)
		if exec == nil && o.Failure == nil && (o.Succeeded() || j.won > 0) { // an earlier engine had it open
			exec, o.Failure = e.openExecutor(j, j.claims())
		}
		if o.Succeeded() {
			o.Failure = exec.Publish()
		}
		if exec != nil {
			o.Ended = exec.Close()
		}
		told := o.Failure == nil || o.State != sched.JobSucceeded
		if e.cfg.Finish != nil {
			told = e.cfg.Finish(o) == nil
		}
		e.aside.add(func() { e.isSettled(j, o.Failure, told) })
	}()
}

// isSettled takes in that a job is settled.
func (e *Engine) isSettled(j *Job, failure error, told bool) {
	delete(e.settling, j.ID)
	close(j.settling)
	j.settling, j.failure = nil, failure
	if told {
		e.batch.Told = append(e.batch.Told, j.ID)
	}
	e.touch(j)
}

// note takes in what has come of what is done beside the loop.
func (e *Engine) note() {
	for _, heard := range e.aside.take() {
		heard()
	}
}

// begin starts an attempt of a job, soon.
func (l *loop) begin(j *Job, a Attempt) {
	switch {
	case j.exec != nil:
		j.exec.Start(a)
	case j.failure != nil:
		l.doom(j, a.ID)
	default:
		l.host.deedsOf(j).put(deed{attempt: a})
	}
}

// doom adds to the batch that an attempt cannot begin, for the job's executor cannot be opened. None of its tasks can
// be run then: each fails for good, until the job is tried again.
func (l *loop) doom(j *Job, id sched.AttemptID) {
	if !l.core.View().Rows().Alive(id) {
		return
	}
	why := Report{At: time.Now(), Attempt: id, Kind: sched.AttemptDoomed, Note: j.failure.Error()}
	put(&j.notes, l.core.View().Attempt(id).Task, why)
	l.fact(sched.Event{At: l.now(), Kind: sched.AttemptDoomed, Attempt: id})
}

// fail ends a job whose results cannot be kept.
func (l *loop) fail(j *Job, err error) {
	if j.failure == nil {
		j.failure = err
	}
	l.fact(sched.Event{At: l.now(), Kind: sched.JobCancelled, Job: j.ID})
}
