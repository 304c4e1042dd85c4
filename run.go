package tailcut

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/tailcut/tailcut/internal/inputs"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/sched"
)

// Job is work whose tasks are runs of commands.
type Job struct {
	Stages  []Stage
	Retries int // failures of one task that are forgiven: 3 if 0, none if below 0

	// KeepGoing runs every task that can run even if others fail for good. Run fails in the end then, and runs just the
	// others when it is called again.
	KeepGoing bool
}

// Stage is one command, which is run once per task.
type Stage struct {
	Name    string // a folder of results is called so, if there are several stages; "tasks" if empty
	Tasks   int
	Command []string // program and arguments; {} in them is the task's number, from 0, or what it is given

	// Inputs holds each task's values, and replaces Tasks. In the command {} stands for all values of the task, {1} for
	// the first, {.} for the value without its extension: see docs/howto/inputs.md.
	Inputs [][]string

	Env []string // NAME=value, added to the environment

	After     []string // names of the stages that have to be done before
	AfterEach []string // of the stages whose task i has to be done before task i; they have as many tasks
	Resumable bool     // the command can go on from what another attempt has saved, see docs/howto/run.md
}

// Options say where and how to run a job. Only Output has to be given; what is left out is as with 'tailcut run'.
type Options struct {
	Output string // folder for the results; it may hold an unfinished run of the same job, which is taken up
	Dir    string // working directory of the commands; that of the program if empty

	Policy   string        // specification; spark if empty
	Slots    int           // attempts that run at once; one per processor if 0
	Seed     uint64        // of the policy's choices
	Limits   sched.Limits  // on attempts and clones; sched.DefaultLimits if zero
	Timeout  time.Duration // an attempt that runs longer fails; 0 for no limit
	Deadline time.Duration // from now, for policies that heed it; 0 for none
	Law      string        // of an attempt, in seconds, to reckon with for Deadline, such as pareto:alpha=2,xm=30
	Force    bool          // replace what Output holds of an earlier run
	Log      io.Writer     // where it is told how the run goes; nil for nowhere
}

// Result is what came of a run.
type Result struct {
	Flow                time.Duration // from the start to the end
	Tasks               int
	Attempts, Clones    int
	Resumed             int // tasks that were done before this call
	Fruitful, Fruitless time.Duration
	DeadlineMet         bool // false without a deadline

	result *run.Result
}

// ErrFailed is in the chain of the error if the job has failed, as opposed to what is asked for being wrong, or to what
// keeps the engine from running it.
var ErrFailed = errors.New("the job failed")

// failed is an error of the engine that says that the job has failed.
type failed struct{ error }

func (f failed) Is(target error) bool { return target == ErrFailed }
func (f failed) Unwrap() error        { return f.error }

// Run runs a job on this machine to its end: each attempt is a process with a folder of its own, and one result of each
// task is published in Output, as docs/howto/run.md says. It does not matter when the program dies: called with the
// same job and Output again, Run goes on where it was, and it does not run a finished job again.
//
// If ctx is cancelled the processes are killed and Run returns its error; the run can be taken up. Where a result comes
// with an error it says how far the job had come. The program starts itself as a guard that kills what is left when the
// program dies: in that process main does not begin, and of the init functions only some run.
func Run(ctx context.Context, j Job, o Options) (*Result, error) {
	job, err := j.array()
	if err != nil {
		return nil, err
	}
	ro := run.Options{
		Job: job, Dir: o.Dir, Output: o.Output, Policy: o.Policy, Slots: o.Slots, Seed: o.Seed, Limits: o.Limits, Timeout: jobfile.Timeout{After: o.Timeout}, Law: o.Law,
		History: run.NoHistory, Force: o.Force, Version: version(), Log: o.Log,
	}
	if o.Deadline > 0 {
		ro.Deadline = o.Deadline.String()
	}
	e, err := run.New(ro)
	if err != nil {
		return nil, err
	}
	r, err := e.Run(ctx)
	if r == nil {
		return nil, err
	}
	s := r.Summary
	res := &Result{
		Flow: time.Duration(s.Flow), Tasks: s.Tasks, Attempts: s.Attempts, Clones: s.Clones, Resumed: s.Recovered,
		Fruitful: time.Duration(s.Fruitful), Fruitless: time.Duration(s.Fruitless), DeadlineMet: r.Deadline != nil && r.Deadline.Met, result: r,
	}
	if err != nil && s.State == "failed" {
		err = failed{err}
	}
	return res, err
}

// WriteText writes the summary that 'tailcut run' ends with.
func (r *Result) WriteText(w io.Writer) error { return r.result.WriteText(w) }

// WriteJSON writes the result for programs.
func (r *Result) WriteJSON(w io.Writer) error { return r.result.WriteJSON(w) }

// array is the job as the engine has it, where stages are numbered.
func (j *Job) array() (jobfile.Job, error) {
	a, number := &jobfile.Array{}, map[string]int{}
	find := func(names []string) (all []int, err error) {
		for _, name := range names {
			i, known := number[name]
			if !known {
				return nil, fmt.Errorf("stage %q is not among those before; stages stand after those that they wait for", name)
			}
			all = append(all, i)
		}
		return all, nil
	}
	for i, s := range j.Stages {
		after, err := find(s.After)
		if err != nil {
			return jobfile.Job{}, fmt.Errorf("stages[%d].after: %w", i, err)
		}
		each, err := find(s.AfterEach)
		if err != nil {
			return jobfile.Job{}, fmt.Errorf("stages[%d].after_each: %w", i, err)
		}
		if s.Name == "" && len(j.Stages) == 1 {
			s.Name = jobfile.SoleStage
		}
		var given *inputs.Rows
		if s.Inputs != nil {
			if given, err = inputs.Pack(s.Inputs); err != nil {
				return jobfile.Job{}, fmt.Errorf("stages[%d].inputs: %w", i, err)
			}
			if s.Tasks == 0 {
				s.Tasks = given.Count
			}
		}
		number[s.Name] = i
		a.Stages = append(a.Stages, jobfile.Stage{
			Name: s.Name, Tasks: s.Tasks, Command: s.Command, Inputs: given, Env: s.Env, After: after, AfterEach: each, Resumable: s.Resumable,
		})
	}
	if len(a.Stages) == 0 {
		return jobfile.Job{}, errors.New("a job has at least one stage")
	}
	job := jobfile.Job{Array: a, Retries: j.Retries}
	switch {
	case j.Retries == 0:
		job.Retries = 3
	case j.Retries < 0:
		job.Retries = 0
	}
	if j.KeepGoing {
		job.Loss = &jobfile.Loss{All: true}
	}
	return job, nil
}

// version is that of this module in the program, for journals.
func version() string {
	const path = "github.com/tailcut/tailcut"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == path && m.Version != "" {
				return m.Version
			}
		}
	}
	return "unknown"
}
