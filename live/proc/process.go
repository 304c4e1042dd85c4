package proc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tailcut/tailcut/live"
)

// killer says who ended a process before its time.
type killer uint8

const (
	byNobody  killer = iota
	byEngine         // lost, preempted, or the run is over: nobody waits for a report
	byTimeout        // reported as a failure
	byDisturb        // reported as a failure
)

// process is an attempt and the process group that does it.
type process struct {
	attempt live.Attempt
	last    *stride // that it has saved, or goes on from; of whoever starts it, then of whoever listens to it
	dir     string
	fate    fate
	folder  *folder       // at dir
	stdout  *outFile      // what the attempt writes to standard output
	stderr  *os.File      // and to standard error
	ended   chan struct{} // closed when the leader has ended

	mu       sync.Mutex
	os       *os.Process
	pidfd    int  // descriptor of the leader, -1 where there is none
	reaped   bool // the group's number may mean somebody else now
	by       killer
	progress *os.File
	endedAt  time.Time
	clean    bool // after the end: nothing of the attempt is left, and its folder is as it was given
}

// start starts the program at path as the leader of a new process group with the attempt's folder as the place of its output. The
// process is made inside fork.
func (p *process) start(path string, cmd *Command, dir string, null *os.File, fork func(func())) error {
	in := null
	if len(cmd.Stdin) > 0 {
		var err error
		if in, err = p.stdin(cmd.Stdin); err != nil {
			return err
		}
		defer in.Close()
	}
	out, err := os.OpenFile(p.stdout.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer out.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer w.Close()
	p.pidfd = -1
	attr := &os.ProcAttr{Dir: dir, Env: override(os.Environ(), cmd.Env), Files: []*os.File{in, out, p.stderr, w}, Sys: attributes(&p.pidfd)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == byEngine {
		err = errKilled
	} else {
		fork(func() { p.os, err = os.StartProcess(path, cmd.Args, attr) })
	}
	if err != nil {
		r.Close()
		return err
	}
	p.progress = r
	return nil
}

// override returns an environment in which every name is set once, the last of all settings. Who looks a name up may see the first of several.
func override(base, more []string) []string {
	all := append(base, more...)
	seen := make(map[string]bool, len(all))
	kept := len(all)
	for i := len(all) - 1; i >= 0; i-- {
		name, _, _ := strings.Cut(all[i], "=")
		if !seen[name] {
			seen[name] = true
			kept--
			all[kept] = all[i]
		}
	}
	return all[kept:]
}

// stdin returns a file with the data.
func (p *process) stdin(data []byte) (*os.File, error) {
	path := filepath.Join(p.dir, "stdin")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	return f, errors.Join(err, os.Remove(path))
}

// wait waits for the leader, ends what is left of its group, and returns the exit status and, if it is not 0, a line about it.
func (p *process) wait() (exit int, note string) {
	state, err := waitEnd(p.os, p.pidfd)
	now := time.Now()
	p.mu.Lock()
	p.endedAt = now
	p.signal(syscall.SIGKILL)
	if state == nil && err == nil {
		state, err = p.os.Wait()
	}
	p.reaped = true
	p.clean = hungUp(p.progress) && p.folder.untouched()
	p.progress.Close()
	p.mu.Unlock()
	close(p.ended)
	if err != nil {
		return 1, err.Error()
	}
	ws := state.Sys().(syscall.WaitStatus)
	if state.Success() {
		return 0, ""
	}
	exit = ws.ExitStatus()
	if ws.Signaled() {
		exit = 128 + int(ws.Signal())
	}
	note = state.String()
	if line := lastLine(p.stderr); line != "" {
		note += ": " + line
	}
	return exit, note
}

// at returns when the process ended; now if it never began.
func (p *process) at() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.endedAt.IsZero() {
		return time.Now()
	}
	return p.endedAt
}

// kill ends the whole group. The first killer counts, except that the engine always does.
func (p *process) kill(by killer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == byNobody || by == byEngine {
		p.by = by
	}
	p.signal(syscall.SIGKILL)
}

func (p *process) stop() bool { p.mu.Lock(); defer p.mu.Unlock(); return p.signal(syscall.SIGSTOP) }
func (p *process) cont() bool { p.mu.Lock(); defer p.mu.Unlock(); return p.signal(syscall.SIGCONT) }

// signal signals the group; p.mu is held. It returns false once there is none.
func (p *process) signal(s syscall.Signal) bool {
	return p.os != nil && !p.reaped && syscall.Kill(-p.os.Pid, s) == nil
}

func (p *process) killer() killer { p.mu.Lock(); defer p.mu.Unlock(); return p.by }
func (p *process) killed() bool   { return p.killer() == byEngine }

// follow reads lines from the pipe that the attempt knows as TAILCUT_PROGRESS.
func (p *process) follow(listen func(line string)) {
	lines := bufio.NewScanner(p.progress)
	for lines.Scan() {
		listen(lines.Text())
	}
	_, _ = io.Copy(io.Discard, p.progress) // whatever it is, the attempt must be able to write it
}

// lastLine returns the last line of a file that is not blank, cut to what fits a terminal.
func lastLine(f *os.File) string {
	const most = 200
	b := bytes.TrimSpace(tail(f, 4096))
	b = b[bytes.LastIndexByte(b, '\n')+1:]
	if len(b) > most {
		b = b[:most]
	}
	return string(bytes.ToValidUTF8(b, []byte("?")))
}
