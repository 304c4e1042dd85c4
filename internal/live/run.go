package live

import (
	"context"
	"errors"
	"fmt"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// job is the only job of a run.
const job sched.JobID = 0

// Run is one job on its way, from its first start to its end, across restarts of the engine: a loop that ends with it,
// and a journal of its own, of one file.
type Run struct {
	*loop
	Header    *trace.JournalHeader
	Recovered int  // tasks that were done when the run was opened
	Retried   bool // tasks had failed for good when the run was opened, and are tried again

	job   *Job
	works [][]byte
}

// Watcher is told what happens, from the loop's goroutine. Any field may be nil.
type Watcher struct {
	Ended func(r *Record, last Report) // an attempt has ended; last is the executor's report if it failed
	Tick  func(v *sched.View)          // every tenth of a second, and after the last batch
	Short func(why string)             // a machine has refused an attempt, for the first time in the run
	Held  func(why string)             // the gate does something for the first time that a user waits for
}

// ErrPaces is the error of a policy that sets the speed of the machines: processes cannot be made faster.
var ErrPaces = errors.New("the policy sets the speed of the machines, which only works with 'tailcut simulate'")

// Create begins a run and its journal, under the rules of today. The policy must be the one that the header names. It
// is an error if it sets the speed of the machines.
func Create(path string, h *trace.JournalHeader, p sched.Policy) (*Run, error) {
	if sched.Paces(p) {
		return nil, ErrPaces
	}
	h.Rules = trace.JournalRules
	core, err := newCore(h, p)
	if err != nil {
		return nil, err
	}
	j, err := trace.CreateJournal(path, h)
	if err != nil {
		return nil, err
	}
	return newRun(path, h, core, j, pastOfRun(h)), nil
}

// Open takes up a run from its journal. If its job has failed, it keeps the tasks that are done and forgives the others
// their failures. A record that was being written when the engine died is cut off; it had not been acted on.
func Open(path string, policies Policies) (*Run, error) {
	reader, err := trace.OpenJournalReader(path)
	if err != nil {
		return nil, err
	}
	h := &reader.Header
	if len(h.Stages) == 0 {
		return nil, fmt.Errorf("%s: %w", path, ErrMany)
	}
	p, err := policies(h)
	if err != nil {
		return nil, err
	}
	if sched.Paces(p) {
		return nil, ErrPaces
	}
	past, err := pastOf(reader)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot take up the run: %w", path, err)
	}
	present := len(h.Machines)
	works := [][]byte{h.Work}
	core, err := Replay(reader, policies, func(c *sched.Core, b *trace.Batch) {
		past.add(c.View(), b, nil)
		if b.Settings != nil {
			present = len(b.Settings.Machines)
			if w := b.Settings.Work; w != nil {
				works = append(works, w)
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("%s: cannot take up the run: %w", path, err)
	}
	j, err := trace.ResumeJournal(path, reader)
	if err != nil {
		return nil, err
	}
	r := newRun(path, h, core, j, past)
	r.policies, r.present, r.works = policies, r.present[:present], works
	r.job.Spec = h.Job
	r.Recovered = r.job.won
	r.Retried = r.State() == sched.JobBroken || r.State() != sched.JobSucceeded && r.core.View().Job(job).Broken > 0
	r.Retried = r.Retried || h.Segment != nil && r.State() == sched.JobStopped // a server's job was cancelled
	r.over = r.State() > sched.JobActive && !r.Retried
	return r, nil
}

// pastOfRun returns the history of a run before its first batch.
func pastOfRun(h *trace.JournalHeader) *history {
	past := newHistory()
	past.jobs[job] = &Job{JournalJob: &trace.JournalJob{ID: job, Run: h.Run, Submitted: h.Started, Spec: h.Job, Stages: h.Stages, Command: h.Command, Work: h.Work}}
	return past
}

func newRun(path string, h *trace.JournalHeader, core *sched.Core, j *trace.Journal, past *history) *Run {
	l := newLoop(h, core, past, pulse{path: path + ".pulse", run: h.Run})
	l.journal, l.alone = j, past.jobs[job]
	return &Run{loop: l, Header: h, job: l.alone, works: [][]byte{h.Work}}
}

// Close lets go of a run that is opened and not to be looped.
func (r *Run) Close() error { return r.journal.Close() }

// View returns what the core of the run knows.
func (r *Run) View() *sched.View { return r.core.View() }

// Snapshot returns the run's core as it stands, to play on from.
func (r *Run) Snapshot() *sched.Snapshot { return r.core.Snapshot() }

// Works returns what attempts do, as the header has it: at first, and after each change. The last holds now.
func (r *Run) Works() [][]byte { return r.works }

// State tells how the job stands.
func (r *Run) State() sched.JobState { return r.core.View().Job(job).State }

// Summary sums up the run as it stands.
func (r *Run) Summary() *Summary {
	s := r.job.Summary()
	s.Recovered = r.Recovered
	return s
}

// Durations returns those of the run's attempts, see [Durations].
func (r *Run) Durations() (won, cut [][]sched.Time) {
	return Durations(r.job.records, len(r.Header.Stages))
}

// Records returns the attempts of the run, in the order of their launches.
func (r *Run) Records() []Record { return r.job.records }

// Slowest returns the tasks that took longest, see [Slowest].
func (r *Run) Slowest(most func(tasks int) int) [][]int {
	return Slowest(r.job.records, &r.Header.Job, most)
}

// IsDone tells whether a task is done, by its stage and its place there.
func (r *Run) IsDone(stage, index int) bool {
	v := r.core.View()
	st := v.Stage(v.Job(job).FirstStage + sched.StageID(stage))
	return v.Task(st.First+sched.TaskID(index)).State == sched.TaskDone
}

// Loop runs the job to its end and publishes its results. Cancelling ctx makes it stop before that, which is no error:
// the job is still active then, and the run can be opened again as after a crash. An error means that the journal or
// the results could not be written, whatever State says; that, too, can be taken up again. What exec still runs is for
// the caller to end.
func (r *Run) Loop(ctx context.Context, exec Executor, watch Watcher) error {
	r.job.exec, r.reports = exec, exec.Reports
	r.watch = Observer{Tick: watch.Tick, Short: watch.Short, Held: watch.Held}
	if watch.Ended != nil {
		r.watch.Ended = func(_ *Job, rec *Record, last Report) { watch.Ended(rec, last) }
	}
	r.fresh = func(now sched.Time) []sched.Event {
		facts := []sched.Event{{At: now, Kind: sched.JobArrived, Job: job}}
		if r.Retried {
			facts = append(facts, sched.Event{At: now, Kind: sched.JobRetried, Job: job})
		}
		if r.job.row().Paused { // it halted
			facts = append(facts, sched.Event{At: now, Kind: sched.JobContinued, Job: job})
		}
		return facts
	}
	err := errors.Join(r.restore(ctx), r.journal.Close())
	r.pulse.stop(r.over)
	if err == nil && r.State() == sched.JobSucceeded {
		err = exec.Publish()
	}
	return err
}

// restore puts what an earlier engine has left in order, and loops.
func (r *Run) restore(ctx context.Context) error {
	if err := r.job.claims().repeat(r.job.exec); err != nil || r.over {
		return err
	}
	return r.run(ctx)
}
