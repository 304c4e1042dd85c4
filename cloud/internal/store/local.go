package store

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// Local is an executor whose attempts are processes of this machine that read from stores and write to one. It
// implements live.Executor.
//
// The standard input of an attempt is a pipe that nobody writes to. When it closes, the engine is gone, and the attempt
// ends itself and its group.
type Local struct {
	*Results
	command []string         // of an attempt; the output's URL and the task follow
	limits  []jobfile.Limits // by stage; of Timeout and Nice
	reports chan live.Report
	ctx     context.Context
	stop    context.CancelFunc
	workers sync.WaitGroup

	mu    sync.Mutex
	procs map[sched.AttemptID]*process
}

var _ live.Executor = (*Local)(nil)

// process is an attempt of Local.
type process struct {
	pid    int  // 0 before it is started
	killed bool // by the engine: nobody is told of its end
	late   bool // killed by its time limit
}

// NewLocal returns an executor that starts attempts with a command. Of the limits of stages it heeds durations and
// niceness.
func NewLocal(r *Results, command []string, limits []jobfile.Limits) *Local {
	ctx, stop := context.WithCancel(context.Background())
	return &Local{
		Results: r, command: command, limits: limits, reports: make(chan live.Report, 1024), ctx: ctx, stop: stop, procs: map[sched.AttemptID]*process{},
	}
}

// Reports returns the channel of reports.
func (l *Local) Reports() <-chan live.Report { return l.reports }

// Start lets an attempt begin its life.
func (l *Local) Start(a live.Attempt) {
	p := &process{}
	l.mu.Lock()
	l.procs[a.ID] = p
	l.mu.Unlock()
	l.workers.Go(func() {
		err := l.attend(a, p)
		l.mu.Lock()
		delete(l.procs, a.ID)
		killed := p.killed
		if p.late {
			err = fmt.Errorf("timed out after %v", jobfile.LimitsOf(l.limits, a.Stage).Timeout.After)
		}
		l.mu.Unlock()
		if killed {
			return
		}
		rep := live.Report{At: time.Now(), Attempt: a.ID, Kind: sched.AttemptDone}
		if err != nil {
			rep.Kind, rep.Note, rep.Exit = sched.AttemptFailed, err.Error(), 1
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() > 0 {
				rep.Exit = exit.ExitCode()
			}
		}
		l.reports <- rep
	})
}

// attend follows a process from its beginning to its end. The error says why there is no result.
func (l *Local) attend(a live.Attempt, p *process) error {
	t, err := l.Prepare(l.ctx, a)
	if err != nil {
		return err
	}
	args := append(append(append([]string(nil), l.command[1:]...), l.out.URL()), t.Args()...)
	cmd := exec.Command(l.command[0], args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	alive, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	defer alive.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	stderr := &lastLine{}
	cmd.Stderr = stderr
	cmd.WaitDelay = time.Second
	if err := l.launch(cmd, p); err != nil {
		return err
	}
	limits := jobfile.LimitsOf(l.limits, a.Stage)
	if limits.Nice > 0 {
		_ = syscall.Setpriority(syscall.PRIO_PGRP, cmd.Process.Pid, limits.Nice) // who is there already below stays so
	}
	if d := limits.Timeout.After; d > 0 {
		timer := time.AfterFunc(d, func() { l.end(p, &p.late) })
		defer timer.Stop()
	}
	l.listen(a.ID, stdout)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, stderr)
	}
	return nil
}

// launch starts a process, unless it was killed before.
func (l *Local) launch(cmd *exec.Cmd, p *process) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.killed {
		return errors.New("killed")
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.pid = cmd.Process.Pid
	return nil
}

// listen passes on the fractions that an attempt writes, until it ends.
func (l *Local) listen(id sched.AttemptID, from io.Reader) {
	for lines := bufio.NewScanner(from); lines.Scan(); {
		if x, ok := ParseProgress(lines.Text()); ok {
			select {
			case l.reports <- live.Report{At: time.Now(), Attempt: id, Kind: sched.AttemptProgress, Progress: x}:
			case <-l.ctx.Done():
			}
		}
	}
}

// ParseProgress reads a line of an attempt's standard output: a fraction.
func ParseProgress(line string) (x float64, ok bool) {
	x, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
	return x, err == nil && x >= 0 && x <= 1
}

// Kill ends an attempt.
func (l *Local) Kill(id sched.AttemptID) {
	l.mu.Lock()
	p := l.procs[id]
	l.mu.Unlock()
	if p != nil {
		l.end(p, &p.killed)
	}
}

// end kills the group of a process, and says why.
func (l *Local) end(p *process, why *bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*why = true
	if p.pid > 0 {
		_ = syscall.Kill(-p.pid, syscall.SIGKILL) // it may have ended
	}
}

// Close ends what runs and waits for it.
func (l *Local) Close() error {
	l.stop()
	l.mu.Lock()
	var left []*process
	for _, p := range l.procs {
		left = append(left, p)
	}
	l.mu.Unlock()
	for _, p := range left {
		l.end(p, &p.killed)
	}
	done := make(chan struct{})
	go func() { l.workers.Wait(); close(done) }()
	for {
		select {
		case <-l.reports: // nobody else listens any more
		case <-done:
			return nil
		}
	}
}

// lastLine keeps the last line that is written to it.
type lastLine struct{ text []byte }

const longestLine = 2 << 10

func (w *lastLine) Write(p []byte) (int, error) {
	w.text = append(w.text, p...)
	w.text = w.text[max(0, len(w.text)-longestLine):]
	return len(p), nil
}

func (w *lastLine) String() string {
	text := strings.TrimRight(strings.ToValidUTF8(string(w.text), "\uFFFD"), "\n")
	return cmp.Or(text[strings.LastIndex(text, "\n")+1:], "nothing on standard error")
}
