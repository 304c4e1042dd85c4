package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Config is what an engine of many jobs is made of.
type Config struct {
	Folder  string // of its journal, which the engine makes
	Version string // of the tool
	// Policy, Seed and Limits hold from now on, whatever held before.
	Policy   string
	Seed     uint64
	Limits   sched.Limits
	Policies Policies
	// Machines are those that are there from now on. One that the journal knows by its name and class is the same.
	Machines []trace.JournalMachine
	// ClassNames are the names of the classes of their slots.
	ClassNames []string
	// Fit, if not nil, changes Policy, Machines and ClassNames so that classes keep the numbers by which jobs of the
	// journal that are not over know them. Of these all are below needed. An error leaves the journal as it is.
	Fit     func(cfg *Config, h *trace.JournalHeader, needed int) error
	Waits   bool   // attempts wait until they begin, see sched.Core.WaitToBegin
	Segment int64  // bytes after which a new segment of the journal is begun; 0 for 64 MiB
	Archive string // folder that old segments are moved to; "" removes them

	// Open returns the executor of a job, before its first launch in this engine, and to publish what an earlier engine
	// has not. It is called beside the loop, so of the Job only the JournalJob may be read. An error fails the job.
	Open func(*Job) (Executor, error)
	// Reports returns the channel on which all executors report.
	Reports func() <-chan Report
	// Finish is called on a goroutine of its own for each job that is over, after its executor has published its
	// results, if it has succeeded, and is closed. Until it has returned nil, each engine that takes the journal up
	// publishes the job and calls it again. Of a job whose results could not be published, nil gives them up.
	Finish func(*Over) error
	Watch  Observer
}

// Observer is told what happens, on the loop's goroutine, which waits for it. Any field may be nil.
type Observer struct {
	Changed  func(*Job)                  // its state, its rank, or the number of its tasks that are done
	Launched func(*Job, *Record)         // an attempt
	Ended    func(*Job, *Record, Report) // an attempt; the report is the executor's if it failed
	Short    func(why string)            // a machine has refused an attempt, for the first time
	Held     func(why string)            // the gate does something for the first time that a user waits for
	Tick     func(*sched.View)           // every tenth of a second; without it an idle engine sleeps
}

// Errors of what is asked of an engine.
var (
	ErrNoJob    = errors.New("there is no such job")
	ErrOver     = errors.New("the job is over")
	ErrNotOver  = errors.New("the job is not over")
	ErrDraining = errors.New("the engine takes no more jobs")
	ErrStopped  = errors.New("the engine has stopped")
)

// Change is what may be changed of a job that is not over. Nil leaves it as it is.
type Change struct {
	Priority *int32
	Weight   *float64
	Deadline *sched.Time // instant of the engine's time, Never for none
}

// Engine runs many jobs on the machines of one core. What is asked of it, from any goroutine, is in the journal when
// the answer comes.
type Engine struct {
	*loop
	cfg      Config
	began    time.Time // of the journal, which a rotation writes anew while others read it here
	taken    []*ask    // to be answered after this step
	stopped  chan struct{}
	settling map[sched.JobID]*Job // jobs that are over, and are being settled
	aside    aside
	crowded  crowded
	born     int64                      // size of the journal's segment when it was begun
	next     func(*trace.JournalHeader) // what the next segment has otherwise; nil for nothing
	keep     bool                       // no attempt that runs may end by the policy of the next segment
}

// OpenEngine takes up the journal of a folder, or begins one.
func OpenEngine(cfg Config) (*Engine, error) {
	if cfg.Segment == 0 {
		cfg.Segment = 64 << 20
	}
	e := &Engine{cfg: cfg, stopped: make(chan struct{}), settling: map[sched.JobID]*Job{}}
	if err := e.openJournal(); err != nil {
		return nil, err
	}
	l := e.loop
	e.began = l.header.Started
	e.aside.added = make(chan struct{}, 1)
	l.host, l.asks, l.added = e, make(chan *ask), e.aside.added
	l.policies, l.watch, l.reports, l.fresh = cfg.Policies, cfg.Watch, cfg.Reports, e.fresh
	return e, nil
}

