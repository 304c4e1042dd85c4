package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// difference is one between what a run was begun with and what is asked for now.
type difference struct {
	what, was, is string
	fix           string // that makes it as it was; "" for none
	settled       bool   // the run may go on with it
	mends         bool   // it may with Options.ResumeChanged: only tasks that are not done run otherwise
}

// compare lists the differences of two requests. What may differ is what no result depends on: how many attempts run at
// once, where and how often, by when, and who decides that. Where sites are emulated, the seed says what is at which
// site.
func (was *Request) compare(is *Request) (all []difference) {
	inputs := inputsApart(&was.Job, &is.Job)
	was, is = was.outline(), is.outline()
	sites := was.Sites != nil || is.Sites != nil
	add := func(what, old, now, fix string, settled bool) {
		if old != now {
			all = append(all, difference{what: what, was: old, is: now, fix: fix, settled: settled})
		}
	}
	flag := func(name, old, now string, settled bool) {
		add("--"+name, cmp.Or(old, "not given"), cmp.Or(now, "not given"), "--"+name+" "+pasteWord(old), settled)
	}
	flag("policy", was.Policy, is.Policy, true)
	flag("slots", slotsText(was.Slots, was.Classes), slotsText(is.Slots, is.Classes), !sites && sameClasses(was, is))
	flag("retries", strconv.Itoa(was.Job.Retries), strconv.Itoa(is.Job.Retries), true)
	flag("seed", strconv.FormatUint(was.Seed, 10), strconv.FormatUint(is.Seed, 10), !sites)
	flag("max-attempts", limitText(&was.Limits), limitText(&is.Limits), true)
	flag("clone-budget", budgetText(was.Limits.Clones), budgetText(is.Limits.Clones), true)
	flag("law", was.Law, is.Law, true)
	flag("deadline", was.Deadline, is.Deadline, true)
	flag("late", was.Late.String(), is.Late.String(), false)
	flag("value", valueText(was.Value), valueText(is.Value), false)
	add("failed tasks:", lossText(&was.Job), lossText(&is.Job), lossText(&was.Job), true)
	add("the command", jobText(&was.Job), jobText(&is.Job), jobText(&was.Job), false)
	if jobText(&was.Job) == jobText(&is.Job) {
		add("the working directory", pasteWord(was.Dir), pasteWord(is.Dir), "cd "+pasteWord(was.Dir), false)
	}
	all = append(all, inputs...)
	flag("on", was.On, is.On, false)
	flag("output", was.Output, is.Output, false)
	add(sitesDiffer, jsonText(was.Sites), jsonText(is.Sites), "", false)
	if jsonText(was.Whereabouts) != jsonText(is.Whereabouts) {
		add(dataDiffers, "another", "as given", "", false)
	}
	if a, b := was.Job.MapReduce, is.Job.MapReduce; a != nil && b != nil {
		flag("split-size", fmt.Sprint(a.SplitSize), fmt.Sprint(b.SplitSize), false)
		flag("reducers", strconv.Itoa(a.Reducers), strconv.Itoa(b.Reducers), false)
	}
	if a, b := was.Job.Array, is.Job.Array; a != nil && b != nil && len(a.Stages) == len(b.Stages) {
		for i := range a.Stages {
			s, t := &a.Stages[i], &b.Stages[i]
			add("the limits of stage "+pasteWord(s.Name), cmp.Or(s.Limits.String(), "none of its own"), cmp.Or(t.Limits.String(), "none of its own"), "", true)
		}
	}
	if a, b := was.Job.Array, is.Job.Array; a != nil && b != nil && len(a.Stages) > 1 && len(a.Stages) == len(b.Stages) {
		for i := range a.Stages {
			s, t := &a.Stages[i], &b.Stages[i]
			if x, y := commandText(s), commandText(t); x != y {
				add("stage "+pasteWord(s.Name), x, y, "", false)
			} else if jsonText(unlimited(s)) != jsonText(unlimited(t)) { // an environment is not for the screen
				add("stage "+pasteWord(s.Name), "declared otherwise", "as in the job file", "", false)
			}
		}
	}
	if a, b := jsonText(identity(was.Job)), jsonText(identity(is.Job)); a != b && !slices.ContainsFunc(all, func(d difference) bool { return !d.settled }) {
		add("the job", "another", "as given", "", false)
	}
	if len(inputs) == 0 && sameTasks(&was.Job, &is.Job) {
		for i := range all {
			d := &all[i]
			d.mends = !d.settled && !strings.HasPrefix(d.what, "--") && d.what != sitesDiffer && d.what != dataDiffers
		}
	}
	return all
}

// What no change of a command mends.
const (
	sitesDiffer = "the sites"
	dataDiffers = "what the job file says of data"
)

