package run

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/live/remote"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/notify"
	"github.com/tailcut/tailcut/sched"
)

// Submission is a job as it is handed to a server, which decides about slots and policy: as data, with absolute paths,
// since the server works elsewhere.
type Submission struct {
	Job  jobfile.Job `json:"job" doc:"commands, or map/reduce work: one of array and mapreduce"`
	Name string      `json:"name,omitempty" doc:"that the job is found by, and under which durations are kept; the job's own if empty"`
	Dir  string      `json:"dir,omitempty" doc:"working directory of commands"`
	// Env is the environment of the commands. Without it they have that of the server.
	Env    []string `json:"env,omitempty" doc:"NAME=value; that of the server if left out"`
	Output string   `json:"output" doc:"folder of the results"`

	Priority int32      `json:"priority,omitempty" doc:"a higher one goes first, under policies that look at it"`
	Weight   float64    `json:"weight,omitempty" doc:"share under policies that look at it; 0 stands for 1"`
	After    []string   `json:"after,omitempty" doc:"jobs, by id or name, that have to succeed before this one starts"`
	Deadline string     `json:"deadline,omitempty" doc:"a duration such as 10m from the submission, or an instant as RFC 3339 has it"`
	Value    float64    `json:"value,omitempty" doc:"what the job is worth by its deadline, under policies that look at it; 0 stands for the weight"`
	Late     sched.Late `json:"late,omitzero" doc:"what becomes of it after its deadline: hard, drop, or soft:COST, the value lost per minute"`
	Law      string     `json:"law,omitempty" doc:"law of an attempt's duration in seconds, for the policy and the deadline"`

	Timeout jobfile.Timeout `json:"timeout,omitzero" doc:"when an attempt fails: 10m, or 300% of the median of its stage"`
	Memory  int64           `json:"memory,omitempty" doc:"bytes that an attempt needs and may use; stages may have their own"`
	Nice    int             `json:"nice,omitempty" doc:"niceness of attempts"`
	MaxLine int64           `json:"max_line,omitempty" doc:"bytes of the longest line or word that operators take"`

	Stderr  proc.StderrKept `json:"stderr,omitempty" doc:"of which attempts the standard error is kept: keep for all, failed or none"`
	Notify  []string        `json:"notify,omitempty" doc:"commands and URLs that are told how the job ends"`
	Joblog  string          `json:"joblog,omitempty" doc:"file that gets a line per attempt"`
	History string          `json:"history,omitempty" doc:"folder of durations, or none; the user's if empty"`

	Force         bool   `json:"force,omitempty" doc:"replace what the output folder holds of an earlier run"`
	ResumeChanged bool   `json:"resume_changed,omitempty" doc:"go on with an unfinished run although its command was another"`
	Run           string `json:"run,omitempty" doc:"name of the run for which standard input was left in the output folder"`
	Again         string `json:"again,omitempty" doc:"command line that asks for the same again"`
}

// Mistakes are all that is wrong with a submission.
type Mistakes []*grammar.FieldError

// Error lists them in one line.
func (all Mistakes) Error() string {
	var lines []string
	for _, m := range all {
		lines = append(lines, m.Error())
	}
	return strings.Join(lines, "; ")
}

// Bounds of what a submission may hold besides the values of its tasks.
const (
	mostName    = 200
	mostVars    = 10_000
	mostTargets = 20
	mostAfter   = 1000
)

