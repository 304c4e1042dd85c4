package proc

import (
	"io"
	"os"

	"github.com/tailcut/tailcut/internal/live"
)

// show lets others read what the attempt writes to standard output, until it is told that there is nothing any more:
// the file may be another attempt's then.
func (p *process) show(o *outFile) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.output = o
}

// peek calls look with what the attempt has written to standard output so far, if it runs.
func (p *process) peek(look func(out io.ReaderAt, size int64)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.output == nil {
		return
	}
	var info os.FileInfo
	var err error
	if info, err = p.output.handle.Stat(); err == nil {
		look(p.output.handle, info.Size())
	}
}

// Peek calls look for each attempt that runs, with what it has written to standard output so far. The reader is good
// until look returns, which must not wait.
func (e *Executor) Peek(look func(a live.Attempt, out io.ReaderAt, size int64)) {
	e.mu.Lock()
	all := make([]*process, 0, len(e.procs))
	for _, p := range e.procs {
		all = append(all, p)
	}
	e.mu.Unlock()
	for _, p := range all {
		p.peek(func(out io.ReaderAt, size int64) { look(p.attempt, out, size) })
	}
}
