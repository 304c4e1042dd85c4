package results

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/mapreduce"
)

// Logs prints what a task writes: while it runs, and what is kept of it.
type Logs struct {
	Out, Err io.Writer    // standard output and error of the task
	Say      func(string) // tells the user a line about the task
	Lines    int          // the last ones of what is there already; below 0 for all
	Follow   bool         // go on until the task is done
	Attempt  int          // by its number; -1 for the first that runs, or the one that counts
	// UnderWay returns the run while a server knows how it stands, nil when its folder does. Nil for a run of its own.
	UnderWay func() (*Run, error)

	run    *Run
	task   *Result
	told   bool  // an attempt was found
	waited bool  // for the first one
	at     int64 // bytes of standard output that were printed, or passed over
	err    error // of writing
}

// Print prints the logs of the task that a word names. It returns early when ctx is done.
func (l *Logs) Print(ctx context.Context, out, word string) error {
	if err := l.find(out, word); err != nil {
		return err
	}
	for l.run.Active && l.task.State != Done {
		err := l.run.folders.AskLogs(proc.LogRequest{
			Stage: l.task.Stage, Task: l.task.Index, Attempt: l.Attempt, Lines: l.Lines, Follow: l.Follow,
		}, ctx.Done(), l.take)
		if err = cmp.Or(l.err, err); err != nil && !errors.Is(err, proc.ErrNobody) {
			return err
		}
		if ctx.Err() != nil || l.told && !l.Follow {
			return nil
		}
		if err := l.settle(out, word); err != nil {
			return err
		}
		if !l.Follow || !l.run.Active || l.task.State != Waiting {
			break
		}
		l.sayWaits() // for slots of a server, or for other jobs
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookEvery):
		}
	}
	return l.kept()
}

// lookEvery is how often it is looked whether a job that waits on a server has begun: the server lists all its tasks.
const lookEvery = time.Second

// sayWaits tells, once, that there is nothing to print yet.
func (l *Logs) sayWaits() {
	if !l.told && !l.waited {
		l.Say(fmt.Sprintf("task %s: no attempt runs yet", l.run.NameOf(l.task)))
		l.waited = true
	}
}

// find opens the run and finds the task.
func (l *Logs) find(out, word string) (err error) {
	l.run = nil
	if l.UnderWay != nil {
		l.run, err = l.UnderWay()
	}
	if l.run == nil && err == nil {
		l.run, err = open(out, true)
	}
	if err != nil {
		return err
	}
	tasks, err := l.run.Choose([]string{word})
	if err != nil {
		return err
	}
	if len(tasks) != 1 {
		return fmt.Errorf("%s: expected one task, such as %s; these are %d", word, l.run.NameOf(tasks[0]), len(tasks))
	}
	l.task = tasks[0]
	return nil
}

// settle opens the run again. An attempt that has ended well is in the journal a moment later.
func (l *Logs) settle(out, word string) error {
	for began := time.Now(); ; time.Sleep(carryOut / 50) {
		if err := l.find(out, word); err != nil || l.task.State != Running || time.Since(began) > carryOut {
			return err
		}
	}
}

// take prints a piece of the engine's answer, and tells whether there is more to hear.
func (l *Logs) take(ev *proc.LogEvent) bool {
	switch {
	case ev.None:
		if !l.Follow || l.isDone() {
			return false
		}
		l.sayWaits()
		return true
	case ev.Begun:
		if ev.Attempt > 0 || ev.Clone {
			what := ""
			if ev.Clone {
				what = ", a clone"
			}
			l.Say(fmt.Sprintf("task %s: attempt %d%s", l.run.NameOf(l.task), ev.Attempt, what))
		}
		l.told = true
	}
	if len(ev.Out) > 0 {
		// What an attempt before this one has printed is not printed again.
		if skip := max(0, l.at-ev.At); skip < int64(len(ev.Out)) {
			_, err := l.Out.Write(ev.Out[skip:])
			l.err = cmp.Or(l.err, err)
		}
		l.at = max(l.at, ev.At+int64(len(ev.Out)))
	}
	if len(ev.Err) > 0 {
		_, err := l.Err.Write(ev.Err)
		l.err = cmp.Or(l.err, err)
	}
	if ev.Ended && ev.Note != "" {
		l.Say(fmt.Sprintf("task %s: attempt %d failed: %s", l.run.NameOf(l.task), ev.Attempt, ev.Note))
	}
	return l.err == nil && !(ev.Ended && (ev.Won || ev.Note == "" && l.isDone()))
}

// isDone tells whether the journal has the task's result by now.
func (l *Logs) isDone() bool {
	again := Logs{UnderWay: l.UnderWay}
	return again.find(l.run.Out, l.run.fullName(l.task)) == nil && again.task.State == Done
}

// fullName names a task with its stage.
func (r *Run) fullName(t *Result) string { return fmt.Sprintf("%s/%d", r.Stages[t.Stage], t.Index) }

// kept prints what is kept of a task that is done or failed.
func (l *Logs) kept() error {
	r, t := l.run, l.task
	name := r.NameOf(t)
	switch {
	case t.State == Done && (l.Attempt < 0 || l.Attempt == t.Attempt):
		if r.work == nil || r.work.Array != nil || t.Stage == len(r.Stages)-1 {
			if err := l.keptOutput(); err != nil {
				return err
			}
		}
		return l.keptError(r.winnersStderr(t))
	case l.Attempt >= 0:
		return fmt.Errorf("task %s: attempt %d does not run and did not win; only the winner's output is kept", name, l.Attempt)
	case t.State == Failed:
		if !l.told {
			why := "the reason is not known any more"
			if t.Last != nil {
				why = t.Last.Note
			}
			l.Say(fmt.Sprintf("task %s failed: %s", name, why))
			return l.keptError(r.Stderr(t))
		}
	case t.State == Running && !l.told:
		l.Say(fmt.Sprintf("task %s runs, and its engine does not answer", name))
	case t.State == Waiting && !l.told:
		l.Say(fmt.Sprintf("task %s has not begun", name))
	}
	return nil
}

// keptOutput prints the committed output, behind what was printed of it.
func (l *Logs) keptOutput() error {
	in, err := l.run.Read(l.task)
	if err != nil {
		return err
	}
	defer in.Close()
	if l.told {
		if _, err := io.CopyN(io.Discard, in, l.at); err != nil { // another attempt wrote less
			return nil
		}
		_, err = io.Copy(l.Out, in)
		return err
	}
	return copyLast(l.Out, in, l.Lines)
}

func (l *Logs) keptError(path string) error {
	if path == "" || l.told {
		return nil
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	return copyLast(l.Err, in, l.Lines)
}

// winnersStderr returns the file with what the attempt that won wrote to standard error; "" if that is not kept.
func (r *Run) winnersStderr(t *Result) string {
	for _, path := range []string{
		filepath.Join(r.Out, mapreduce.StderrName, mapreduce.StderrBase(r.Stages[t.Stage], len(r.Stages) > 1, t.Index)),
		r.folders.StderrOf(live.Attempt{Stage: t.Stage, Index: t.Index, Number: t.Attempt}),
	} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// copyLast copies the last lines of a text, in a memory that does not depend on how long it is.
func copyLast(out io.Writer, in io.Reader, lines int) error {
	if lines < 0 {
		_, err := io.Copy(out, in)
		return err
	}
	const most = 64 << 10 // bytes of the lines
	if f, ok := in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Size() > most {
			if _, err := f.Seek(-most, io.SeekEnd); err != nil {
				return err
			}
		}
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, bytes.NewReader(proc.LastLines(text, lines)))
	return err
}
