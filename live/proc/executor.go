package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
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
	room    chan struct{} // to make an attempt's folder: as many at once as there are cores
	forks   chan func()   // for the spawner
	guard   *guard
	workers sync.WaitGroup // one per attempt

	mu     sync.Mutex
	paths  map[string]string // of programs that were looked up
	procs  map[sched.AttemptID]*process
	stderr []*os.File // empty files without name, for the standard error of attempts to come
}

var _ live.Executor = (*Executor)(nil)

// New ends what an earlier engine of the run has left and makes ready to start attempts.
func New(cfg Config) (*Executor, error) {
	if err := cfg.Folders.create(cfg.Stages); err != nil {
		return nil, err
	}
	sweep(cfg.Run + "/")
	e := &Executor{
		cfg: cfg, tag: fmt.Sprintf("%s/%d", cfg.Run, time.Now().UnixNano()), procs: map[sched.AttemptID]*process{}, paths: map[string]string{},
		reports: make(chan live.Report, 1024), room: make(chan struct{}, runtime.NumCPU()), forks: make(chan func()),
	}
	var err error
	if e.guard, err = startGuard(cfg.Self, e.tag); err != nil {
		return nil, err
	}
	go e.spawner()
	return e, nil
}

// Reports returns the channel of reports.
func (e *Executor) Reports() <-chan live.Report { return e.reports }

// Start lets the attempt begin its life.
func (e *Executor) Start(a live.Attempt) {
	p := &process{attempt: a, dir: e.cfg.Folders.attempt(a), fate: e.cfg.Disturb.fate(a), ended: make(chan struct{})}
	e.mu.Lock()
	e.procs[a.ID] = p
	e.mu.Unlock()
	e.workers.Add(1)
	go e.attend(p)
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
	done := make(chan struct{})
	go func() { e.workers.Wait(); close(done) }()
	for {
		select {
		case <-e.reports: // nobody else listens any more
		case <-done:
			close(e.forks)
			sweep(e.tag)
			for _, f := range e.stderr {
				f.Close()
			}
			return e.guard.close()
		}
	}
}

// spawner forks, always on the same thread: on Linux a child is told of the death of the thread that made it.
func (e *Executor) spawner() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for fork := range e.forks {
		fork()
	}
}

// spawn makes the attempt's folder and starts its process.
func (e *Executor) spawn(p *process) error {
	e.room <- struct{}{}
	defer func() { <-e.room }()
	if p.killed() {
		return errKilled
	}
	if err := os.Mkdir(p.dir, 0o777); err != nil {
		return err
	}
	cmd, err := e.cfg.Work.command(e.cfg.Self, e.cfg.Folders, p.attempt, p.dir)
	if err != nil {
		return err
	}
	cmd.Env = append(cmd.Env, runVariable+"="+e.tag, "TAILCUT_PROGRESS=/dev/fd/3")
	path, err := e.find(cmd.Args[0])
	if err != nil {
		return err
	}
	if p.stderr, err = e.takeStderr(); err != nil {
		return err
	}
	return p.start(path, cmd, e.cfg.Work.Dir, e.onSpawner)
}

// errKilled is what becomes of an attempt that the engine killed before it began. Nobody is told.
var errKilled = errors.New("killed")

// onSpawner has the spawner call fork and waits for it.
func (e *Executor) onSpawner(fork func()) {
	done := make(chan struct{})
	e.forks <- func() { fork(); close(done) }
	<-done
}

// find looks a program up as a shell would that is in the working directory: once.
func (e *Executor) find(name string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(e.cfg.Work.Dir, name)
		}
		return name, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if path, ok := e.paths[name]; ok {
		return path, nil
	}
	path, err := exec.LookPath(name)
	if err == nil {
		e.paths[name] = path
	}
	return path, err
}

// takeStderr returns an empty file without name. Making one per attempt would cost as much as the rest of an attempt's folder.
func (e *Executor) takeStderr() (*os.File, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.stderr); n > 0 {
		f := e.stderr[n-1]
		e.stderr = e.stderr[:n-1]
		return f, nil
	}
	f, err := os.OpenFile(filepath.Join(e.cfg.Folders.attempts(), "stderr"), os.O_CREATE|os.O_RDWR|os.O_APPEND|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

// giveStderr takes the file back from an attempt. One that was killed may have left somebody who still writes to it.
func (e *Executor) giveStderr(p *process, clean bool) {
	if p.stderr == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !clean || p.stderr.Truncate(0) != nil {
		p.stderr.Close()
		return
	}
	e.stderr = append(e.stderr, p.stderr)
}

// attend follows an attempt from its beginning to its end.
func (e *Executor) attend(p *process) {
	defer e.workers.Done()
	if err := e.spawn(p); err != nil {
		e.finish(p, 127, err.Error())
		return
	}
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
		if err := e.complete(p); err != nil {
			exit, note = 1, err.Error()
		}
	}
	e.finish(p, exit, note)
}

// complete makes the attempt's output a result, and durable.
func (e *Executor) complete(p *process) error {
	if err := e.cfg.Work.assemble(p.dir); err != nil {
		return err
	}
	return sideBySide(2, func(i int) error { // one flush of the disk may do for both
		if i == 0 {
			return syncDir(filepath.Dir(p.dir))
		}
		return e.cfg.Work.sync(p.dir)
	})
}

// finish reports the end of an attempt that was not ended by the engine, and drops the folder of one without result.
func (e *Executor) finish(p *process, exit int, note string) {
	rep := live.Report{At: p.at(), Attempt: p.attempt.ID, Kind: sched.AttemptDone, Exit: exit}
	if exit != 0 {
		rep.Kind, rep.Note = sched.AttemptFailed, note
	}
	if exit != 0 || p.killer() == byEngine {
		_, _ = os.Remove(stdoutOf(p.dir)), os.RemoveAll(p.dir) // what is left is dropped when the run ends
	}
	e.giveStderr(p, exit == 0)
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
