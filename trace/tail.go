package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// tail reads a log by whole lines. A log may end too early: what writes it still runs or has died, or the copy was cut
// short. The line that it ends in is then left out, and cut says where and why. What stands before is as good as ever.
type tail struct {
	from  io.Reader
	whole func(line []byte) bool // whether a last line that nothing ends is all there
	held  []byte                 // read from the beginning of a line on
	ready int                    // of held: whole lines
	lines int                    // that ended, so far
	cut   error
	err   error
}

func (t *tail) Read(p []byte) (int, error) {
	for t.ready == 0 && t.err == nil {
		t.fill()
	}
	if t.ready == 0 {
		return 0, t.err
	}
	n := copy(p, t.held[:t.ready])
	t.held, t.ready = t.held[n:], t.ready-n
	return n, nil
}

// fill reads on, to the end of some line if possible.
func (t *tail) fill() {
	if len(t.held) > maxLine {
		t.err = fmt.Errorf("expected lines of at most %d bytes", maxLine)
		return
	}
	seen := len(t.held)
	t.held = append(t.held, make([]byte, 1<<16)...)
	n, err := t.from.Read(t.held[seen:])
	t.held = t.held[:seen+n]
	t.lines += bytes.Count(t.held[seen:], []byte{'\n'})
	t.ready = bytes.LastIndexByte(t.held, '\n') + 1
	if t.err = err; err == nil {
		return
	}
	rest := t.held[t.ready:]
	switch {
	case errors.Is(err, errShort), errors.Is(err, io.ErrUnexpectedEOF):
		t.cut, t.err = errors.New("expected more compressed data, found the end of the file"), io.EOF
	case !errors.Is(err, io.EOF):
	case len(bytes.TrimSpace(rest)) == 0 || t.whole(rest):
		t.ready = len(t.held)
	default:
		t.cut = errors.New("expected more of the line, found the end of the file")
	}
	t.held = t.held[:t.ready]
}

// errShort says that what is compressed was cut short.
var errShort = errors.New("the compressed data end too early: the file was cut short")

// wholeJSON tells whether a line of a JSON object is, or of one of several lines.
func wholeJSON(s *sample, line []byte) bool {
	text := bytes.TrimSpace(line)
	return json.Valid(text) || !json.Valid([]byte(s.line)) && bytes.HasSuffix(text, []byte("}"))
}

// wholeRow tells whether a row has as many fields as the first, between commas.
func wholeRow(s *sample, line []byte) bool { return bytes.Count(line, []byte{','}) >= len(s.csv)-1 }

// wholeText is the same of fields between blanks.
func wholeText(s *sample, line []byte) bool { return len(strings.Fields(string(line))) >= len(s.text) }
