package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Load returns the workload that a user names on the command line: a file, "-" for stdin, or the spec of a generator, "synth:...". Durations that are stated
// as a law are drawn, the same for the same seed.
func Load(arg string, stdin io.Reader, seed uint64) (*Workload, error) {
	switch {
	case arg == "-":
		return Read(stdin, "stdin", seed)
	case strings.HasPrefix(arg, synthPrefix):
		return Synthesize(arg, seed)
	}
	f, err := os.Open(arg)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	defer f.Close()
	return Read(f, arg, seed)
}

// Read reads a workload in any of the formats of this package. Compression (gzip, zstd) and format (.tr lines, JSON lines) are told by the
// content. An error is one line that names the line, counted from 1, the field, and what was expected there.
func Read(r io.Reader, name string, seed uint64) (*Workload, error) {
	in := &reader{w: &Workload{Name: name}, seed: seed, most: maxTasks}
	plain, done, err := decompress(r)
	if err != nil {
		return nil, fmt.Errorf("trace: %s: %w", name, err)
	}
	defer done()
	in.lines = bufio.NewReaderSize(plain, 1<<18)
	if err := in.read(); err != nil {
		return nil, err
	}
	return in.w, nil
}

// decompress unpacks what begins like a compressed stream. done releases what it holds.
func decompress(r io.Reader) (plain io.Reader, done func(), err error) {
	b := bufio.NewReaderSize(r, 1<<16)
	head, err := b.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, nil, err
		}
		return z, func() { _ = z.Close() }, nil
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return b, func() {}, nil
}

// reader reads one stream into a workload, line by line.
type reader struct {
	w     *Workload
	lines *bufio.Reader
	long  []byte // a line longer than the buffer of lines
	line  uint32 // number of the current line, from 0
	seed  uint64
	most  int // tasks in all
	names *names
	laws  map[string]int32 // index in w.Laws by spec
}

// read takes the format from the first line that holds something. Lines that are blank or begin with # are skipped, and counted.
func (in *reader) read() error {
	in.names = newNames(in.w)
	parse := (*reader).trLine
	for first := true; ; in.line++ {
		text, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return in.wrong("", err)
		}
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		if first && text[0] == '{' {
			parse = (*reader).jsonLine
		}
		first = false
		if err := parse(in, text); err != nil {
			return err
		}
	}
	if len(in.w.Jobs) == 0 {
		return fmt.Errorf("trace: %s: expected at least one job, found none", in.w.Name)
	}
	in.w.sortByArrival()
	return nil
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
		return fmt.Errorf("trace: %s:%d: %w", in.w.Name, in.line+1, err)
	}
	return fmt.Errorf("trace: %s:%d: field %s: %w", in.w.Name, in.line+1, field, err)
}

// room refuses more tasks than a workload can hold.
func (in *reader) room(tasks int) error {
	if tasks > in.most-len(in.w.Durations) {
		return fmt.Errorf("expected at most %d tasks in all", in.most)
	}
	return nil
}
