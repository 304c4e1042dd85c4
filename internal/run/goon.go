package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tailcut/tailcut/internal/disk"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// A server goes on with what an output folder holds of the same command, from a run or from another job: the tasks that
// are done are done when the job is submitted. The journal stays where it is until the job ends; then another takes its
// place, which has the attempts of both.

// earlier is what a folder's journal says of the attempts before a job's submission.
type earlier struct {
	records []live.Record
	begun   time.Time // their second 0
}

// beginOrGoOn makes a new job ready, or what is left of the one that the folder holds.
func (e *Engine) beginOrGoOn(ctx context.Context) (*trace.JournalHeader, error) {
	path := e.folders.Journal()
	if isMissing(path) {
		return e.begin(ctx)
	}
	if e.complete() {
		return nil, fmt.Errorf("%s: holds a finished result; replace it with --force, or name another --output", e.out)
	}
	asked, err := e.asked()
	if err != nil {
		return nil, err
	}
	run, err := e.resume(path, asked)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	if run.Header.Folder() == "" || run.Header.Network != nil {
		return nil, fmt.Errorf("%s: holds an unfinished run that no server goes on with; run the same command with 'tailcut run --alone', or name another --output", e.out)
	}
	h := *run.Header
	works := run.Works()
	h.Work, h.Command, h.Started = works[len(works)-1], asked, time.Now()
	if h.Job, err = e.rest(run); err != nil {
		return nil, err
	}
	return &h, e.settleBefore(run)
}

// rest is the job of a run with the settings of now, less what is done.
func (e *Engine) rest(run *live.Run) (spec sched.JobSpec, err error) {
	spec = run.Header.Job
	spec.Retries, spec.MaxFailed, spec.Deadline = e.Job.Retries, e.mayFail(&spec), 0
	if e.Deadline != "" {
		if spec.Deadline, err = deadlineAt(e.Deadline, time.Now()); err != nil {
			return spec, fmt.Errorf("--deadline: %w", err)
		}
	}
	own := e.stageRetries()
	spec.Stages = slices.Clone(spec.Stages)
	for i := range spec.Stages {
		st := &spec.Stages[i]
		st.Done, st.Retries = nil, nil
		if own != nil {
			st.Retries = own[i]
		}
		for index := range st.Tasks {
			if run.IsDone(i, index) {
				st.Done = append(st.Done, index)
			}
		}
	}
	return spec, nil
}

// settleBefore makes results files that only the journal of a run has, for the executor of the job does not read it.
func (e *Engine) settleBefore(run *live.Run) error {
	touched := map[int]bool{}
	for a, output := range run.Results() {
		if output == nil {
			continue
		}
		if err := e.folders.Settle(a.Stage, a.Index, output); err != nil {
			return Failure{err}
		}
		touched[a.Stage] = true
	}
	for stage := range touched {
		if err := disk.SyncFolder(e.folders.DoneStage(stage)); err != nil {
			return Failure{err}
		}
	}
	return nil
}

// before reads what the folder's journal says of earlier attempts; nothing if there is none.
func (e *Engine) before() (*earlier, error) {
	path := e.folders.Journal()
	if isMissing(path) {
		return &earlier{}, nil
	}
	r, err := trace.OpenJournalReader(path)
	if err != nil {
		return nil, err
	}
	x := &earlier{begun: r.Header.Started}
	x.records, err = live.Lives(r, policyOf, nil)
	for i := range x.records {
		if a := &x.records[i]; a.End == live.Running { // when its engine died
			a.End = live.Crashed
		}
	}
	return x, err
}

// recommit tells the executor of a job which attempts have won before.
func (x *earlier) recommit(executor live.Executor) (err error) {
	for i := range x.records {
		if a := &x.records[i]; a.End == live.Won {
			err = cmp.Or(err, executor.Commit(a.Attempt, nil))
		}
	}
	if err != nil {
		err = errors.Join(err, executor.Close())
	}
	return err
}

// goOn tells the executor of a job what was done before its submission.
func (p *Prepared) goOn(executor live.Executor) (err error) {
	if p.past, err = p.before(); err != nil {
		return errors.Join(err, executor.Close())
	}
	return p.past.recommit(executor)
}