// check returns all that is wrong with a submission as far as can be told from it alone: nil, or Mistakes.
func (s *Submission) check() error {
	var found Mistakes
	note := func(field string, err error) {
		if err != nil {
			found = append(found, &grammar.FieldError{Field: field, Problem: err})
		}
	}
	note("job", s.Job.Check())
	if s.Job.Retries < 0 || s.Job.Retries > sched.MaxRetries {
		note("job.retries", fmt.Errorf("expected a number between 0 and %d, not %d", sched.MaxRetries, s.Job.Retries))
	}
	if len(s.Name) > mostName || strings.ContainsAny(s.Name, "\x00\n") {
		note("name", fmt.Errorf("expected one line of at most %d bytes", mostName))
	}
	if name := cmp.Or(s.Name, s.Job.Name); name != "" && strings.Trim(name, "0123456789") == "" {
		note("name", fmt.Errorf("expected a letter in it, not %q: a number stands for the id of a job", name))
	}
	for field, path := range map[string]string{"output": s.Output, "dir": s.Dir, "joblog": s.Joblog} {
		switch {
		case path == "" && field != "output":
		case IsURL(path):
			note(field, errors.New("expected a folder of this machine: the server does not write to object stores, 'tailcut run' does"))
		case !filepath.IsAbs(path):
			note(field, fmt.Errorf("expected an absolute path, not %q", path))
		}
	}
	for i, kv := range s.Env[:min(len(s.Env), mostVars)] {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" || strings.Contains(kv, "\x00") {
			note(fmt.Sprintf("env[%d]", i), errors.New("expected NAME=value"))
		}
	}
	note("env", atMost(len(s.Env), mostVars))
	note("after", atMost(len(s.After), mostAfter))
	note("notify", atMost(len(s.Notify), mostTargets))
	for i, target := range s.Notify {
		note(fmt.Sprintf("notify[%d]", i), notify.Check(target))
	}
	if s.Weight < 0 || math.IsNaN(s.Weight) || math.IsInf(s.Weight, 0) {
		note("weight", fmt.Errorf("expected a number above 0, not %v", s.Weight))
	}
	if s.Memory < 0 {
		note("memory", fmt.Errorf("expected a number of bytes, not %d", s.Memory))
	}
	if s.MaxLine < 0 || s.MaxLine > mapreduce.MaxLine {
		note("max_line", fmt.Errorf("expected a size of at most 1GiB, not %d", s.MaxLine))
	}
	if kinds := []proc.StderrKept{"", proc.KeepAll, proc.KeepFailed, proc.KeepNone}; !slices.Contains(kinds, s.Stderr) {
		note("stderr", fmt.Errorf("expected keep, failed or none, not %q", s.Stderr))
	}
	if s.Run != "" && !isRunName(s.Run) {
		note("run", errors.New("expected 16 hexadecimal digits"))
	}
	slices.SortFunc(found, func(a, b *grammar.FieldError) int { return cmp.Compare(a.Field, b.Field) })
	if len(found) == 0 {
		return nil
	}
	return found
}

func atMost(n, most int) error {
	if n > most {
		return fmt.Errorf("expected at most %d, not %d", most, n)
	}
	return nil
}

// isRunName tells whether a name is one of newRunName: it becomes a folder's.
func isRunName(name string) bool {
	return len(name) == 16 && strings.Trim(name, "0123456789abcdef") == ""
}

// Alone says why a server cannot run what the options ask for, in words that follow "runs without the server: "; "" if
// it can.
func (o *Options) Alone() string {
	switch {
	case o.On == remote.Kubernetes:
		return "attempts run on Kubernetes"
	case IsURL(o.Output):
		return "the results go to an object store"
	case o.Job.MapReduce != nil && slices.ContainsFunc(o.Job.MapReduce.Inputs, IsURL):
		return "the input is in an object store"
	case len(o.Sites) > 0 || o.Cluster != "":
		return "sites are emulated"
	case o.Whereabouts != nil:
		return "the job file says at which sites data may be, and a server has one place"
	case o.Disturb != "":
		return "--disturb slows attempts on purpose"
	case o.Output == Scratch || o.Print.To != nil:
		return "the tasks' output is printed"
	case o.MemFree > 0 || o.Load > 0 || o.Delay > 0:
		return "--memfree, --load and --delay hold one run back"
	case o.SlotsFile != "":
		return "the number of slots is read from a file"
	}
	return ""
}

// Submission is what was asked for, for a server. env is the environment of the commands; what of it is not UTF-8 is
// left out, and named.
func (e *Engine) Submission(env []string) (s *Submission, left []string) {
	o := &e.o
	s = &Submission{
		Job: e.job(), Name: o.Name, Dir: e.Dir, Output: e.out, Deadline: o.Deadline, Value: o.Value, Late: o.Late, Law: o.Law, Timeout: o.Timeout, Memory: o.Memory, Nice: o.Nice,
		MaxLine: o.MaxLine, Stderr: o.Stderr, Notify: o.Notify, Joblog: o.Joblog, History: o.History, Force: o.Force, ResumeChanged: o.ResumeChanged,
		Run: e.folders.Run, Again: o.Again, Priority: o.Priority, Weight: o.Weight, After: o.After,
	}
	for _, path := range []*string{&s.Joblog, &s.History} {
		if abs, err := filepath.Abs(*path); err == nil && *path != "" && *path != NoHistory {
			*path = abs
		}
	}
	for _, kv := range env {
		if strings.ToValidUTF8(kv, "") != kv {
			name, _, _ := strings.Cut(kv, "=")
			left = append(left, name)
			continue
		}
		s.Env = append(s.Env, kv)
	}
	return s, left
}
