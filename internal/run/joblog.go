package run

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/trace"
)

// joblog appends a line per attempt to a file, in the columns of GNU parallel's --joblog. Seq is the task's number from
// 1; attempts that were killed have signal 9. Send and Receive are 0: nothing is transferred.
type joblog struct {
	file  *os.File
	works []*jobfile.Work // see live.Attempt.Work
	h     *trace.JournalHeader

	// Lines are written by a goroutine that is there while there are any, for a disk may hang.
	mu    sync.Mutex
	quiet sync.Cond // there is none
	lines []byte
	busy  bool
	err   error // the first
}

// checkJoblog finds out whether the file can be written to.
func (e *Engine) checkJoblog() error {
	if e.o.Joblog == "" {
		return nil
	}
	file, err := os.OpenFile(e.o.Joblog, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return fmt.Errorf("--joblog: %w", err)
	}
	return file.Close()
}

func openJoblog(path string, works []*jobfile.Work, h *trace.JournalHeader) (*joblog, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	l := &joblog{file: f, works: works, h: h}
	l.quiet.L = &l.mu
	if info, err := f.Stat(); err == nil && info.Size() == 0 {
		l.lines = []byte("Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n")
	}
	return l, nil
}

// ended has the line of an attempt written, soon.
func (l *joblog) ended(r *live.Record, last live.Report) {
	if l == nil || r.End == live.Refused {
		return
	}
	seq := r.Index + 1
	for s := range r.Stage {
		seq += l.h.Job.Stages[s].Tasks
	}
	exit, signal := 0, 0
	switch {
	case r.End == live.Failed && last.Exit > 128:
		exit, signal = last.Exit, last.Exit-128
	case r.End == live.Failed:
		exit = last.Exit
	case r.End != live.Won:
		exit, signal = -1, 9
	}
	start := float64(l.h.Started.Add(time.Duration(r.Start)).UnixNano()) / 1e9
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = fmt.Appendf(l.lines, "%d\t:\t%.3f\t%10.3f\t0\t0\t%d\t%d\t%s\n", seq, start, r.Seconds(), exit, signal, l.command(r))
	if !l.busy {
		l.busy = true
		go l.write()
	}
}

// write writes lines until there are none, or one could not be written.
func (l *joblog) write() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.lines) > 0 {
		lines := l.lines
		l.lines = nil
		l.mu.Unlock()
		var err error
		if l.err == nil {
			_, err = l.file.Write(lines)
		}
		l.mu.Lock()
		l.err = cmp.Or(l.err, err)
	}
	l.busy = false
	l.quiet.Broadcast()
}

// command returns what the attempt ran, quoted for a shell, on one line: the end of a line in it is NUL, as GNU
// parallel writes it.
func (l *joblog) command(r *live.Record) string {
	a := l.works[r.Work].Array
	if a == nil {
		return fmt.Sprintf("%s %s %d", l.works[r.Work].MapReduce.Operator.Name, l.h.Stages[r.Stage], r.Index)
	}
	return strings.ReplaceAll(a.Stages[r.Stage].Shell(r.Index), "\n", "\x00")
}

func (l *joblog) close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	for l.busy {
		l.quiet.Wait()
	}
	l.mu.Unlock()
	l.write() // the head of a log without lines
	return cmp.Or(l.err, l.file.Close())
}
