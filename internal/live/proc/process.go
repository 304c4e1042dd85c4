package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/strides"
)

// killer says who ended a process before its time.
type killer uint8

const (
	byNobody  killer = iota
	byEngine         // lost, preempted, or the run is over: nobody waits for a report
	byLimit          // reported as a failure
	byDisturb        // reported as a failure
	byFeed           // its input could not be read; reported as a failure
)

// process is an attempt and the process group that does it.
type process struct {
	of       *Executor
	attempt  live.Attempt
	last     *strides.Stride // that it has saved, or goes on from
	dir      string
	unready  error    // why it cannot be started
	path     string   // of the program
	args     []string // of that
	env      []string // likewise
	cwd      string   // likewise
	files    files
	slot     int // from 1, of no other process that is there; 0 before it has begun
	fate     fate
	reserved int64         // bytes of memory that are set aside for it; the keeper's
	folder   *folder       // at dir
	feed     *feed         // of its standard input, nil for none
	stdout   *outFile      // what the attempt writes to standard output
	said     []byte        // the end of what it wrote to standard error; the keeper's until the attempt has ended
	heard    int64         // bytes that it wrote there; the same
	most     int           // how many of them are kept
	ended    chan struct{} // closed when the leader has ended
	timers   []*time.Timer // that kill it
	listen   func(line string)
	teller   *teller // of what it hears; nil if it never began
	line     []byte  // the beginning of a line from the progress pipe

	verdict  verdict // on an attempt without result
	how      *ending // of the leader, if it is known
	pidfd    int     // descriptor of the leader, -1 where there is none
	progress pipe    // the end of TAILCUT_PROGRESS that the engine reads
	errs     pipe    // the end of standard error that the engine reads
	alone    bool    // after the end: nobody has the writing end of that any more
	clean    bool    // after the end: alone, and the folder is as it was given
	moved    bool    // the standard output may be in the folder of the result already

	mu        sync.Mutex
	pid       int  // of the leader; 0 before it has begun
	reaped    bool // the group's number may mean somebody else now
	by        killer
	why       string    // byLimit
	startedAt time.Time // before it is told of others
	endedAt   time.Time
	output    *outFile // stdout while it is the attempt's to write to, for others to read
}

// files are what an attempt reads from and writes to, until it has begun.
type files struct {
	in   *os.File
	null bool // in is everybody's
	out  int  // descriptor of standard output; 0 for none
}

func (f *files) close() {
	if f.in != nil && !f.null {
		f.in.Close()
	}
	if f.out > 0 {
		syscall.Close(f.out)
	}
	*f = files{}
}

// open opens the files of an attempt, which reads null if there is nothing else. The system's own call does here:
// package os would have each descriptor polled.
func (p *process) open(stdin []byte, null *os.File) (err error) {
	p.files.in, p.files.null = null, true
	if len(stdin) > 0 {
		if p.files.in, err = p.stdin(stdin); err != nil {
			return err
		}
		p.files.null = false
	}
	if p.files.out, err = syscall.Open(p.stdout.path, syscall.O_WRONLY|syscall.O_APPEND|syscall.O_CLOEXEC, 0); err != nil {
		return &os.PathError{Op: "open", Path: p.stdout.path, Err: err}
	}
	return nil
}

