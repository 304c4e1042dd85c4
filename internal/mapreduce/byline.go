package mapreduce

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// lineMapper runs the command of a mapper that treats each line by itself: once for each stride, so that what came of a
// stride is complete when it ends. It is the collector of its attempt, and what the command writes goes on to another.
type lineMapper struct {
	collector
	a     *worker
	read  func(io.Reader) error // of what the command writes, into the collector
	in    *io.PipeWriter        // to the command; nil while none runs
	ended chan error
	size  atomic.Int64 // of a piece; 0 at first
}

// mapLines maps what is left of the attempt's split.
func (a *worker) mapLines(into collector, read func(io.Reader) error) error {
	m := &lineMapper{collector: into, a: a, read: read}
	a.appetite = m.appetite
	defer m.abandon()
	if a.spec.Resume == nil { // it runs even if there is nothing to read
		m.begin()
	}
	err := a.pieces(m, func(piece []byte) error {
		if m.in == nil {
			m.begin()
		}
		_, err := m.in.Write(piece)
		return err
	})
	if err != nil {
		return err
	}
	return m.end()
}

func (m *lineMapper) begin() {
	r, w := io.Pipe()
	m.in, m.ended = w, make(chan error, 1)
	go func() {
		err := m.a.command("mapper", m.a.spec.Operator.Mapper, m.dribble(r), m.read)
		if err == nil { // it may have left some of its input unread
			_, err = io.Copy(io.Discard, r)
		}
		_ = r.CloseWithError(err)
		m.ended <- err
	}()
}

// A stride ends when its command is through with all that it was given, so that is never much: a piece is handed over
// once the one before has left the pipe, and pieces grow while the command is quick with them.
const (
	leastPiece = 64
	quickPiece = 20 * time.Millisecond
	slowPiece  = 200 * time.Millisecond
)

// appetite returns how many bytes the next piece should have at most.
func (m *lineMapper) appetite() int64 { return max(leastPiece, m.size.Load()) }

// dribble feeds a command with pieces, each when it has read the one before.
func (m *lineMapper) dribble(pieces io.Reader) func(*os.File) error {
	return func(pipe *os.File) error {
		piece := make([]byte, chunkSize+1)
		for {
			n, err := pieces.Read(piece)
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			began := time.Now()
			if _, err := pipe.Write(piece[:n]); err != nil {
				return err
			}
			if err := drained(pipe); err != nil {
				return err
			}
			switch took := time.Since(began); {
			case took < quickPiece:
				m.size.Store(min(2*m.appetite(), chunkSize))
			case took > slowPiece:
				m.size.Store(m.appetite() / 2)
			}
		}
	}
}

// drained waits until nothing is left in a pipe, where the system tells. The error is os.ErrClosed.
func drained(pipe *os.File) error {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return os.ErrClosed
	}
	for pause := 20 * time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		left := 0
		if err := conn.Control(func(fd uintptr) { left = unread(fd) }); err != nil {
			return os.ErrClosed
		}
		if left == 0 {
			return nil
		}
		time.Sleep(pause)
	}
}

// end waits until the command has mapped what it was given.
func (m *lineMapper) end() error {
	if m.in == nil {
		return nil
	}
	_ = m.in.Close()
	m.in = nil
	return <-m.ended
}

// abandon ends the command of an attempt that has failed.
func (m *lineMapper) abandon() {
	if m.in != nil {
		_ = m.in.CloseWithError(errAbandoned)
		<-m.ended
	}
}

var errAbandoned = errors.New("the attempt has failed")

// ripen ends the stride's command.
func (m *lineMapper) ripen() error {
	if err := m.end(); err != nil {
		return err
	}
	return m.collector.ripen()
}

// verbatim collects what commands write as it is: the files of the strides, and of what came since.
type verbatim struct {
	a     *worker
	saved []string
	out   *os.File // nil if nothing was begun
}

func (v *verbatim) collect(r io.Reader) error {
	if v.out == nil {
		path, err := v.a.temp()
		if err != nil {
			return err
		}
		if v.out, err = os.Create(path); err != nil {
			return fmt.Errorf("output of the mapper: %w", err)
		}
	}
	return copyTo(v.out)(r)
}

func (v *verbatim) ripen() error           { return nil }
func (v *verbatim) drain() error           { return nil }
func (v *verbatim) inherit(files []string) { v.saved = append(v.saved, files...) }

func (v *verbatim) save(path string) error {
	if err := v.close(); err != nil {
		return err
	}
	if err := os.Rename(v.out.Name(), path); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	v.saved, v.out = append(v.saved, path), nil
	return nil
}

func (v *verbatim) close() error {
	if err := v.out.Close(); err != nil {
		return fmt.Errorf("output of the mapper: %w", err)
	}
	return nil
}

// writeTo writes everything, in order.
func (v *verbatim) writeTo(w io.Writer) error {
	files := v.saved
	if v.out != nil {
		if err := v.close(); err != nil {
			return err
		}
		files = append(files, v.out.Name())
	}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("output of the mapper: %w", err)
		}
		err = copyTo(w)(f)
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
