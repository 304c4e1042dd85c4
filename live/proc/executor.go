package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/tailcut/tailcut/live"
	"github.com/tailcut/tailcut/sched"
)

// Config describes an executor.
type Config struct {
	Folders Folders
	Out     string // where results are published
	Work    *Work
	Stages  int
	Run     string        // unique name of the run, found in the environment of all its processes
	Self    []string      // command that is this program; "attempt" and "guard" are appended
	Timeout time.Duration // an attempt that runs longer fails; 0 for no limit
	Disturb Disturb
}

// Executor runs attempts as processes. It implements live.Executor.
type Executor struct {
	cfg     Config
	tag     string // TAILCUT_RUN of this engine's processes
	reports chan live.Report
	starts  chan *process
	guard   *guard
	workers sync.WaitGroup // one per process, and the spawner

	mu    sync.Mutex
	procs map[sched.AttemptID]*process
}

var _ live.Executor = (*Executor)(nil)

// New ends what an earlier engine of the run has left and makes ready to start attempts.
func New(cfg Config) (*Executor, error) {
	if err := cfg.Folders.create(cfg.Stages); err != nil {
		return nil, err
	}
	sweep(cfg.Run + "/")
	e := &Executor{
		cfg: cfg, tag: fmt.Sprintf("%s/%d", cfg.Run, time.Now().UnixNano()), procs: map[sched.AttemptID]*process{},
		reports: make(chan live.Report, 1024), starts: make(chan *process, 1024),
	}
	var err error
	if e.guard, err = startGuard(cfg.Self, e.tag); err != nil {
		return nil, err
	}
	e.workers.Add(1)
	go e.spawner()
	return e, nil
}

// Reports returns the channel of reports.
func (e *Executor) Reports() <-chan live.Report { return e.reports }

// Start hands the attempt to the spawner.
func (e *Executor) Start(a live.Attempt) {
	p := &process{attempt: a, dir: e.cfg.Folders.attempt(a), fate: e.cfg.Disturb.fate(a), ended: make(chan struct{})}
	e.mu.Lock()
	e.procs[a.ID] = p
	e.mu.Unlock()
	e.starts <- p
}

// Kill ends an attempt. Its folder is removed once nothing of it runs.
func (e *Executor) Kill(id sched.AttemptID) {
	e.mu.Lock()
	p := e.procs[id]
	e.mu.Unlock()
	if p != nil {
		p.kill(byEngine)
	}
}

// Commit renames the attempt's folder to its task's.
func (e *Executor) Commit(a live.Attempt) error { return e.cfg.Folders.commit(a) }

// Clean drops the folders of attempts that did not win.
func (e *Executor) Clean() error { return e.cfg.Folders.clean() }

// Publish makes the results visible in the output folder.
func (e *Executor) Publish() error { return e.cfg.Work.publish(e.cfg.Folders, e.cfg.Out) }

// Close ends what runs and waits for it.
func (e *Executor) Close() error {
	e.mu.Lock()
	for _, p := range e.procs {
		p.kill(byEngine)
	}
	e.mu.Unlock()
	close(e.starts)
	done := make(chan struct{})
	go func() { e.workers.Wait(); close(done) }()
	for {
		select {
		case <-e.reports: // nobody else listens any more
		case <-done:
			sweep(e.tag)
			return e.guard.close()
		}
	}
}

// spawner starts processes, all on one thread: on Linux a child is told of the death of the thread that made it.
func (e *Executor) spawner() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer e.workers.Done()
	for p := range e.starts {
		if p.killed() {
			e.forget(p)
			continue
		}
		if err := e.spawn(p); err != nil {
			e.workers.Add(1)
			go func() {
				defer e.workers.Done()
				e.finish(p, 127, err.Error())
			}()
			continue
		}
		e.workers.Add(1)
		go e.attend(p)
	}
}

// spawn makes the attempt's folder and starts its process.
func (e *Executor) spawn(p *process) (err error) {
	if err := os.Mkdir(p.dir, 0o777); err != nil {
		return err
	}
	cmd, err := e.cfg.Work.command(e.cfg.Self, e.cfg.Folders, p.attempt, p.dir)
	if err != nil {
		return err
	}
	cmd.Env = append(cmd.Env, runVariable+"="+e.tag, "TAILCUT_PROGRESS=/dev/fd/3")
	return p.start(cmd, e.cfg.Work.Dir)
}

// attend follows a process to its end.
func (e *Executor) attend(p *process) {
	defer e.workers.Done()
	if e.cfg.Timeout > 0 {
		t := time.AfterFunc(e.cfg.Timeout, func() { p.kill(byTimeout) })
		defer t.Stop()
	}
	if p.fate.factor > 1 {
		go p.slow(p.fate.factor)
	}
	if p.fate.fails {
		t := time.AfterFunc(p.fate.after, func() { p.kill(byDisturb) })
		defer t.Stop()
	}
	go p.follow(func(x float64) {
		e.report(live.Report{At: time.Now(), Attempt: p.attempt.ID, Kind: sched.AttemptProgress, Progress: x})
	})
	exit, note := p.wait()
	switch p.killer() {
	case byTimeout:
		exit, note = 137, fmt.Sprintf("timed out after %v", e.cfg.Timeout)
	case byDisturb:
		exit, note = 137, "failed on purpose (--disturb)"
	}
	if exit == 0 && p.fate.fails {
		exit, note = 1, "failed on purpose (--disturb)"
	}
	if exit == 0 {
		if err := e.sync(p); err != nil {
			exit, note = 1, err.Error()
		}
	}
	e.finish(p, exit, note)
}

// sync makes the attempt's output durable.
func (e *Executor) sync(p *process) error {
	return errors.Join(e.cfg.Work.sync(p.dir), syncDir(filepath.Dir(p.dir)))
}

// finish reports the end of an attempt that was not ended by the engine, and drops the folder of one without result.
func (e *Executor) finish(p *process, exit int, note string) {
	rep := live.Report{At: p.at(), Attempt: p.attempt.ID, Kind: sched.AttemptDone, Exit: exit}
	if exit != 0 {
		rep.Kind, rep.Note = sched.AttemptFailed, note
	}
	if exit != 0 || p.killer() == byEngine {
		_ = os.RemoveAll(p.dir) // what is left is dropped when the run ends
	}
	byUs := e.forget(p)
	if !byUs {
		e.report(rep)
	}
}

// forget takes the attempt off the list and tells whether the engine killed it.
func (e *Executor) forget(p *process) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.procs, p.attempt.ID)
	return p.killer() == byEngine
}

func (e *Executor) report(r live.Report) { e.reports <- r }
