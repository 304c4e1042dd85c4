package run

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/inputs"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/live/remote"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/results"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// Request is what a user asks for. It is kept in the journal: only the same request takes up an unfinished run.
type Request struct {
	Job    jobfile.Job `json:"job"`
	Dir    string      `json:"dir,omitempty"` // working directory of commands
	Policy string      `json:"policy"`
	Slots  int         `json:"slots"`
	// Classes of the slots, in order; none if all are alike.
	Classes []ClassSlots `json:"classes,omitempty"`
	Seed    uint64       `json:"seed"`
	Limits  sched.Limits `json:"limits"`

	Deadline string     `json:"deadline,omitempty"` // as given
	Value    float64    `json:"value,omitempty"`
	Late     sched.Late `json:"late,omitzero"`
	Law      string     `json:"law,omitempty"` // of an attempt's duration

	// Of runs whose attempts or data are not on this machine.
	On     string `json:"on,omitempty"`
	Output string `json:"output,omitempty"` // URL

	Sites       *siteRequest         `json:"sites,omitempty"` // nil where there is one place
	Whereabouts *jobfile.Whereabouts `json:"whereabouts,omitempty"`
}

// Options say what to run and how. Output has to be said; what else is not is as with 'tailcut run' without flags, but
// for Seed and the job's Retries, whose zero is a zero.
type Options struct {
	Job jobfile.Job
	Dir string // working directory of commands: an absolute path, "" for the program's own

	Policy string // specification, "" for policy.Default; min_age is a second unless it says otherwise
	Slot   string // length of a slot as a duration, for policies that decide by slots and name none
	Slots  int    // attempts that run at once, 0 for one per processor; with sites they have the slots
	// Classes are those of the slots, which are Slots together; nil if all are alike.
	Classes []ClassSlots
	// File that says how many attempts run at once from then on, read again while the run goes; "" for none. SlotsOfPC
	// says that Slots were reckoned from what this machine has.
	SlotsFile string
	SlotsOfPC bool
	Seed      uint64
	Limits    sched.Limits // the zero value is sched.DefaultLimits

	// Of a job among others, on a server: a higher Priority goes first where the policy looks at it, Weight is its
	// share where that counts, 0 for 1, and it starts when the jobs After, ids or names, have succeeded.
	Priority int32
	Weight   float64
	After    []string

	Deadline string     // a duration such as 10m from the start, or an instant as RFC 3339 has it; "" for none
	Value    float64    // of the job by its deadline; 0 for its weight
	Late     sched.Late // what becomes of it after its deadline
	Law      string     // of an attempt's duration in seconds, for the policy and the deadline
	Name     string     // under which durations are kept for later runs; "" keeps none
	History  string     // folder where they are kept; "" for the user's state folder, NoHistory for none

	Output string // folder, or URL such as s3://bucket/prefix
	On     string // where attempts run: remote.Local, which "" stands for, or remote.Kubernetes
	Pods   remote.Pods

	Sites   []string // emulated sites, NAME=SLOTS[,speed=F][,bandwidth=RATE]
	Cluster string   // file with sites in their place
	Data    []string // input that is at a site, SITE=PATH
	// Whereabouts says where data is, in the place of Data, and where it may be; nil for nothing. It needs sites.
	Whereabouts *jobfile.Whereabouts

	Timeout jobfile.Timeout // an attempt that runs longer fails; stages may have their own, as of the next two
	// Bytes that an attempt needs: no more start than there is room for, and one that uses more fails; 0 for no limit.
	Memory  int64
	Nice    int           // niceness of attempts, 1 to jobfile.MostNice; 0 for that of the program
	MemFree int64         // bytes of free memory below which nothing starts; 0 for no limit
	Load    float64       // processes that run, or wait for a disk, at which nothing starts; 0 for no limit
	Delay   time.Duration // between two starts
	MaxLine int64         // bytes of the longest line or word that operators take, 0 for mapreduce.DefaultMaxLine
	Disturb string        // slow=0.1,factor=8,fail=0.02 slows and fails attempts on purpose
	Notify  []string      // commands and URLs that are told how the run ends, and that its deadline is at risk
	Joblog  string        // file that gets a line per attempt, in GNU parallel's columns
	Force   bool          // replace what the output holds of an earlier run
	// The command of an unfinished run may be another now: it is used for the tasks that are not done.
	ResumeChanged bool
	Again         string // what to paste into a shell to ask for the same again; "" if nobody knows

	Print  Printing        // what of the tasks' output is printed while the run goes
	Stderr proc.StderrKept // of which attempts the standard error is kept; "" for proc.KeepFailed

	Version string    // of the program, for the journal
	Stdin   io.Reader // what a job reads in blocks, if it does; nil for nothing

	Log io.Writer // where the user is told how the run goes; a terminal gets a screen; nil for nobody
}

