package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/live/remote"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/outlook"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

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
	if err := e.claim(); err != nil {
		return nil, err
	}
	lock, err := proc.LockRun(e.folders)
	if err != nil {
		return nil, Failure{err}
	}
	defer lock.Close()
	run, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	e.lock = lock
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go e.watch(ctx, cancel)
	res, err := e.driveAndNotify(ctx, run)
	if err != nil {
		return res, cmp.Or(endedFor(ctx), err)
	}
	return res, nil
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

// watch ends the run when its folder is removed, before another that is begun there can take its attempts' work for its
// own.
func (e *Engine) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := e.folders.Held(e.lock); err != nil {
				cancel(Failure{err})
			}
		}
	}
}

// endedFor returns the failure for which a run was ended, nil for none.
func endedFor(ctx context.Context) error {
	var failed Failure
	if errors.As(context.Cause(ctx), &failed) {
		return failed
	}
	return nil
}

// complete tells whether the output folder holds a finished result.
func (e *Engine) complete() bool {
	if e.cloud != nil {
		return e.cloud.standing.Finished
	}
	return !isMissing(filepath.Join(e.out, mapreduce.SuccessName))
}

func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// claim checks the output folder and makes the private one. A finished result is never overwritten without --force.
func (e *Engine) claim() error {
	if e.o.Force {
		if err := e.clear(); err != nil {
			return err
		}
	}
	if e.complete() {
		switch _, err := os.Lstat(e.folders.Journal()); {
		case err == nil:
			return nil // whose result it is, the journal says
		case isMissing(e.folders.Root) && isMissing(e.manifest()):
			return fmt.Errorf("%s: holds a finished result, and --force cannot replace it: %s and %s are gone, which say what belongs to it; "+
				"name another --output, or remove the result yourself", e.out, mapreduce.ManifestName, mapreduce.PrivateName)
		}
		return fmt.Errorf("%s: holds a finished result whose journal is gone; name another --output, or replace it with --force", e.out)
	}
	if isMissing(e.folders.Journal()) {
		if all, err := e.manifests(); err != nil || len(all) > 0 {
			return cmp.Or(err, fmt.Errorf("%s: holds parts of a run whose journal is gone; name another --output, or replace them with --force", e.out))
		}
	}
	if _, err := os.Stat(e.folders.Root); errors.Is(err, fs.ErrNotExist) {
		entries, err := os.ReadDir(e.out)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if len(entries) > 0 {
			return fmt.Errorf("%s: is not empty and was not created by Tailcut; name another --output", e.out)
		}
	}
	return e.folders.Claim()
}

// open creates the run, or opens the one that is there.
func (e *Engine) open(ctx context.Context) (*live.Run, error) {
	asked, err := json.Marshal(e.Request.outline())
	if err != nil {
		return nil, err
	}
	path := e.folders.Journal()
	if _, err := os.Lstat(path); err == nil {
		e.again = true
		return e.resume(path, asked)
	}
	if err := e.folders.Retire(); err != nil {
		return nil, Failure{err}
	}
	e.folders.Run = newRunName()
	if err := e.spool(ctx); err != nil {
		e.withdraw()
		return nil, err
	}
	plan, err := e.plan(ctx)
	if err != nil {
		e.withdraw()
		return nil, err
	}
	work, err := json.Marshal(plan.Work)
	if err != nil {
		return nil, err
	}
	p, err := policy.New(e.Policy, e.Seed)
	if err != nil {
		return nil, err
	}
	return live.Create(path, &trace.JournalHeader{
		Version: e.o.Version, Run: e.folders.Run, Started: time.Now(), Policy: e.Policy, Seed: e.Seed, Limits: e.Limits, Waits: plan.Waits,
		Machines: e.machines(), Network: e.sites.network(),
		Job: plan.Spec, Stages: plan.Stages, Command: asked, Work: work,
	}, p)
}

