package proc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// What running attempts write is asked of the engine, over a socket in the run's folder, which its owner alone enters.
// So an attempt costs nothing for it unless somebody looks: its standard output is a file that the engine has open, and
// of its standard error the engine has the end in memory.

// LogRequest asks what an attempt of a task writes.
type LogRequest struct {
	Stage   int  `json:"stage"`
	Task    int  `json:"task"`
	Attempt int  `json:"attempt"` // by its number; -1 for the first that runs
	Lines   int  `json:"lines"`   // of what it has written before; below 0 for all that is there
	Follow  bool `json:"follow"`  // go on with what it writes, and with the attempts after it
}

// LogEvent is a piece of the answer.
type LogEvent struct {
	Attempt int    `json:"attempt"`
	Clone   bool   `json:"clone,omitempty"`
	Begun   bool   `json:"begun,omitempty"` // what follows is of this attempt
	Out     []byte `json:"out,omitempty"`   // of standard output
	At      int64  `json:"at,omitempty"`    // where Out begins
	Err     []byte `json:"err,omitempty"`   // of standard error
	Lost    int64  `json:"lost,omitempty"`  // bytes of standard error before Err that the engine has not kept
	Ended   bool   `json:"ended,omitempty"` // the attempt has
	Won     bool   `json:"won,omitempty"`   // and well, so that it is the result unless another was faster
	Note    string `json:"note,omitempty"`  // why not; "" if the engine killed it
	None    bool   `json:"none,omitempty"`  // no such attempt runs now
}

const (
	logEvery  = 100 * time.Millisecond // between two looks at what an attempt has written
	noneEvery = 2 * time.Second        // between two answers that nothing runs: a short attempt may have come and gone
	logPiece  = 64 << 10               // bytes of an event, at most
	logMost   = 1 << 20                // bytes of standard output that are read at the end of an attempt
)

func (f Folders) logSocket() string { return filepath.Join(f.home(), "logs") }

// logs answers who asks for the output of running attempts.
type logs struct {
	e      *Executor
	listen net.Listener
	folder *os.File // of the socket

	mu        sync.Mutex
	followers map[*follower]*process
}

// follower is somebody who follows a task.
type follower struct {
	conn net.Conn
	gone chan struct{} // closed when nobody listens any more
	out  *json.Encoder
	req  LogRequest

	first bool  // no attempt was found yet
	atOut int64 // how far the attempt was told of
	atErr int64

	mu    sync.Mutex
	final *LogEvent // of the attempt that is followed, once it has ended
}

// serveLogs begins to answer. Where the system has no such sockets nobody is answered, and nothing else depends on it.
func (e *Executor) serveLogs() *logs {
	path := e.cfg.Folders.logSocket()
	_ = os.Remove(path) // an engine's that was killed
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil
	}
	listen, err := net.Listen("unix", throughFolder(folder, path))
	if err != nil {
		folder.Close()
		return nil
	}
	l := &logs{e: e, listen: listen, folder: folder, followers: map[*follower]*process{}}
	go func() {
		for {
			conn, err := listen.Accept()
			if err != nil {
				return
			}
			go l.serve(conn)
		}
	}()
	return l
}

// throughFolder returns a name of a socket that is short enough: the system takes some hundred bytes.
func throughFolder(folder *os.File, path string) string {
	const most = 100
	if len(path) < most {
		return path
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), filepath.Base(path))
}

func (l *logs) close() {
	if l == nil {
		return
	}
	l.listen.Close()
	l.folder.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for f := range l.followers {
		f.conn.Close()
	}
}

// serve answers one request.
func (l *logs) serve(conn net.Conn) {
	defer conn.Close()
	f := &follower{conn: conn, gone: make(chan struct{}), out: json.NewEncoder(conn), first: true}
	in := json.NewDecoder(conn)
	if in.Decode(&f.req) != nil {
		return
	}
	go func() { // nothing more comes but the end
		_, _ = io.Copy(io.Discard, conn)
		close(f.gone)
	}()
	l.mu.Lock()
	l.followers[f] = nil
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.followers, f)
		l.mu.Unlock()
	}()
	told := time.Time{}
	for {
		if p := l.attach(f); p != nil {
			if !l.follow(f, p) {
				return
			}
			continue
		}
		if time.Since(told) > noneEvery {
			if told = time.Now(); f.out.Encode(LogEvent{None: true}) != nil {
				return
			}
		}
		if f.first = false; !f.req.Follow || !f.wait() {
			return
		}
	}
}

// wait waits for a while, and tells whether somebody still listens.
func (f *follower) wait() bool {
	select {
	case <-f.gone:
		return false
	case <-time.After(logEvery):
		return true
	}
}

// attach finds the attempt to follow: of those that run the one that was begun first.
func (l *logs) attach(f *follower) *process {
	l.e.mu.Lock()
	defer l.e.mu.Unlock()
	var found *process
	for _, p := range l.e.procs {
		a := p.attempt
		if a.Stage == f.req.Stage && a.Index == f.req.Task && (f.req.Attempt < 0 || f.req.Attempt == a.Number) &&
			(found == nil || a.Number < found.attempt.Number) {
			found = p
		}
	}
	if found != nil {
		f.mu.Lock()
		f.final, f.atOut, f.atErr = nil, 0, 0
		f.mu.Unlock()
		l.mu.Lock()
		l.followers[f] = found
		l.mu.Unlock()
	}
	return found
}

