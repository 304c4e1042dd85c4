package history

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/tailcut/tailcut/sched"
)

// lines reads a text line by line, and words complaints about the current one.
type lines struct {
	name   string
	in     *bufio.Reader
	long   []byte // a line longer than the buffer of in
	number int    // of the current line, from 1
	open   bool   // the current line has no end: the file ends in it
	broken bool   // the file ends in the middle of what is compressed
	notes  *notes // nil of logs that are read strictly
}

// maxLine bounds a line, so that a file that is no log does not fill the memory. Query plans in Spark logs have
// megabytes.
const maxLine = 1 << 30

// next returns the next line without its end, valid until the call after; io.EOF after the last.
func (l *lines) next() ([]byte, error) {
	if l.broken {
		return nil, l.endsEarly()
	}
	part, err := l.in.ReadSlice('\n')
	if len(part) == 0 && errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	l.number++
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long[:0], part...)
		for errors.Is(err, bufio.ErrBufferFull) {
			part, err = l.in.ReadSlice('\n')
			l.long = append(l.long, part...)
			if len(l.long) > maxLine {
				return nil, l.wrong("", fmt.Errorf("expected lines of at most %d bytes", maxLine))
			}
		}
		part = l.long
	}
	if l.open = err != nil; err != nil && !errors.Is(err, io.EOF) {
		if l.broken = l.notes != nil && errors.Is(err, io.ErrUnexpectedEOF); !l.broken {
			return nil, l.wrong("", unreadable(err))
		}
		if len(part) == 0 {
			return nil, l.endsEarly()
		}
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(part, []byte{'\n'}), []byte{'\r'}), nil
}

// endsEarly says that the file ends in the middle of what is compressed.
func (l *lines) endsEarly() error {
	return errCut{l.wrong("", unreadable(io.ErrUnexpectedEOF))}
}

// each calls do with one line after the other, which is valid until do returns, and ends with the first error. What is
// wrong with a last line that has no end is that the file was cut there.
func (l *lines) each(do func(line []byte) error) error {
	for {
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(line)
			if err != nil && l.open && l.notes != nil && !errors.Is(err, errEnough) {
				return errCut{err}
			}
		}
		if err != nil {
			return err
		}
	}
}

// unreadable words an error of the file below.
func unreadable(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("expected more compressed data, found the end of the file")
	}
	return err
}

// wrong says what is wrong with a field of the current line; field may be empty.
func (l *lines) wrong(field string, err error) error {
	if field == "" {
		return fmt.Errorf("%s:%d: %w", l.name, l.number, err)
	}
	return fmt.Errorf("%s:%d: field %s: %w", l.name, l.number, field, err)
}

// expected says what was expected in a field of the current line, and what was found.
func (l *lines) expected(field, what string, got []byte) error {
	return l.wrong(field, fmt.Errorf("expected %s, got %q", what, abridged(got)))
}

// abridged shortens text for a message.
func abridged(s []byte) string {
	if len(s) > 40 {
		return string(s[:40]) + "..."
	}
	return string(s)
}

// names keeps one copy of each name, so that a name that comes again costs no memory.
type names map[string]string

func (n names) keep(b []byte) string {
	if s, known := n[string(b)]; known {
		return s
	}
	s := string(b)
	n[s] = s
	return s
}

// ifKnown is millis for what need not be there: 0 if it is not, or out of range.
func ifKnown(ms int64) sched.Time {
	if t, ok := millis(ms); ok {
		return t
	}
	return 0
}

// millis turns milliseconds into a time; false if they are out of range.
func millis(ms int64) (sched.Time, bool) {
	return sched.Time(ms) * sched.Millisecond, ms >= 0 && ms <= int64(maxInstant/sched.Millisecond)
}
