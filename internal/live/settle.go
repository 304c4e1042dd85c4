package live

import (
	"errors"
	"slices"
	"sync"
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

// settlement is what came of settling a job.
type settlement struct {
	*Job
	failure error
	told    bool
}

// settlements are those that the loop has not taken in. Whoever adds one does not wait for it.
type settlements struct {
	mu    sync.Mutex
	all   []settlement
	added chan struct{} // has an element while there is something
}

func (x *settlements) add(s settlement) {
	x.mu.Lock()
	x.all = append(x.all, s)
	x.mu.Unlock()
	select {
	case x.added <- struct{}{}:
	default:
	}
}

func (x *settlements) take() []settlement {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := x.all
	x.all = nil
	return all
}

// settle begins to settle a job that is over.
func (e *Engine) settle(j *Job) {
	o := &Over{Job: j, State: j.row().State, Summary: j.Summary(), Records: slices.Clip(j.records), Failure: j.failure, started: e.Started()}
	o.saved = e.core.View().SaveJob(j.ID)
	o.left = jobState{Retries: j.retries, Crashed: j.crashed, StageDone: slices.Clone(j.stageDone)}
	exec, journal := j.exec, e.journal
	j.exec, j.settling = nil, make(chan struct{})
	e.settling++
	go func() {
		if err := journal.Sync(); err != nil { // nobody may hear of an end that a crash takes back
			if exec != nil {
				err = errors.Join(err, exec.Close())
			}
			e.settlements.add(settlement{Job: j, failure: err})
			return
		}
		if exec == nil && o.Failure == nil && (o.Succeeded() || len(j.winner) > 0) { // an earlier engine had it open
			exec, o.Failure = e.openExecutor(j)
		}
		if o.Succeeded() {
			o.Failure = exec.Publish()
		}
		if exec != nil {
			o.Ended = exec.Close()
		}
		told := e.cfg.Finish == nil || e.cfg.Finish(o) == nil
		e.settlements.add(settlement{Job: j, failure: o.Failure, told: told})
	}()
}

// openExecutor opens the executor of a job and repeats what an earlier one may not have come to. Of a job that is over
// it can be called beside the loop.
func (e *Engine) openExecutor(j *Job) (Executor, error) {
	exec, err := e.cfg.Open(j)
	if err != nil {
		return nil, err
	}
	if err := j.recommit(exec); err != nil {
		return nil, errors.Join(err, exec.Close())
	}
	return exec, nil
}

// note takes in that jobs are settled.
func (e *Engine) note() {
	for _, s := range e.settlements.take() {
		e.settling--
		close(s.settling)
		s.Job.settling = nil
		s.Job.failure = s.failure
		if s.told && (s.failure == nil || s.row().State != sched.JobSucceeded) {
			e.batch.Told = append(e.batch.Told, s.ID)
		}
		e.touch(s.Job)
	}
}

// begin starts an attempt of a job, whose executor is opened for its first one. If it cannot be opened, none of the
// job's tasks can be run: each fails for good, until the job is tried again.
func (l *loop) begin(j *Job, a Attempt) {
	if j.exec == nil && j.failure == nil {
		j.exec, j.failure = l.host.openExecutor(j)
	}
	if j.exec != nil {
		j.exec.Start(a)
		return
	}
	why := Report{At: time.Now(), Attempt: a.ID, Kind: sched.AttemptDoomed, Note: j.failure.Error()}
	put(&j.notes, l.core.View().Attempt(a.ID).Task, why)
	l.fact(sched.Event{At: l.now(), Kind: sched.AttemptDoomed, Attempt: a.ID})
}

// fail ends a job whose results cannot be kept.
func (l *loop) fail(j *Job, err error) {
	if j.failure == nil {
		j.failure = err
	}
	l.fact(sched.Event{At: l.now(), Kind: sched.JobCancelled, Job: j.ID})
}