// follow tells of one attempt until it has ended, and whether there is more to do.
func (l *logs) follow(f *follower, p *process) bool {
	if f.out.Encode(LogEvent{Attempt: p.attempt.Number, Clone: p.attempt.Clone, Begun: true}) != nil {
		return false
	}
	lines := -1
	if f.first { // of what comes later all is told
		lines, f.first = f.req.Lines, false
	}
	for {
		out, errs := f.readOut(p, lines), l.readErr(f, p, lines)
		f.mu.Lock()
		final := f.final
		f.mu.Unlock()
		for _, ev := range []*LogEvent{out, errs, final} {
			if ev != nil && f.out.Encode(ev) != nil {
				return false
			}
		}
		switch {
		case final != nil:
			l.mu.Lock()
			l.followers[f] = nil
			l.mu.Unlock()
			return f.req.Follow
		case out != nil && len(out.Out) == logPiece: // there may be more
		case !f.req.Follow || !f.wait():
			return false
		}
		lines = -1
	}
}

// readOut returns what the attempt has written to standard output since the last time, of the first only so many lines;
// nil for nothing.
func (f *follower) readOut(p *process, lines int) (ev *LogEvent) {
	p.peek(func(out io.ReaderAt, size int64) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if lines >= 0 && f.atOut == 0 {
			f.atOut = lastLines(out, size, lines)
		}
		ev = f.piece(p, out, size, logPiece)
	})
	return ev
}

// piece returns what is between what was told and the size, of as many bytes at most; nil for nothing. f.mu is held.
func (f *follower) piece(p *process, out io.ReaderAt, size, most int64) *LogEvent {
	if size <= f.atOut {
		return nil
	}
	text := make([]byte, min(size-f.atOut, most))
	n, err := out.ReadAt(text, f.atOut)
	if n == 0 || err != nil && err != io.EOF {
		return nil
	}
	ev := &LogEvent{Attempt: p.attempt.Number, Out: text[:n], At: f.atOut}
	f.atOut += int64(n)
	return ev
}

// lastLines returns where the last lines of a file begin, if that is within a piece of its end.
func lastLines(in io.ReaderAt, size int64, lines int) int64 {
	from := max(0, size-logPiece)
	text := make([]byte, size-from)
	n, err := in.ReadAt(text, from)
	if err != nil && err != io.EOF {
		return size
	}
	return from + int64(n) - int64(len(LastLines(text[:n], lines)))
}

// LastLines returns the last lines of a text; all of it for a negative number.
func LastLines(text []byte, lines int) []byte {
	if lines < 0 {
		return text
	}
	end := len(text)
	if end > 0 && text[end-1] == '\n' {
		end--
	}
	for range lines {
		if end < 0 {
			return text
		}
		end = bytes.LastIndexByte(text[:end], '\n')
	}
	if lines == 0 {
		return nil
	}
	return text[end+1:]
}

// readErr returns what the attempt has written to standard error since the last time. The keeper has it.
func (l *logs) readErr(f *follower, p *process, lines int) *LogEvent {
	answer := make(chan *LogEvent, 1)
	l.e.host.keeper.order(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if lines >= 0 && f.atErr == 0 {
			f.atErr = p.heard - int64(len(LastLines(p.said, lines)))
		}
		answer <- f.errPiece(p)
	})
	select {
	case ev := <-answer:
		return ev
	case <-time.After(time.Second): // the engine ends
		return nil
	}
}

// errPiece returns what is new of standard error; nil for nothing. f.mu is held, and nobody changes what p has said.
func (f *follower) errPiece(p *process) *LogEvent {
	if p.heard <= f.atErr {
		return nil
	}
	begin := p.heard - int64(len(p.said))
	ev := &LogEvent{Attempt: p.attempt.Number, Lost: max(0, begin-f.atErr)}
	ev.Err = bytes.Clone(p.said[max(0, f.atErr-begin):])
	f.atErr = p.heard
	return ev
}

// ended tells those who follow an attempt what it has written last, and how it ended. It is called before the file of
// its standard output becomes another's, and after nobody can begin to follow it.
func (l *logs) ended(p *process, exit int, note string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	var all []*follower
	for f, of := range l.followers {
		if of == p {
			all = append(all, f)
		}
	}
	l.mu.Unlock()
	killed := p.killer() == byEngine
	for _, f := range all {
		f.mu.Lock()
		ev := &LogEvent{Attempt: p.attempt.Number, Ended: true, Won: exit == 0 && !killed}
		if !killed {
			ev.Note = note
		}
		if p.stdout != nil {
			if info, err := p.stdout.handle.Stat(); err == nil {
				if last := f.piece(p, p.stdout.handle, info.Size(), logMost); last != nil {
					ev.Out, ev.At = last.Out, last.At
				}
			}
		}
		if last := f.errPiece(p); last != nil {
			ev.Err, ev.Lost = last.Err, last.Lost
		}
		f.final = ev
		f.mu.Unlock()
	}
}

// ErrNobody is the error of a run that no engine is at work on, or of one that cannot be asked.
var ErrNobody = errors.New("no engine answers")

// AskLogs asks the engine of a run, and calls tell with each piece of the answer until that ends, tell returns false,
// or done is closed. It is ErrNobody if nobody answers.
func (f Folders) AskLogs(req LogRequest, done <-chan struct{}, tell func(*LogEvent) bool) error {
	path := f.logSocket()
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return ErrNobody
	}
	conn, err := net.Dial("unix", throughFolder(folder, path))
	folder.Close()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNobody, err)
	}
	defer conn.Close()
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-done:
			conn.Close()
		case <-over:
		}
	}()
	if err := json.NewEncoder(conn).Encode(req); err != nil {
		return err
	}
	for in := json.NewDecoder(conn); ; {
		var ev LogEvent
		if err := in.Decode(&ev); err != nil || !tell(&ev) {
			return nil // the engine has ended, or has said all
		}
	}
}