// NoHistory is the history that keeps nothing.
const NoHistory = "none"

// MostSlots bounds the attempts that run at once.
const MostSlots = 1 << 16

// defaultPods is how many attempts run at once on Kubernetes unless the options say.
const defaultPods = 10

// outline is the request as the journal keeps it: the values of tasks are known by their digest.
func (r *Request) outline() *Request {
	o := *r
	o.Job = r.Job.Outline()
	return &o
}

// Engine is one run of a job, or one more start of it.
type Engine struct {
	Request
	o       Options
	out     string // absolute path, or URL
	folders proc.Folders
	disturb proc.Disturb
	sites   *runSites      // nil where there is one place
	lock    *os.File       // of the run's folder, nil for a cloud's
	history string         // file of the durations in earlier runs, "" for none
	odd     string         // about the policy, "" for nothing
	again   bool           // the output folder held the run already
	scratch bool           // the output is printed, and its folder removed
	tags    *results.Tags  // that stand before what is printed
	blocks  *inputs.Blocks // of the stream that the job reads; nil for none, or before it is read
	cloud   *cloud         // nil: attempts are processes, between files of this machine
	server  *Server        // that the job is of; nil for a run of its own
	tried   map[int]int    // attempts that the tasks of a job of a server had before, see trace.JournalJob
	env     []string       // of the attempts; nil for that of the program
}

// Failure is an error that is not the user's: the request was good, and something did not work.
type Failure struct{ error }

// Unwrap returns the error itself.
func (f Failure) Unwrap() error { return f.error }

