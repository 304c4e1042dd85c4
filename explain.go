package tailcut

import (
	"context"
	"io"
	"time"

	"github.com/tailcut/tailcut/internal/diagnosis"
	"github.com/tailcut/tailcut/internal/durations"
	"github.com/tailcut/tailcut/internal/replay"
)

// Log is a log of tasks: a journal of Tailcut's, an event log of Spark, a history of Hadoop, a trace of Nextflow, the
// accounting of Slurm, a joblog of GNU parallel, a CSV, or a plain list of durations. Its format is recognised.
type Log struct {
	Path   string // a file or a folder
	Job    string // "" for all
	Stage  string // id or name; "" for all
	Column string // of a CSV: name, or number from 1
}

// Diagnosis says for which stages of a log clones would help.
type Diagnosis struct {
	Stages   []StageDiagnosis // first, by the time saved, where clones are worth it; then by the longest task
	Warnings []string         // what the log leaves open, a line each

	diagnosis *diagnosis.Diagnosis
}

// StageDiagnosis is what is the matter with a stage.
type StageDiagnosis struct {
	Job, Stage, Name string
	Tasks            int
	Median, Longest  time.Duration
	Verdict          Verdict
	Reason           string        // in words; "" where clones are worth it
	Policy           string        // the best, as --policy takes it; "" where the stage was not planned
	Latency, Saved   time.Duration // of the stage without clones, and what the policy saves of it, on average
	MachineSaved     time.Duration // of machine time; negative where clones cost more than they save
}

// Verdict is what a diagnosis comes to.
type Verdict string

// The verdicts.
const (
	Replicate Verdict = Verdict(diagnosis.Replicate) // clones are worth it
	FewTasks  Verdict = Verdict(diagnosis.FewTasks)  // too few tasks to tell
	LightTail Verdict = Verdict(diagnosis.LightTail) // no task is much slower than the others
	DataSkew  Verdict = Verdict(diagnosis.DataSkew)  // slow tasks have more to read: a clone would be as slow
	SlowHost  Verdict = Verdict(diagnosis.SlowHost)  // slow tasks ran on one machine
)

// Explain reads a log and plans each of its stages, on all cores. The error is of one line that names file, line and
// what was expected, or that of ctx.
func Explain(ctx context.Context, l Log) (*Diagnosis, error) {
	d := &Diagnosis{}
	log := durations.Log{Path: l.Path, Job: l.Job, Stage: l.Stage, Column: l.Column, Tell: func(line string) { d.Warnings = append(d.Warnings, line) }}
	stages, hosts, err := log.Stages()
	if err != nil {
		return nil, err
	}
	r := diagnosis.Defaults()
	r.Log, r.Stages, r.Hosts = log.Name(), stages, hosts
	r.Application, r.Again = log.Course.Application, replay.New(r.Log, stages, log.Course, 0)
	if d.diagnosis, err = diagnosis.Explain(ctx, r); err != nil {
		return nil, err
	}
	for _, s := range d.diagnosis.Stages {
		d.Stages = append(d.Stages, StageDiagnosis{
			Job: s.Job, Stage: s.Stage, Name: s.Name, Tasks: s.Tasks, Median: span(s.Median), Longest: span(s.Longest),
			Verdict: Verdict(s.Verdict), Reason: s.Reason, Policy: s.Policy,
			Latency: optional(s.Latency), Saved: optional(s.Saved), MachineSaved: optional(s.SavedMachine),
		})
	}
	return d, nil
}

// WriteText writes the diagnosis as 'tailcut plan explain' does, of all stages.
func (d *Diagnosis) WriteText(w io.Writer) error { return d.diagnosis.WriteText(w, 0) }

// WriteJSON writes the diagnosis for programs.
func (d *Diagnosis) WriteJSON(w io.Writer) error { return d.diagnosis.WriteJSON(w) }

// optional is a number of seconds that may not be known: then 0.
func optional(seconds *float64) time.Duration {
	if seconds == nil {
		return 0
	}
	return span(*seconds)
}