// start starts the program as the leader of a new process group with the attempt's folder as the place of its output.
// It fails if a descriptor is not below most: the system gives the lowest that are free.
func (p *process) start(most int) error {
	in, out := int(p.files.in.Fd()), p.files.out
	if p.feed != nil {
		r, err := p.feed.pipe(most)
		if err != nil {
			return err
		}
		defer r.Close()
		in = int(r.Fd())
	}
	r, w, err := newPipe()
	if err != nil {
		return err
	}
	defer syscall.Close(w)
	errs, stderr, err := newPipe()
	if err != nil {
		r.close()
		return err
	}
	defer syscall.Close(stderr)
	if max(r.descriptor(), w, errs.descriptor(), stderr) >= most {
		r.close()
		errs.close()
		return &os.PathError{Op: "pipe", Path: "TAILCUT_PROGRESS", Err: syscall.EMFILE}
	}
	p.pidfd = -1
	attr := &syscall.ProcAttr{
		Dir: p.cwd, Env: p.env, Files: []uintptr{uintptr(in), uintptr(out), uintptr(stderr), uintptr(w)}, Sys: attributes(&p.pidfd),
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	pid := 0
	if p.by == byEngine {
		err = errKilled
	} else if pid, err = syscall.ForkExec(p.path, p.args, attr); err != nil {
		err = noProgram{p.path, err}
	}
	if err != nil {
		r.close()
		errs.close()
		return err
	}
	p.pid, p.progress, p.errs, p.startedAt = pid, r, errs, time.Now()
	p.args, p.env = nil, nil
	if p.feed != nil {
		go p.feed.run(func() { p.kill(byFeed) })
	}
	return nil
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

// reap ends what is left of the group of a leader that has ended, and returns its exit status and, if that is not 0,
// what the system says of it. On Linux the leader is a zombie up to here, so that the group's number is not somebody
// else's.
func (p *process) reap() (exit int, note string) {
	now := time.Now()
	p.mu.Lock()
	p.endedAt = now
	p.signal(syscall.SIGKILL)
	if p.how == nil {
		p.how = waitFor(p.pid)
	}
	p.reaped = true
	p.mu.Unlock()
	p.alone = p.progress.hungUp()
	close(p.ended)
	for _, t := range p.timers {
		t.Stop()
	}
	switch ws := p.how.status; {
	case p.how.err != nil:
		return 1, p.how.err.Error()
	case ws.Signaled():
		exit, note = 128+int(ws.Signal()), "signal: "+ws.Signal().String()
		if ws.CoreDump() {
			note += " (core dumped)"
		}
	case ws.ExitStatus() != 0:
		exit, note = ws.ExitStatus(), fmt.Sprintf("exit status %d", ws.ExitStatus())
	default:
		return 0, ""
	}
	return exit, note
}

// ending is how a process has ended.
type ending struct {
	status syscall.WaitStatus
	err    error
}

// waitFor waits until a child has ended, and takes it off the system's list.
func waitFor(pid int) *ending {
	for {
		var e ending
		if _, e.err = syscall.Wait4(pid, &e.status, 0, nil); e.err != syscall.EINTR {
			return &e
		}
	}
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

// began returns when the process was there to work; zero if it never was.
func (p *process) began() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.startedAt
}

// killFor ends the whole group for the attempt's own fault.
func (p *process) killFor(by killer, why string) {
	p.mu.Lock()
	if p.by == byNobody {
		p.why = why
	}
	p.mu.Unlock()
	p.kill(by)
}

// alive tells whether the attempt has begun and nobody has ended it yet.
func (p *process) alive() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pid != 0 && !p.reaped && p.by == byNobody
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
	return p.pid != 0 && !p.reaped && syscall.Kill(-p.pid, s) == nil
}

func (p *process) leader() int    { p.mu.Lock(); defer p.mu.Unlock(); return p.pid }
func (p *process) killer() killer { p.mu.Lock(); defer p.mu.Unlock(); return p.by }
func (p *process) killed() bool   { return p.killer() == byEngine }

// longestLine is how many bytes of a line from the progress pipe are looked at.
const longestLine = 1 << 10

// hear takes in what was read from the pipe that the attempt knows as TAILCUT_PROGRESS. Whatever it is, the attempt
// must be able to write it.
func (p *process) hear(data []byte) {
	for {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			p.line = append(p.line, data[:min(len(data), longestLine-len(p.line))]...)
			return
		}
		p.line = append(p.line, data[:min(i, longestLine-len(p.line))]...)
		p.listen(string(p.line))
		p.line, data = p.line[:0], data[i+1:]
	}
}

// hearErr takes in what was read of standard error, and keeps the end of it.
func (p *process) hearErr(data []byte) {
	p.heard += int64(len(data))
	if p.said = append(p.said, data...); len(p.said) > 2*p.most {
		p.said = append(p.said[:0], p.said[len(p.said)-p.most:]...)
	}
}

// stderr returns the end of what the attempt wrote to standard error.
func (p *process) stderr() []byte { return p.said[max(0, len(p.said)-p.most):] }

// lastLine returns the last line of a text that is not blank.
func lastLine(text []byte) string {
	b := bytes.TrimSpace(text)
	b = b[bytes.LastIndexByte(b, '\n')+1:]
	return string(bytes.ToValidUTF8(b, []byte("\uFFFD")))
}

// cut shortens a line to what fits a terminal.
func cut(line string) string {
	const most = 200
	return strings.ToValidUTF8(line[:min(len(line), most)], "\uFFFD")
}
