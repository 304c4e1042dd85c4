package live

import (
	"context"
	"errors"
	"iter"

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
	Waits    bool   // attempts wait until they begin, see sched.Core.WaitToBegin
	Segment  int64  // bytes after which a new segment of the journal is begun; 0 for 64 MiB
	Archive  string // folder that old segments are moved to; "" removes them

	// Open returns the executor of a job, before its first launch in this engine, and to publish what an earlier engine
	// has not. It is called on the loop's goroutine, or on another for a job that is over. An error fails the job.
	Open func(*Job) (Executor, error)
	// Reports returns the channel on which all executors report.
	Reports func() <-chan Report
	// Finish is called on a goroutine of its own for each job that is over, after its executor has published its
	// results, if it has succeeded, and is closed. Until it has returned nil, each engine that takes the journal up
	// publishes the job and calls it again.
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

// Over is a job that is over. It can be read on any goroutine.
type Over struct {
	Job     *Job
	Summary *Summary
	Records []Record // of its attempts, in the order of their launches
	Err     error    // why its results could not be published, or an attempt may still run; nil for neither
}

// Errors of what is asked of an engine.
var (
	ErrNoJob    = errors.New("there is no such job")
	ErrOver     = errors.New("the job is over")
	ErrNotOver  = errors.New("the job is not over")
	ErrDraining = errors.New("the engine takes no more jobs")
	ErrStopped  = errors.New("the engine has stopped")
)

// Engine runs many jobs on the machines of one core. What is asked of it, from any goroutine, is in the journal when
// the answer comes.
type Engine struct{}

// Change is what may be changed of a job that is not over. Nil leaves it as it is.
type Change struct {
	Priority *int32
	Weight   *float64
	Deadline *sched.Time // instant of the engine's time, Never for none
}

var errSoon = errors.New("not built yet")

// OpenEngine takes up the journal of a folder, or begins one.
func OpenEngine(cfg Config) (*Engine, error) { return nil, errSoon }

// Jobs returns all jobs that are not retired, by id. It is for the time before the loop.
func (e *Engine) Jobs() []*Job { return nil }

// Loop runs jobs until ctx is done, or until nothing runs any more of an engine that drains. Neither is an error. What
// runs when ctx is done is ended, and launched again by the next engine.
func (e *Engine) Loop(ctx context.Context) error { return errSoon }

// Submit takes in a job, which may start at once unless it is Held. Its Spec.Deadline counts from now.
func (e *Engine) Submit(ctx context.Context, j *trace.JournalJob) (sched.JobID, error) {
	return 0, errSoon
}

// Release lets a job start that was submitted Held.
func (e *Engine) Release(ctx context.Context, id sched.JobID) error { return errSoon }

// Cancel ends a job and what runs of it.
func (e *Engine) Cancel(ctx context.Context, id sched.JobID) error { return errSoon }

// Pause lets nothing more of a job start. What runs of it goes on to its end.
func (e *Engine) Pause(ctx context.Context, id sched.JobID) error { return errSoon }

// Continue takes a Pause back.
func (e *Engine) Continue(ctx context.Context, id sched.JobID) error { return errSoon }

// Change changes a job's rank among others.
func (e *Engine) Change(ctx context.Context, id sched.JobID, c Change) error { return errSoon }

// Retry has a job that failed or was cancelled go on: what is done stays done. Of one that has succeeded and could not
// be published it publishes the results again.
func (e *Engine) Retry(ctx context.Context, id sched.JobID) error { return errSoon }

// Retire forgets jobs that are over and whose Finish has returned nil.
func (e *Engine) Retire(ctx context.Context, ids ...sched.JobID) error { return errSoon }

// SetPolicy has another policy go on, or the same with other limits.
func (e *Engine) SetPolicy(ctx context.Context, policy string, seed uint64, l sched.Limits) error {
	return errSoon
}

// Resize changes how many slots a machine has, by its place in Config.Machines.
func (e *Engine) Resize(ctx context.Context, machine, slots int) error { return errSoon }

// Drain starts nothing more. When all that runs has ended, Loop returns; jobs that are not done wait for the next
// engine.
func (e *Engine) Drain(ctx context.Context) error { return errSoon }

// Look calls f on the loop's goroutine, which waits for it. Nothing that f is given may be kept.
func (e *Engine) Look(ctx context.Context, f func(Sight)) error { return errSoon }

// Sight is what an engine lets see of itself.
type Sight struct{}

// View returns what the core knows.
func (s Sight) View() *sched.View { return nil }

// Job returns a job by its id; nil if it is retired or never was.
func (s Sight) Job(id sched.JobID) *Job { return nil }

// Jobs yields all jobs that are not retired, by id.
func (s Sight) Jobs() iter.Seq[*Job] { return nil }

// Running yields the attempts that run.
func (s Sight) Running() iter.Seq2[*Job, *Record] { return nil }

// State names the state of a job: queued, running, paused, succeeded, failed or cancelled.
func (j *Job) State() string { return "" }