// Started returns the wall clock at the engine's instant 0, which all engines of the journal share.
func (e *Engine) Started() time.Time { return e.began }

// Loop runs jobs until ctx is done, or until nothing runs any more of an engine that drains. Neither is an error. What
// runs when ctx is done is ended, and launched again by the next engine. An error means that the journal could not be
// written, or tells what may still run. When Loop returns, all executors are closed, and all that was begun for jobs
// that are over is done.
func (e *Engine) Loop(ctx context.Context) error {
	err := e.run(ctx)
	_ = e.answer(cmp.Or(err, ErrStopped))
	close(e.stopped)
	ended := e.end()
	for err == nil && !e.batch.Empty() { // once more if the policy gives a job up
		err = e.advance(e.now())
		ended = errors.Join(ended, e.end())
	}
	if err == nil {
		// so that the next engine has nothing to go through again, unless there is no room for that
		if err = e.rotate(nil); errors.Is(err, trace.ErrNoRoom) {
			err = nil
		}
	}
	e.pulse.stop(err == nil)
	return errors.Join(err, e.journal.Close(), ended)
}

// patience is how long an engine that ends waits for the disks of jobs.
const patience = 10 * time.Second

// end closes the executors of jobs that are not over, and waits for what is done beside the loop, but not for ever:
// what is not done then, the next engine does. Meanwhile it hears what is reported, which nobody else does: who reports
// must not wait for ever.
func (e *Engine) end() (err error) {
	open := map[sched.JobID]*Job{}
	for id, j := range e.past.jobs {
		d := j.deeds
		if d == nil {
			continue
		}
		open[id], j.deeds = j, nil
		d.stop()
		go func() {
			exec, _ := d.end()
			var failed error
			if exec != nil {
				failed = exec.Close()
			}
			e.aside.add(func() {
				delete(open, id)
				err = errors.Join(err, failed)
			})
		}()
	}
	enough := time.NewTimer(patience)
	defer enough.Stop()
	for len(open)+len(e.settling) > 0 {
		select {
		case <-e.aside.added:
			e.note()
		case <-e.reports():
		case <-enough.C:
			maps.Copy(open, e.settling)
			return errors.Join(err, stuck(open))
		}
	}
	return err
}

// stuck is the error of jobs whose disks have not answered.
func stuck(jobs map[sched.JobID]*Job) error {
	var names []string
	for _, id := range slices.Sorted(maps.Keys(jobs)) {
		names = append(names, fmt.Sprintf("job %d (%s) at %s", id, jobs[id].Name, jobs[id].Output))
	}
	return fmt.Errorf("the disk does not answer after %v; the next start goes on with %s", patience, strings.Join(names, ", "))
}

// fresh returns what the core hears of jobs first: those that had halted are ended.
func (e *Engine) fresh(now sched.Time) (facts []sched.Event) {
	for _, j := range e.Jobs() {
		switch row := j.row(); {
		case row.State > sched.JobActive && !j.told:
			e.settle(j)
		case row.State == sched.JobActive && j.halts(&row):
			facts = append(facts, sched.Event{At: now, Kind: sched.JobCancelled, Job: j.ID})
		}
	}
	return facts
}

// stepped is called after each step of the loop.
func (e *Engine) stepped() error {
	if e.next != nil || e.journal.Size() >= max(e.cfg.Segment, 2*e.born, e.crowded.size) {
		err := e.rotate(e.next)
		if e.refused(err) { // the old one goes on
			err = nil
		} else if err == nil {
			err = e.advance(e.now()) // a fresh policy decides
		}
		if e.next, e.keep = nil, false; err != nil {
			return err
		}
	}
	if err := e.answer(nil); err != nil {
		return err
	}
	e.over = e.shut && len(e.past.running) == 0 && len(e.settling) == 0
	return nil
}
