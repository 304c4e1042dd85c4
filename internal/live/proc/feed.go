package proc

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/tailcut/tailcut/internal/jobfile"
)

// feed writes a block to the standard input of an attempt, through a pipe: so that a block is never copied to a file of
// its own, and that attempts of the same task read the same. What it holds of it in memory is a piece.
type feed struct {
	block *jobfile.Block
	from  *os.File
	to    *os.File // the writing end, nil until there is a pipe

	mu  sync.Mutex
	err error // why it could not be read to its end
}

// errStale is wrapped by the error of a file that has changed since it was cut into blocks.
var errStale = errors.New("has changed since the run began; put it back as it was, or begin anew with --force")

// feeds holds the file that blocks are parts of.
type feeds struct {
	mu   sync.Mutex
	file *os.File
}

// open returns the feed of a block. What the run has kept of its standard input is in the file kept.
func (f *feeds) open(b *jobfile.Block, kept string) (*feed, error) {
	path := cmp.Or(b.File, kept)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		f.file = file
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() != b.Whole || !b.Changed.IsZero() && !info.ModTime().Equal(b.Changed) {
		return nil, fmt.Errorf("%s %w", path, errStale)
	}
	return &feed{block: b, from: f.file}, nil
}

func (f *feeds) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil {
		f.file.Close()
	}
}

// pipe makes the pipe and returns its reading end. It fails if a descriptor is not below most.
func (f *feed) pipe(most int) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if f.to = w; int(r.Fd()) >= most { // which makes reads from it wait, as a program expects
		r.Close()
		return nil, &os.PathError{Op: "pipe", Path: "standard input", Err: syscall.EMFILE}
	}
	return r, nil
}

// pieces are what feeds have in memory.
var pieces = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// run writes the block until it is written or nobody reads any more. A block that cannot be read to its end must not
// look like one that has ended: kill is called before the pipe is closed.
func (f *feed) run(kill func()) {
	defer f.to.Close()
	if _, err := f.to.Write(f.block.Header); err != nil {
		return
	}
	piece := pieces.Get().(*[]byte)
	defer pieces.Put(piece)
	for at, end := f.block.Offset, f.block.Offset+f.block.Size; at < end; {
		n, err := f.from.ReadAt((*piece)[:min(int64(len(*piece)), end-at)], at)
		if n == 0 {
			if err == io.EOF {
				err = fmt.Errorf("%s %w", f.from.Name(), errStale)
			}
			f.mu.Lock()
			f.err = err
			f.mu.Unlock()
			kill()
			return
		}
		if _, err := f.to.Write((*piece)[:n]); err != nil {
			return // it has read as much as it wanted
		}
		at += int64(n)
	}
}

// failed returns why the block could not be read.
func (f *feed) failed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// close ends the feed of an attempt that has ended.
func (f *feed) close() {
	if f != nil && f.to != nil {
		f.to.Close()
	}
}
