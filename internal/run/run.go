package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sched"
)

// Journal returns where the run's journal is, or will be.
func (e *Engine) Journal() string { return e.folders.Journal() }

// Run runs the job, or takes up the run that the output folder holds; once for each Engine. A job that failed is a
// [Failure], and so is whatever broke the run off; other errors are the user's. When the context is done the run stops
// with its error, and goes on at the next start. The result of a job that has ended or was stopped says how far it has
// come, beside the error; otherwise it is nil.
func (e *Engine) Run(ctx context.Context) (*Result, error) {
	e.tellOdd()
	if e.cloud != nil {
		return e.runCloud(ctx)
	}
	if err := e.checkJoblog(); err != nil {
		return nil, err
	}
	if e.scratch {
		return e.runScratch(ctx)
	}
	return e.runHere(ctx)
}

// runHere runs the job, or takes up the run, in a folder of this machine.
func (e *Engine) runHere(ctx context.Context) (*Result, error) {
	lock, err := e.take()
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	e.lock = lock
	run, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go e.watch(ctx, cancel)
	res, err := e.drive(ctx, run)
	if err != nil {
		return res, cmp.Or(endedFor(ctx), err)
	}
	return res, nil
}

// open creates the run, or opens the one that is there.
func (e *Engine) open(ctx context.Context) (*live.Run, error) {
	path := e.folders.Journal()
	if !isMissing(path) {
		asked, err := e.asked()
		if err != nil {
			return nil, err
		}
		e.again = true
		return e.resume(path, asked)
	}
	h, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	p, err := policyOf(h)
	if err != nil {
		return nil, err
	}
	return live.Create(path, h, p)
}

// drive lets the run go to its end. Only what keeps a job from its results ends it with an error; what goes wrong
// beside or after that is a warning.
func (e *Engine) drive(ctx context.Context, run *live.Run) (res *Result, err error) {
	p, err := e.prepared(run.Header, run.Works())
	if err != nil {
		return nil, err
	}
	if e.complete() {
		if err := e.whole(); err != nil {
			return nil, errors.Join(err, run.Close())
		}
		e.tellNew(ctx, p.work())
		fmt.Fprintf(e.o.Log, "%s holds the finished result of this command\n", e.out)
		if err := cmp.Or(run.Close(), e.printFinished()); err != nil {
			return nil, err
		}
		return p.finish(ctx, courseOf(run))
	}
	if p.news, err = p.newNews(); err != nil {
		return nil, err
	}
	if e.again {
		e.tellNew(ctx, p.work())
	}
	if err = p.loop(ctx, run); err == nil {
		p.left = run.Header.Job.Deadline // it may have been taken up with another
		res, err = p.finish(ctx, courseOf(run))
	}
	p.news.ended(ctx, p.Standing(run.View(), 0), res, err)
	return res, err
}

// loop runs the job while it is shown and logged.
func (p *Prepared) loop(ctx context.Context, run *live.Run) error {
	executor, err := p.Open()
	if err != nil {
		return err
	}
	if l := p.Job.Loss; l != nil && l.Soon {
		run.HaltSoon(l.Allowed(tasksOf(&p.Header.Job)))
	}
	if err := p.hold(run); err != nil {
		return errors.Join(err, executor.Close())
	}
	for _, r := range run.Records() { // of earlier engines
		p.told(&r)
	}
	p.warn("the chance of meeting the deadline is a rough one", p.foretell(ctx, run))
	standing := p.Standing(run.View(), 0)
	fmt.Fprint(p.o.Log, opening(run.Recovered, standing.Tasks(), run.Retried, run.State() != sched.JobBroken))
	screen := newScreen(p.o.Log, standing)
	executor, at, printer := p.printing(ctx, executor, screen)
	err = run.Loop(at, executor, live.Watcher{
		Tick:  func(v *sched.View) { screen.tick(p.Tick(v, 0)); printer.tick(v) },
		Short: func(why string) { screen.say(shortLine(p.Header.Machines, why)) },
		Held:  screen.say,
		Ended: func(r *live.Record, last live.Report) {
			p.Ended(r, last)
			if line := p.FailedLine(r, last); line != "" {
				screen.say(line)
			}
		},
	})
	ended := executor.Close()
	unprinted := printer.end(at, err)
	screen.close()
	p.warn("not all that was started has ended", ended)
	p.warn("the log of attempts is not whole", p.log.close())
	if Full(err) && p.cloud == nil {
		err = fmt.Errorf("%w; make room on the disk of %s and run the same command again: finished tasks are kept", err, p.out)
	}
	if err != nil {
		return Failure{err}
	}
	return unprinted
}

// tellOdd says what is odd about the policy.
func (e *Engine) tellOdd() {
	if e.odd != "" {
		e.notice("warning: %s", e.odd)
	}
}

// notice tells the user one line.
func (e *Engine) notice(format string, args ...any) {
	fmt.Fprintf(e.o.Log, "tailcut: %s\n", show.OneLine(fmt.Sprintf(format, args...)))
}

// endedFor returns the failure for which a run was ended, nil for none.
func endedFor(ctx context.Context) error {
	var failed Failure
	if errors.As(context.Cause(ctx), &failed) {
		return failed
	}
	return nil
}

// warn tells of an error on which no result depends.
func (e *Engine) warn(what string, err error) {
	if err != nil {
		e.notice("warning: %s: %v", what, err)
	}
}

// Full tells whether a disk was full, or a quota used up.
func Full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
