package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/term"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/results"
	"github.com/tailcut/tailcut/internal/show"
)

// Scratch is the output of a run whose results are printed, and kept no longer than the run takes.
const Scratch = "-"

// checkCloudOutput refuses what is only for runs between files of this machine.
func (o *Options) checkCloudOutput() error {
	const here = "is for runs whose data and attempts are on this machine"
	switch {
	case o.Output == Scratch:
		return grammar.Wrong("output", fmt.Errorf("- %s", here))
	case o.Print.To != nil:
		return fmt.Errorf("printing %s; leave out --keep-order, --print and --line-buffer", here)
	case o.Stderr != "" && o.Stderr != proc.KeepFailed:
		return grammar.Wrong("stderr", fmt.Errorf("%s %s", o.Stderr, here))
	}
	return nil
}

// settlePrinting finds out what stands before the lines that are printed.
func (e *Engine) settlePrinting() (err error) {
	if !e.o.Print.Tag {
		return nil
	}
	if e.tags, err = results.NewTags(e.o.Print.Text, &jobfile.Work{Array: e.o.Job.Array}); err != nil {
		return grammar.Wrong("tagstring", err)
	}
	return nil
}

// runScratch runs the job in a new folder that is removed at the end. If the job fails or is interrupted with tasks
// done, these are worth more than a tidy folder for temporary files: it stays, and the user is told.
func (e *Engine) runScratch(ctx context.Context) (*Result, error) {
	dir, err := os.MkdirTemp("", "tailcut-")
	if err != nil {
		return nil, Failure{err}
	}
	e.out, e.folders.Root, e.o.Again = dir, filepath.Join(dir, mapreduce.PrivateName), ""
	res, err := e.runHere(ctx)
	kept := err != nil && !errors.Is(err, ErrClosed) && e.doneTasks() > 0
	if !kept {
		e.warn("the folder for temporary files is still there", mapreduce.RemoveAll(dir))
		return res, err
	}
	e.notice("finished tasks are kept in %s: print them with 'tailcut results %s --partial', or rerun the command with -o %s -k to resume",
		dir, show.ShellWord(dir), show.ShellWord(dir))
	return res, err
}

// doneTasks counts the tasks that are done, as far as can be told.
func (e *Engine) doneTasks() (n int) {
	r, err := results.Open(e.out)
	if err != nil {
		return 0
	}
	for i := range r.Tasks {
		if r.Tasks[i].State == results.Done {
			n++
		}
	}
	return n
}

// printing has what is committed printed, if that is asked for. It returns what stands for the executor and the
// context, and the printer, which is nil if there is none.
func (p *Prepared) printing(ctx context.Context, inner live.Executor, s *screen) (live.Executor, context.Context, *printer) {
	if p.o.Print.To == nil {
		return inner, ctx, nil
	}
	var tasks []int
	for i := range p.Header.Job.Stages {
		tasks = append(tasks, p.Header.Job.Stages[i].Tasks)
	}
	x := newPrinter(inner, p.o.Print, p.folders, p.work(), tasks)
	ctx, stop := context.WithCancel(ctx)
	x.warn, x.failed = func(format string, args ...any) { s.say(fmt.Sprintf(format, args...)) }, func(error) { stop() }
	if local, ok := inner.(*proc.Executor); ok {
		x.peek = local.Peek
	}
	x.tags = p.tags
	x.aside = func(write func() bool) { write() }
	if s.width != nil && (isTerminal(p.o.Print.To) || p.o.Print.Stderr != nil) {
		x.aside = s.aside
	}
	go x.run()
	return x, ctx, x
}

// end waits until all that was committed is printed, after a loop that ended with an error or without one, and returns
// what was wrong with standard output.
func (p *printer) end(ctx context.Context, failed error) error {
	if p == nil {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if failed != nil { // of the journal, for instance
		stop()
	}
	err := p.finish(ctx)
	p.failed(err) // lets go of the loop's context
	if err != nil && !errors.Is(err, ErrClosed) {
		return Failure{fmt.Errorf("standard output: %w", err)}
	}
	return err
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// printFinished prints the result of a run that had finished before.
func (e *Engine) printFinished() error {
	p := e.o.Print
	if p.To == nil {
		return nil
	}
	r, err := results.Open(e.out)
	if err != nil {
		return err
	}
	tasks, err := r.Choose(nil)
	if err != nil {
		return err
	}
	var tags *results.Tags
	if p.Tag {
		if tags, err = r.Tags(p.Text); err != nil {
			return err
		}
	}
	switch err := r.Print(p.To, tasks, tags); {
	case errors.Is(err, syscall.EPIPE):
		return ErrClosed
	case err != nil:
		return Failure{err}
	}
	return nil
}