// New checks what is asked for, as far as can be told without looking at the job's input. An error about one of the
// options is a [grammar.FieldError] that names the flag of 'tailcut run'.
func New(o Options) (*Engine, error) {
	o.Policy, o.MaxLine, o.On = cmp.Or(o.Policy, policy.Default), cmp.Or(o.MaxLine, mapreduce.DefaultMaxLine), cmp.Or(o.On, remote.Local)
	if err := o.Job.Check(); err != nil {
		return nil, err
	}
	if o.Limits == (sched.Limits{}) {
		o.Limits = sched.DefaultLimits()
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	e := &Engine{o: o, Request: Request{Job: o.Job, Dir: o.Dir, Slots: o.Slots, Classes: slices.Clone(o.Classes), Seed: o.Seed, Limits: o.Limits, Deadline: o.Deadline, Value: o.Value, Late: o.Late, Law: o.Law}}
	if err := e.place(); err != nil {
		return nil, err
	}
	if err := e.settle(); err != nil {
		return nil, err
	}
	if err := e.checkText(); err != nil {
		return nil, err
	}
	return e, nil
}

// place makes paths absolute: the same request from another folder is another.
func (e *Engine) place() (err error) {
	if e.Dir == "" {
		if e.Dir, err = os.Getwd(); err != nil {
			return err
		}
	}
	if e.Job.MapReduce == nil {
		return nil
	}
	mr := *e.Job.MapReduce
	mr.Inputs = slices.Clone(mr.Inputs)
	for i, path := range mr.Inputs {
		if abs, err := filepath.Abs(path); err == nil && !IsURL(path) {
			mr.Inputs[i] = abs
		}
	}
	if e.Job.MapReduce = &mr; mr.Operator.Name != "streaming" {
		e.Dir = "" // nothing depends on it
	}
	return nil
}

// settle makes a request of the options.
func (e *Engine) settle() (err error) {
	o := &e.o
	if e.Job.Retries < 0 || e.Job.Retries > sched.MaxRetries {
		return grammar.Wrong("retries", fmt.Errorf("expected a number between 0 and %d, not %d", sched.MaxRetries, e.Job.Retries))
	}
	if err := e.settleLimits(); err != nil {
		return err
	}
	if err := e.settleSites(); err != nil {
		return err
	}
	if e.Slots == 0 {
		e.Slots = Cores()
	}
	if err := e.settlePolicy(); err != nil {
		return err
	}
	if o.Deadline != "" {
		if _, err := deadlineAt(o.Deadline, time.Time{}); err != nil {
			return grammar.Wrong("deadline", err)
		}
	}
	if err := o.checkLate(); err != nil {
		return err
	}
	if o.Disturb != "" {
		if e.disturb, err = proc.ParseDisturb(o.Disturb); err != nil {
			return grammar.Wrong("disturb", err)
		}
		e.disturb.Seed = o.Seed
	}
	if o.Output == "" {
		return grammar.Wrong("output", errors.New("expected a folder or a URL, not nothing"))
	}
	if e.scratch = o.Output == Scratch; e.scratch && o.Print.To == nil {
		return grammar.Wrong("output", errors.New("expected a folder or a URL"))
	}
	if e.out, err = filepath.Abs(o.Output); err != nil {
		return err
	}
	if err := e.settleNotify(); err != nil {
		return err
	}
	e.folders = proc.Folders{Root: filepath.Join(e.out, mapreduce.PrivateName)}
	e.history = o.historyFile()
	if err := e.settlePrinting(); err != nil {
		return err
	}
	if err := e.settleCloud(); err != nil || e.cloud == nil {
		return err
	}
	return e.o.checkCloudOutput()
}

// settlePolicy fits the policy to a single job that runs now, or that of each class of slots. One that sets the speed
// of machines cannot be had.
func (e *Engine) settlePolicy() (err error) {
	if d, err := time.ParseDuration(cmp.Or(e.o.Slot, "0s")); err != nil || d < 0 {
		return grammar.Wrong("slot", fmt.Errorf("expected a duration of at least 0, such as 500ms, not %q", e.o.Slot))
	}
	parts := strings.Split(e.o.Policy, "/")
	for i := range parts {
		if parts[i], err = e.fitPolicy(parts[i]); err != nil {
			return err
		}
	}
	e.Policy = strings.Join(parts, "/")
	if _, err := policy.NewPerClass(e.Policy, 0, max(1, len(e.Classes))); err != nil {
		return grammar.Wrong("policy", err)
	}
	return e.confine()
}

// fitPolicy fits a policy, for all slots or those of a class.
func (e *Engine) fitPolicy(spec string) (fitted string, err error) {
	fit := func(change func() (string, error)) {
		if err == nil {
			spec, err = change()
		}
	}
	fit(func() (string, error) { return policy.WithDefault(spec, "slot", cmp.Or(e.o.Slot, "0s")) })
	fit(func() (string, error) { return policy.Live(spec) })
	fit(func() (string, error) {
		odd, err := policy.Fit(spec, policy.Place{Name: "a run", Sites: e.sites != nil, Classes: len(e.Classes) > 1})
		e.odd = cmp.Or(e.odd, odd)
		return spec, err
	})
	fit(func() (string, error) {
		p, err := policy.New(spec, 0)
		if err == nil && sched.Paces(p) {
			err = live.ErrPaces
		}
		return spec, err
	})
	if err != nil {
		return "", grammar.Wrong("policy", err)
	}
	if spec, err = policy.WithLaw(spec, e.o.Law); err != nil {
		return "", grammar.Wrong("law", err)
	}
	return policy.Canonical(spec)
}

// checkText refuses what cannot be kept as it is: requests, work and attempts' specifications are JSON, whose strings
// are UTF-8, and a byte that is not would become another without a word. Files of the input may have any name.
func (e *Engine) checkText() error {
	if e.Job.Array != nil {
		for i := range e.Job.Array.Stages {
			st := &e.Job.Array.Stages[i]
			for _, arg := range st.Command {
				if err := isText("the command of stage "+st.Name, arg); err != nil {
					return err
				}
			}
			for _, kv := range st.Env {
				if err := isText("the environment of stage "+st.Name, kv); err != nil {
					return err
				}
			}
		}
	}
	if err := isText("the working directory", e.Dir); err != nil {
		return err
	}
	return isText("--output", e.out)
}

func isText(what, text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("%s: expected valid UTF-8, got %q", what, text)
	}
	return nil
}