// valueText writes a value as it is given, "" if it is not.
func valueText(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// sameTasks tells whether two jobs of commands have the same tasks, which wait for each other alike, whatever they run.
func sameTasks(was, is *jobfile.Job) bool {
	if was.Array == nil || is.Array == nil || len(was.Array.Stages) != len(is.Array.Stages) {
		return false
	}
	for i := range was.Array.Stages {
		s, t := &was.Array.Stages[i], &is.Array.Stages[i]
		if s.Name != t.Name || s.Tasks != t.Tasks || s.Resumable != t.Resumable || !slices.Equal(s.After, t.After) || !slices.Equal(s.AfterEach, t.AfterEach) {
			return false
		}
	}
	return true
}

// identity is what of a job its results depend on.
func identity(j jobfile.Job) jobfile.Job {
	j.Name, j.Retries, j.Loss = "", 0, nil
	if j.Array != nil {
		a := *j.Array
		a.Stages = slices.Clone(a.Stages)
		for i := range a.Stages {
			a.Stages[i] = unlimited(&a.Stages[i])
		}
		j.Array = &a
	}
	return j
}

// unlimited is a stage without its limits, on which no result depends.
func unlimited(st *jobfile.Stage) jobfile.Stage {
	s := *st
	s.Limits = jobfile.Own{}
	return s
}

// jobText is a job as one would give it to run, without what has a flag of its own.
func jobText(j *jobfile.Job) string {
	var words []string
	if mr := j.MapReduce; mr != nil {
		op := mr.Operator
		switch op.Name {
		case "streaming":
			words = append(words, "--mapper", pasteWord(op.Mapper))
			if op.Combiner != "" {
				words = append(words, "--combiner", pasteWord(op.Combiner))
			}
			if op.Reducer != "" {
				words = append(words, "--reducer", pasteWord(op.Reducer))
			}
			if op.ByLine {
				words = append(words, "--resumable")
			}
		default:
			words = append(words, op.Name)
			if op.Pattern != "" {
				words = append(words, pasteWord(op.Pattern))
			}
		}
		for _, path := range mr.Inputs {
			words = append(words, pasteWord(path))
		}
		return strings.Join(words, " ")
	}
	if len(j.Array.Stages) > 1 {
		return "a job of " + show.Count(len(j.Array.Stages), "stage")
	}
	st := &j.Array.Stages[0]
	switch {
	case st.Pipe != nil && st.Pipe.File != "":
		words = []string{"--pipe-part", "-a", pasteWord(st.Pipe.File)}
	case st.Pipe != nil:
		words = []string{"--pipe"}
	case st.Inputs == nil:
		words = []string{"--tasks", strconv.Itoa(st.Tasks)}
	}
	if st.Resumable {
		words = append(words, "--resumable")
	}
	return strings.Join(append(words, "--", commandText(st)), " ")
}

func commandText(st *jobfile.Stage) string {
	if st.Line {
		return pasteWord(st.Command[len(st.Command)-1])
	}
	return PasteWords(st.Command)
}

// keepLimits lets a run go on with the limits that nobody asked for as it began: earlier versions did not note that
// they follow the policy.
func (e *Engine) keepLimits(was *Request) {
	former := sched.DefaultLimits()
	former.OwnAttempts, former.Clones.Own = false, false
	if was.Limits == former && e.Limits == sched.DefaultLimits() {
		e.Limits = former
	}
}

func budgetText(b sched.CloneBudget) string {
	switch b {
	case sched.DefaultLimits().Clones:
		return "default"
	case sched.NoLimits().Clones:
		return "none"
	}
	return strconv.Itoa(b.Floor)
}

func limitText(l *sched.Limits) string {
	switch {
	case l.OwnAttempts:
		return "default"
	case l.Attempts == sched.Unlimited:
		return "none"
	}
	return strconv.Itoa(l.Attempts)
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// pasteWord quotes a word for a shell and a terminal.
func pasteWord(word string) string { return show.ShellWord(word) }

// resume opens the run that the output folder holds, if it is of what is asked for.
func (e *Engine) resume(path string, asked []byte) (*live.Run, error) {
	run, err := live.Open(path, policyOf)
	if err != nil {
		return nil, e.unreadable(err)
	}
	if err := e.adapt(run, asked); err != nil {
		return nil, errors.Join(err, run.Close())
	}
	e.folders.Run = run.Header.Folder()
	if err := e.sameStream(run.Header); err != nil {
		return nil, errors.Join(err, run.Close())
	}
	return run, nil
}

// adapt has a run go on with what is asked for otherwise than before, or says what cannot be otherwise.
func (e *Engine) adapt(run *live.Run, asked []byte) error {
	if e.complete() && run.State() != sched.JobSucceeded {
		return fmt.Errorf("%s: holds a finished result, and the run in %s has not finished; name another --output, or replace both with --force",
			e.out, mapreduce.PrivateName)
	}
	if e.cloud == nil && e.complete() { // those in stores say themselves whose they are
		if m, err := mapreduce.ReadManifest(e.manifest()); err == nil && m.Run != run.Header.Run {
			return fmt.Errorf("%s: holds the finished result of run %s and, in %s, the journal of run %s; name another --output, or replace both with --force",
				e.out, m.Run, mapreduce.PrivateName, run.Header.Run)
		}
	}
	if bytes.Equal(run.Header.Command, asked) {
		return nil
	}
	var was Request
	if err := json.Unmarshal(run.Header.Command, &was); err != nil {
		return fmt.Errorf("%s: command: %w", e.folders.Journal(), err)
	}
	was.recall(run.Header.Work)
	if e.server != nil {
		was.Classes = nil // the job gets those of the server
	}
	e.keepOrder(&was)
	e.keepLimits(&was)
	asked, err := e.asked()
	if err != nil {
		return err
	}
	all := was.compare(&e.Request)
	mends := false
	for _, d := range all {
		mends = mends || d.mends
		if !d.settled && !(d.mends && e.mayMend(run)) {
			return e.foreign(run, slices.DeleteFunc(all, func(d difference) bool { return d.settled }))
		}
	}
	if len(all) == 0 || run.State() == sched.JobSucceeded { // a name, or nothing that matters any more
		return nil
	}
	settings := &trace.Settings{
		Version: e.o.Version, Policy: e.Policy, Seed: e.Seed, Limits: e.Limits, Retries: e.Job.Retries, Stages: e.stageRetries(),
		MaxFailed: e.mayFail(&run.Header.Job), Machines: e.machines(), Command: asked,
	}
	if was.Deadline != e.Deadline {
		d, err := e.laterDeadline(run)
		if err != nil {
			return err
		}
		settings.Deadline = &d
	}
	if mends {
		work, err := e.newWork()
		if err != nil {
			return err
		}
		settings.Work = work
	}
	err = run.Change(settings)
	if errors.Is(err, live.ErrUnnamed) {
		return e.foreign(run, all)
	}
	if err != nil {
		return err
	}
	var changed []string
	for _, d := range all {
		changed = append(changed, fmt.Sprintf("%s %s (was %s)", d.what, d.is, d.was))
	}
	if e.server == nil { // which decides itself about most
		fmt.Fprintf(e.o.Log, "resumed with %s\n", strings.Join(changed, ", "))
	}
	return nil
}

// mayMend tells whether the tasks of a run that are not done may be run with another command.
func (e *Engine) mayMend(run *live.Run) bool {
	return e.o.ResumeChanged && e.cloud == nil && run.State() != sched.JobSucceeded
}

// newWork is what attempts do from now on.
func (e *Engine) newWork() ([]byte, error) {
	p, err := e.Job.Plan(context.Background(), cmp.Or(e.Dir, "/")) // an array: no input is looked at
	if err != nil {
		return nil, err
	}
	return json.Marshal(p.Work)
}

// foreign refuses to go on with a run: it says what differs, what makes it the same, and what is at stake.
func (e *Engine) foreign(run *live.Run, all []difference) error {
	var differ, fixes []string
	for _, d := range all {
		differ = append(differ, fmt.Sprintf("%s was %s and is %s", d.what, d.was, d.is))
		if d.fix != "" && d.was != "not given" {
			fixes = append(fixes, d.fix)
		}
	}
	tasks := 0
	for i := range run.Header.Job.Stages {
		tasks += run.Header.Job.Stages[i].Tasks
	}
	if run.State() == sched.JobSucceeded {
		return fmt.Errorf("%s: holds the result of another command: %s; name another --output, or replace the result with --force",
			e.out, strings.Join(differ, "; "))
	}
	resume := ""
	if len(fixes) > 0 {
		resume = "resume it with: " + strings.Join(fixes, " ") + "; "
	}
	switch left := tasks - run.Recovered; {
	case e.o.ResumeChanged:
		resume += "--resume-changed takes another command, environment or working directory for the same tasks; "
	case e.cloud == nil && !slices.ContainsFunc(all, func(d difference) bool { return !d.mends }):
		resume += fmt.Sprintf("add --resume-changed to use the new command for the %s not done; ", show.Count(left, "task"))
	}
	return fmt.Errorf("%s: holds an unfinished run with %d of %s done, and %s; %sor name another --output (--force throws away what is done)",
		e.out, run.Recovered, show.Count(tasks, "task"), strings.Join(differ, "; "), resume)
}

// policyOf returns a fresh policy of a run.
func policyOf(h *trace.JournalHeader) (sched.Policy, error) {
	return policy.NewPerClass(h.Policy, h.Seed, h.Classes())
}
