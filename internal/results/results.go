// Package results reads what a run has produced: the published parts of one that has succeeded, and the committed
// results of one that runs, was stopped or has failed. It changes nothing and needs no lock: a journal that is being
// written is read up to its last whole record.
package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/trace"
)

// State says how a task stands.
type State string

// States of tasks.
const (
	Done    State = "done"
	Failed  State = "failed"  // its last attempt failed, and none runs
	Running State = "running" // an attempt runs
	Waiting State = "waiting" // none has begun, or those that had were stopped
)

// Result is a task and what came of it.
type Result struct {
	Stage, Index int
	State        State
	Attempt      int // that won, from 0
	Failures     int // attempts that failed
	Last         *proc.Failed

	live   int    // attempts that run
	output []byte // as the journal has it; nil if a file does
	path   string // published; "" before
}

// Run is what an output folder holds of a run.
type Run struct {
	Out      string
	Name     string
	Finished bool // its result is published
	Active   bool // an engine is at work
	Stages   []string
	Tasks    []Result // whose results are the run's, by stage and index

	folders proc.Folders
	work    *jobfile.Work // nil of a finished run whose journal is gone
}

// Open reads what a folder holds. Errors are the user's, but for [trace.ErrCorrupt].
func Open(out string) (*Run, error) { return open(out, false) }

// open does the same, and takes the tasks of all stages, also of those whose results only feed others, if there is a
// journal.
func open(out string, all bool) (*Run, error) {
	r := &Run{Out: out, folders: proc.Folders{Root: filepath.Join(out, mapreduce.PrivateName)}}
	_, err := os.Lstat(filepath.Join(out, mapreduce.SuccessName))
	r.Finished = err == nil
	reader, err := trace.OpenJournalReader(r.folders.Journal())
	switch {
	case err == nil:
		h := &reader.Header
		r.Name, r.Stages, r.folders.Run, r.work = h.Run, h.Stages, h.Folder(), &jobfile.Work{}
		if err := json.Unmarshal(h.Work, r.work); err != nil {
			return nil, fmt.Errorf("%s: work: %w", r.folders.Journal(), err)
		}
	case !r.Finished && errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: expected the output folder of a run; %s is not there", out, r.folders.Journal())
	case !r.Finished:
		return nil, err
	}
	if r.Finished && (!all || reader == nil) {
		found, err := r.published()
		if found || err != nil {
			return r, err
		}
	}
	if reader == nil {
		return nil, fmt.Errorf("%s: expected the output folder of a run; neither %s nor a journal is there", out, mapreduce.ManifestName)
	}
	if err := r.scan(reader, all); err != nil {
		return nil, err
	}
	r.Active = r.folders.Running()
	return r, r.judge()
}

// published takes the tasks from the manifest; false if there is none, as versions before manifests left it.
func (r *Run) published() (bool, error) {
	m, err := mapreduce.ReadManifest(filepath.Join(r.Out, mapreduce.ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	r.Name = m.Run
	number := map[string]int{}
	for i, name := range r.Stages {
		number[name] = i
	}
	for i := range m.Parts {
		e := &m.Parts[i]
		if !e.IsPart() {
			continue
		}
		if _, known := number[e.Stage]; !known {
			number[e.Stage] = len(r.Stages)
			r.Stages = append(r.Stages, e.Stage)
		}
		r.Tasks = append(r.Tasks, Result{
			Stage: number[e.Stage], Index: e.Task, State: Done, Attempt: e.Attempt,
			path: filepath.Join(r.Out, filepath.FromSlash(string(e.Path))),
		})
	}
	return true, nil
}

// judge says how the tasks stand, now that all records are read.
func (r *Run) judge() error {
	last, err := r.folders.Failures()
	if err != nil {
		return err
	}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		t.Last = last[[2]int{t.Stage, t.Index}]
		switch {
		case t.State == Done:
		case t.live > 0 && r.Active:
			t.State = Running
		case t.Failures > 0:
			t.State = Failed
		default:
			t.State = Waiting
		}
	}
	return nil
}

// several tells whether a task has to be named by its stage too: tasks are in the order of their stages.
func (r *Run) several() bool {
	return len(r.Tasks) > 0 && r.Tasks[0].Stage != r.Tasks[len(r.Tasks)-1].Stage
}

// NameOf names a task as Choose reads it: 3, or map/3 in a run with results of several stages.
func (r *Run) NameOf(t *Result) string {
	if r.several() {
		return fmt.Sprintf("%s/%d", show.OneLine(r.Stages[t.Stage]), t.Index)
	}
	return fmt.Sprint(t.Index)
}

// Tags returns the tags of the run's tasks, see [NewTags].
func (r *Run) Tags(template string) (*Tags, error) {
	if r.work == nil {
		return NewTags(template, &jobfile.Work{})
	}
	return NewTags(template, r.work)
}

// Command returns what a task runs, as a shell would read it; "" if that is not known.
func (r *Run) Command(t *Result) string {
	switch {
	case r.work == nil:
		return ""
	case r.work.MapReduce != nil:
		return fmt.Sprintf("%s %s", r.work.MapReduce.Operator.Name, r.Stages[t.Stage])
	}
	return r.work.Array.Stages[t.Stage].Shell(t.Index)
}

// Stderr returns the file with the standard error of a task's last failure; "" if there is none.
func (r *Run) Stderr(t *Result) string {
	path := r.folders.Stderr(t.Stage, t.Index)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// UnfinishedError is the error of results that are not all there.
type UnfinishedError struct {
	Out         string
	Done, Tasks int
	Active      bool
	Failed      int
}

// Error says what there is and how to have it.
func (e *UnfinishedError) Error() string {
	how := "the run was stopped"
	switch {
	case e.Active:
		how = "the run is not finished"
	case e.Failed > 0:
		how = "the run failed"
	}
	return fmt.Sprintf("%s: %s with %d of %s done; print those with: tailcut results %s --partial",
		show.OneLine(e.Out), how, e.Done, show.Count(e.Tasks, "task"), show.ShellWord(e.Out))
}

// Complete returns an [UnfinishedError] unless all tasks are done.
func (r *Run) Complete(tasks []*Result) error {
	e := &UnfinishedError{Out: r.Out, Tasks: len(tasks), Active: r.Active}
	for _, t := range tasks {
		switch t.State {
		case Done:
			e.Done++
		case Failed:
			e.Failed++
		}
	}
	if e.Done == e.Tasks {
		return nil
	}
	return e
}