// plan cuts the job into tasks, and adds what is known of their durations. Attempts that run no commands work in the
// root folder.
func (e *Engine) plan(ctx context.Context) (*jobfile.Plan, error) {
	p, err := e.cut(ctx)
	if err != nil {
		return nil, err
	}
	p.Spec.MaxFailed = e.mayFail(&p.Spec)
	if err := e.sites.place(ctx, p, e.Seed); err != nil || e.Deadline == "" {
		return p, err
	}
	if p.Spec.Deadline, err = deadlineAt(e.Deadline, time.Now()); err != nil {
		return nil, fmt.Errorf("--deadline: %w", err)
	}
	if e.history == "" || e.Law != "" {
		return p, nil
	}
	past, err := readHistory(e.history)
	if err != nil {
		return nil, err
	}
	for i, name := range p.Stages {
		st := &p.Spec.Stages[i]
		st.Mean, st.SD = past.Estimate(name)
	}
	return p, nil
}

// cut cuts the job into tasks where its input can be read.
func (e *Engine) cut(ctx context.Context) (*jobfile.Plan, error) {
	if e.cloud != nil {
		p, err := e.cloud.Plan()
		return p, theirs(err)
	}
	if err := e.checkFolders(); err != nil {
		return nil, err
	}
	job := e.job()
	return job.Plan(ctx, cmp.Or(e.Dir, "/"))
}

// remember adds the run to what is kept of its name.
func (e *Engine) remember(run *live.Run) error {
	if e.history == "" {
		return nil
	}
	past, err := readHistory(e.history)
	if err != nil {
		return err
	}
	won, cut := run.Durations()
	past.Add(e.Job.Name, run.Header.Run, run.Header.Stages, won, cut)
	e.describe(past, run)
	return writeHistory(e.history, past)
}

// withdraw removes the folders of a run that was not begun, if nothing else is in them.
func (e *Engine) withdraw() {
	if e.folders.Run != "" {
		_ = os.Remove(e.folders.Stdin())
		_ = os.Remove(filepath.Dir(e.folders.Stdin()))
	}
	_ = os.Remove(e.folders.Lock())
	_ = os.Remove(e.folders.Root)
	_ = os.Remove(e.out)
}

// drive lets the run go to its end, tidies up, and reports. Only what keeps a job from its results ends it with an
// error; what goes wrong beside or after that is a warning.
func (e *Engine) drive(ctx context.Context, run *live.Run) (*Result, error) {
	works, err := e.worksOf(run)
	if err != nil {
		return nil, err
	}
	work := works[len(works)-1]
	if work.MapReduce != nil {
		work.MapReduce.MaxLine = e.o.MaxLine // may be another when the run is taken up
	}
	if e.again {
		e.tellNew(ctx, work)
	}
	var first *float64
	if e.complete() {
		fmt.Fprintf(e.o.Log, "%s holds the finished result of this command\n", e.out)
		err = cmp.Or(run.Close(), e.printFinished())
	} else {
		first, err = e.loop(ctx, run, works)
	}
	if err != nil {
		return nil, err
	}
	if run.State() == sched.JobSucceeded { // and, without an error, published
		if !e.tidied() {
			e.warn("the durations are not kept for later deadlines", e.remember(run))
			e.warn("the result is whole, but what only the run needed is still there", e.tidy(run))
		}
	}
	m, err := mappedBy(work, e.folders)
	e.warn("how much was mapped is not known", err)
	s := run.Summary()
	res := &Result{Summary: s, Header: run.Header, Deadline: deadlineOf(run, first), Failed: e.failed(s, work), again: e.o.Again, kept: e.o.Output != Scratch, mapped: m}
	return res, e.ending(ctx, s)
}

// worksOf returns what the run's attempts did when it began, and after each change.
func (e *Engine) worksOf(run *live.Run) (all []*jobfile.Work, err error) {
	for _, text := range run.Works() {
		w := &jobfile.Work{}
		if err := json.Unmarshal(text, w); err != nil {
			return nil, fmt.Errorf("%s: work: %w", e.folders.Journal(), err)
		}
		all = append(all, w)
	}
	return all, nil
}

