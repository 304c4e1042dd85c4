package run

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sched"
)

// FailedTask is a task that has failed for good, for people and programs.
type FailedTask struct {
	Stage    string `json:"stage"`
	Task     int    `json:"task"`
	Command  string `json:"command,omitempty"` // to be pasted into a shell; "" for map/reduce work
	Attempts int    `json:"attempts"`
	Exit     int    `json:"exit,omitempty"`        // of the last attempt: its status, or 128 plus the signal
	Why      string `json:"why,omitempty"`         // in words
	Last     string `json:"last_line,omitempty"`   // of what it wrote to standard error
	Stderr   string `json:"stderr_file,omitempty"` // with the end of that
}

// mayFail returns how many tasks of a job may fail for good before the core gives it up. One that halts softly is given
// up by the loop.
func (e *Engine) mayFail(spec *sched.JobSpec) int {
	switch l := e.Job.Loss; {
	case l == nil:
		return 0
	case l.Soon:
		return sched.Unlimited
	default:
		return l.Allowed(tasksOf(spec))
	}
}

func tasksOf(spec *sched.JobSpec) (n int) {
	for i := range spec.Stages {
		n += spec.Stages[i].Tasks
	}
	return n
}

// lossText is the flag of a job that says how many tasks may fail.
func lossText(j *jobfile.Job) string {
	if j.Loss == nil {
		return (&jobfile.Loss{}).String()
	}
	return j.Loss.String()
}

// failed collects what is known of the tasks that have failed for good.
func (p *Prepared) failed(s *live.Summary) (all []FailedTask) {
	p.recall(s)
	work := p.work()
	for i := range s.Failed {
		f := &s.Failed[i]
		a := &f.Last
		x := FailedTask{Stage: s.Stages[a.Stage].Name, Task: a.Index, Attempts: f.Attempts}
		if work.Array != nil {
			x.Command = work.Array.Stages[a.Stage].Shell(a.Index)
		}
		if f.Failure != nil {
			x.Exit, x.Why = f.Failure.Exit, f.Failure.Note
		}
		if path := p.folders.Stderr(a.Stage, a.Index); p.cloud == nil {
			if text, err := os.ReadFile(path); err == nil {
				x.Stderr, x.Last = path, lastLine(text)
				if p.o.Output == Scratch { // which is gone in a moment
					x.Stderr = ""
				}
			}
		}
		all = append(all, x)
	}
	return all
}

// recall adds why tasks failed before this start, as far as the run's folder has it: the journal does not say.
func (e *Engine) recall(s *live.Summary) {
	if e.cloud != nil || !slices.ContainsFunc(s.Failed, func(f live.FailedTask) bool { return f.Failure == nil }) {
		return
	}
	last, err := e.folders.Failures()
	e.warn("why tasks failed before is not known", err)
	for i := range s.Failed {
		f := &s.Failed[i]
		if was := last[[2]int{f.Last.Stage, f.Last.Index}]; f.Failure == nil && was != nil {
			f.Failure = &live.Report{At: was.At, Kind: sched.AttemptFailed, Exit: was.Exit, Note: was.Note}
		}
	}
}

func lastLine(text []byte) string {
	text = bytes.TrimRight(text, "\r\n")
	return strings.ToValidUTF8(string(text[bytes.LastIndexByte(text, '\n')+1:]), "\uFFFD")
}

// PasteWords quotes words so that they can be shown, and pasted into a shell.
func PasteWords(args []string) string {
	var words []string
	for _, arg := range args {
		words = append(words, pasteWord(arg))
	}
	return strings.Join(words, " ")
}

// longCommand is how long a command is that people do not want to see again, in bytes.
const longCommand = 4000

// mostFailed bounds the list of failed tasks for people.
const mostFailed = 20

// writeFailed lists the failed tasks for people.
func (r *Result) writeFailed(w io.Writer) {
	if len(r.Failed) == 0 {
		return
	}
	t := show.NewTable("failed", "attempts", "exit", "command", "last line of standard error", "more in")
	t.AlignRight(2, 3)
	t.HideEmptyColumns()
	for i := range r.Failed[:min(mostFailed, len(r.Failed))] {
		x := &r.Failed[i]
		exit, last := "", x.Last
		if x.Exit > 0 {
			exit = strconv.Itoa(x.Exit)
		}
		if last == "" {
			last = x.Why
		}
		t.Row(nameTask(x.Stage, x.Task), x.Attempts, exit, shorten(x.Command), shorten(last), near(x.Stderr))
	}
	fmt.Fprintf(w, "\n%s\n", t)
	if more := len(r.Failed) - mostFailed; more > 0 {
		fmt.Fprintf(w, "and %d more; --format json lists all\n", more)
	}
	if n := r.Summary.Unfinished; n > 0 {
		fmt.Fprintf(w, "%s did not finish because of these\n", show.Count(n, "other task"))
	}
	switch {
	case r.again != "" && len(r.again) < longCommand:
		fmt.Fprintf(w, "to run just what is not done, fix the cause and repeat: %s\n", r.again)
	case r.kept:
		fmt.Fprintln(w, "to run just what is not done, fix the cause and repeat the command with the same input")
	}
}

// shorten cuts a cell so that a row fits a line, more or less.
func shorten(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// near returns a path as it is shortest to type from the working directory.
func near(path string) string {
	dir, err := os.Getwd()
	if err != nil || path == "" {
		return path
	}
	if rel, err := filepath.Rel(dir, path); err == nil && len(rel) < len(path) {
		return rel
	}
	return path
}

// tries words the failure that ended a task: the last of as many as its retries allow.
func tries(f *live.FailedTask) string {
	return fmt.Sprintf(" failed (attempt %d of %d)", f.Tries, f.Tries)
}

// blame says in one line why a job failed, and what to do.
func (e *Engine) blame(s *live.Summary) string {
	fix := "; fix the cause and run the same command again: finished tasks are kept"
	switch {
	case e.o.Output == Scratch: // the same command begins anew; what helps is said when the folder stays
		fix = ""
	case e.server != nil: // 'tailcut submit' chooses a new folder if none is named
		fix = "; fix the cause and run the same command again with --output " + pasteWord(e.out) + ": finished tasks are kept"
	}
	switch {
	case len(s.Failed) == 0:
		return "the job failed"
	case len(s.Failed) > 1:
		return fmt.Sprintf("the job failed: %d of %s failed", len(s.Failed), show.Count(s.Tasks, "task")) + fix
	}
	f := &s.Failed[0]
	line := "the job failed: " + taskName(stageNames(s), &f.Last)
	switch {
	case f.Failure == nil: // the journal does not keep what an attempt said
		line += tries(f) + " before this start"
	case f.Failure.Kind == sched.AttemptDoomed:
		line += ": " + f.Failure.Note
	default:
		line += tries(f) + ": " + f.Failure.Note
	}
	path := e.folders.Stderr(f.Last.Stage, f.Last.Index)
	if _, err := os.Stat(path); err == nil {
		line += "; its standard error is in " + near(path)
	}
	if f.Failure != nil && f.Failure.Kind == sched.AttemptDoomed && f.Failure.Exit == mapreduce.ExitStale {
		return line + "; put the file back as it was and run the same command again, or start again with --force"
	}
	return line + fix
}
