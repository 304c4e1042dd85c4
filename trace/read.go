package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/unpack"
)

// Read reads a workload in any of the formats of docs/reference/workloads.md. Compression (gzip, zstd) and format are
// told by the content. An error is one line that names the line, counted from 1, the field, and what was expected
// there.
func (m *Importer) Read(r io.Reader, name string) (*Workload, error) {
	in := newReader(name, maxTasks, m.withDefaults())
	plain, done, err := decompress(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer done()
	in.lines = bufio.NewReaderSize(plain, 1<<18)
	if mark, _ := in.lines.Peek(3); string(mark) == "\ufeff" {
		_, _ = in.lines.Discard(3)
	}
	if err := in.read(); err != nil {
		return nil, err
	}
	m.unread = slices.DeleteFunc(m.unread, func(key string) bool { return slices.Contains(in.asks, key) })
	return in.w, nil
}

// decompress unpacks what begins like a compressed stream. done releases what it holds.
func decompress(r io.Reader) (plain io.Reader, done func(), err error) {
	b := bufio.NewReaderSize(r, 1<<16)
	if _, err := b.Peek(4); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	s, err := unpack.Open(b, 0)
	if err == nil && s.Packed {
		s.Reader = whole{s.Reader}
	}
	return s.Reader, s.Done, err
}

// whole is a decompressed stream that says so if the compressed one was cut short.
type whole struct{ plain io.Reader }

func (w whole) Read(p []byte) (int, error) {
	n, err := w.plain.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errShort
	}
	return n, err
}

// reader reads one stream into a workload.
type reader struct {
	w      *Workload
	set    Importer // without zero values
	asks   []string // keys of set that the format leaves open
	lines  *bufio.Reader
	long   []byte // a line longer than the buffer of lines
	end    *tail  // nil of what must be whole
	line   uint32 // number of the current line, from 0
	most   int    // tasks in all
	shared int    // tasks of stages beyond the durations that these share with others
	names  *names
	laws   map[string]int32  // index in w.Laws by spec
	sites  map[string]uint32 // index in w.Sites by name
}

func newReader(name string, most int, set Importer) *reader {
	w := &Workload{Name: name}
	return &reader{w: w, set: set, most: most, names: newNames(w)}
}

// read takes the format from the beginning.
func (in *reader) read() error {
	head, err := in.lines.Peek(sampleSize)
	s := newSample(head)
	var f *format
	if s != nil {
		f = formatOf(s)
	}
	short := errors.Is(err, errShort) && f != nil && f.whole != nil
	if err != nil && !errors.Is(err, io.EOF) && !short {
		return fmt.Errorf("%s: %w", in.w.Name, err)
	}
	if s != nil {
		if f == nil {
			return fmt.Errorf("%s: expected one of the formats %s; it begins with %q", in.w.Name, formatNames(), abridged(s.line))
		}
		in.asks = f.asks
		if f.whole != nil {
			in.end = &tail{from: in.lines, whole: func(line []byte) bool { return f.whole(s, line) }}
			in.lines = bufio.NewReaderSize(in.end, 1<<18)
		}
		if err := f.read(in); err != nil {
			return err
		}
		if in.end != nil && in.end.cut != nil {
			in.w.Notes = append(in.w.Notes, fmt.Sprintf("%s:%d: %v: the file is truncated; the part before is used", in.w.Name, in.end.lines+1, in.end.cut))
		}
	}
	if len(in.w.Jobs) == 0 {
		return fmt.Errorf("%s: expected at least one job, found none%s", in.w.Name, in.noJobs())
	}
	in.w.sortByArrival()
	return nil
}

// noJobs says why there may be none.
func (in *reader) noJobs() string {
	if len(in.w.Notes) == 0 {
		return ""
	}
	return "; " + strings.TrimPrefix(in.w.Notes[len(in.w.Notes)-1], in.w.Name+": ")
}

// next returns the next line, io.EOF after the last.
func (in *reader) next() (string, error) {
	part, err := in.lines.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		if len(part) > 0 && errors.Is(err, io.EOF) {
			err = nil
		}
		return string(part), err
	}
	in.long = append(in.long[:0], part...)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = in.lines.ReadSlice('\n')
		in.long = append(in.long, part...)
		if len(in.long) > maxLine {
			return "", fmt.Errorf("expected lines of at most %d bytes", maxLine)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return string(in.long), err
}

// maxLine bounds a line, so that a file that is no workload does not fill the memory.
const maxLine = 1 << 30

// wrong says what is wrong with a field of the current line; field may be empty.
func (in *reader) wrong(field string, err error) error {
	if field == "" {
		return fmt.Errorf("%s:%d: %w", in.w.Name, in.line+1, err)
	}
	return fmt.Errorf("%s:%d: field %s: %w", in.w.Name, in.line+1, field, err)
}

// room refuses more tasks than a workload can hold.
func (in *reader) room(tasks int) error {
	if tasks > in.most-len(in.w.Durations)-in.shared {
		return fmt.Errorf("expected at most %d tasks in all", in.most)
	}
	return nil
}