// loop runs the job while it is shown and logged, and returns the chance to meet the deadline as it was first known.
func (e *Engine) loop(ctx context.Context, run *live.Run, works []*jobfile.Work) (first *float64, err error) {
	work := works[len(works)-1]
	log, err := openJoblog(e.o.Joblog, works, run.Header)
	if err != nil {
		return nil, err
	}
	out, err := outlook.New(e.Law)
	if err != nil {
		return nil, err
	}
	executor, err := e.executor(run, works)
	if err != nil {
		return nil, err
	}
	if e.Job.Loss != nil && e.Job.Loss.Soon {
		run.HaltSoon(e.Job.Loss.Allowed(tasksOf(&run.Header.Job)))
	}
	if err := e.hold(run); err != nil {
		return nil, errors.Join(err, executor.Close())
	}
	tell := teller(run, executor)
	screen := newScreen(e.o.Log, run, out)
	screen.atRisk = e.news.atRisk
	executor, at, printer := e.printing(ctx, executor, run, work, screen)
	err = run.Loop(at, executor, live.Watcher{
		Tick:  func(v *sched.View) { screen.tick(v); printer.tick(v); e.news.tick(v) },
		Short: screen.short,
		Held:  screen.held,
		Ended: func(r *live.Record, last live.Report) {
			tell(r)
			screen.ended(r, last)
			log.ended(r, last)
		},
	})
	ended := executor.Close()
	unprinted := printer.end(at, err)
	screen.close()
	e.warn("not all that was started has ended", ended)
	e.warn("the log of attempts is not whole", log.close())
	if Full(err) && e.cloud == nil {
		err = fmt.Errorf("%w; make room on the disk of %s and run the same command again: finished tasks are kept", err, e.out)
	}
	if err != nil {
		return nil, Failure{err}
	}
	return screen.first, unprinted
}

// warn tells of an error on which no result depends.
func (e *Engine) warn(what string, err error) {
	if err != nil {
		e.notice("warning: %s: %v", what, err)
	}
}

// executor returns what starts the attempts of a run.
func (e *Engine) executor(run *live.Run, works []*jobfile.Work) (live.Executor, error) {
	work := works[len(works)-1]
	if e.cloud != nil {
		return e.cloud, theirs(e.cloud.Open(remote.Open{Run: run.Header.Run, Work: work, Limits: e.limits(len(run.Header.Stages))}))
	}
	executor, err := proc.New(proc.Config{
		Folders: e.folders, Out: e.out, Work: work, Works: works, Stages: len(run.Header.Stages), Run: run.Header.Run,
		Lock: e.lock, Limits: e.limits(len(run.Header.Stages)), Disturb: e.disturb, Stderr: e.o.Stderr, Slower: e.sites.slower(run.Header), Measure: e.sites != nil,
	})
	if err != nil {
		return nil, Failure{err}
	}
	return executor, nil
}

// tidied tells whether tidy has come to its end.
func (e *Engine) tidied() bool {
	if e.cloud != nil {
		return e.cloud.standing.Tidied
	}
	return e.folders.Tidied()
}

// tidy removes what a run that has succeeded needs no more. It comes last: until it has come to its end, a repetition
// of the command does again what may not have been done.
func (e *Engine) tidy(run *live.Run) error {
	if e.cloud != nil {
		return e.cloud.Tidy(run.Header.Run)
	}
	return e.folders.Tidy()
}

// ending returns the error of a run that has come to an end, nil if it has succeeded.
func (e *Engine) ending(ctx context.Context, s *live.Summary) error {
	switch {
	case s.State == "succeeded":
		return nil
	case s.State == "failed":
		return Failure{errors.New(e.blame(s))}
	case endedFor(ctx) != nil:
		return endedFor(ctx)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return Failure{fmt.Errorf("the job has %s", s.State)}
}

func newRunName() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Full tells whether a disk was full, or a quota used up.
func Full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
