package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// A server goes on with what an output folder holds of the same command, from a run or from another job: the tasks that
// are done are done when the job is submitted. The journal stays where it is until the job ends; then another takes its
// place, which has the attempts of both.

// earlier is what a folder's journal says of the attempts before a job's submission.
type earlier struct {
	*live.Lived
	begun time.Time // their second 0
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
	e.tried = triedIn(run)
	return &h, nil
}

// triedIn counts the attempts of the tasks of a run that are not done.
func triedIn(run *live.Run) map[int]int {
	tried := map[int]int{}
	for _, a := range run.Records() {
		if !run.IsDone(a.Stage, a.Index) {
			tried[int(a.Task)] = max(tried[int(a.Task)], a.Number+1)
		}
	}
	return tried
}

// rest is the job of a run with the settings of now, less what is done.
func (e *Engine) rest(run *live.Run) (spec sched.JobSpec, err error) {
	spec = run.Header.Job
	spec.Retries, spec.MaxFailed, spec.Deadline = e.Job.Retries, e.mayFail(&spec), 0
	spec.Value, spec.Late = e.Value, e.Late
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

// before reads what the folder's journal says of earlier attempts; nothing if there is none.
func (e *Engine) before() (*earlier, error) {
	path := e.folders.Journal()
	if isMissing(path) {
		return &earlier{Lived: &live.Lived{}}, nil
	}
	r, err := trace.OpenJournalReader(path)
	if err != nil {
		return nil, err
	}
	all, err := live.All(r, policyOf, nil)
	if err != nil {
		return nil, err
	}
	for i := range all.Records {
		if a := &all.Records[i]; a.End == live.Running { // when its engine died
			a.End = live.Crashed
		}
	}
	return &earlier{Lived: all, begun: r.Header.Started}, nil
}

// recommit tells the executor of a job which attempts have won before.
func (x *earlier) recommit(executor live.Executor) (err error) {
	for i := range x.Records {
		if a := &x.Records[i]; a.End == live.Won {
			err = cmp.Or(err, executor.Commit(a.Attempt, x.Outputs[i]))
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
