package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// jsonStream walks over JSON documents one after the other whose lists are too long for memory, and knows on which line
// it is.
type jsonStream struct {
	in *lines
	d  *json.Decoder
	c  lineCounter
}

func newJSONStream(in *lines) *jsonStream {
	s := &jsonStream{in: in}
	s.c.r = in.in
	s.d = json.NewDecoder(&s.c)
	return s
}

// open takes an opening bracket; false at the end of the stream.
func (s *jsonStream) open(bracket json.Delim) (bool, error) {
	t, err := s.d.Token()
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err == nil && t != bracket {
		err = fmt.Errorf("expected %v, got %v", bracket, t)
	}
	return err == nil, s.wrong("", err)
}

// close takes a closing bracket.
func (s *jsonStream) close() error {
	_, err := s.d.Token()
	return s.wrong("", err)
}

// fields takes the rest of an object and its bracket, and calls visit for each key to take the value.
func (s *jsonStream) fields(visit func(key string) error) error {
	for s.d.More() {
		t, err := s.d.Token()
		if err != nil {
			return s.wrong("", err)
		}
		key, _ := t.(string)
		if err := visit(key); err != nil {
			return err
		}
	}
	return s.close()
}

// decode takes a value, which belongs to a field.
func (s *jsonStream) decode(field string, v any) error {
	return s.wrong(field, s.d.Decode(v))
}

// skip takes a value that does not matter.
func (s *jsonStream) skip(field string) error {
	var ignored json.RawMessage
	return s.decode(field, &ignored)
}

// list takes a list, or null, and calls visit for each item to decode it.
func (s *jsonStream) list(field string, visit func() error) error {
	t, err := s.d.Token()
	switch {
	case err != nil:
		return s.wrong(field, err)
	case t == nil:
		return nil
	case t != json.Delim('['):
		return s.wrong(field, fmt.Errorf("expected a list, got %v", t))
	}
	for s.d.More() {
		if err := visit(); err != nil {
			return err
		}
	}
	return s.close()
}

// wrong words an error of the decoder.
func (s *jsonStream) wrong(field string, err error) error {
	if err == nil {
		return nil
	}
	s.in.number = 1 + s.c.at(s.d.InputOffset())
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		if kind.Field != "" {
			field += "." + kind.Field
		}
		err = fmt.Errorf("expected %s, got a %s", article(kind.Type.Kind().String()), kind.Value)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		err = errors.New("expected more JSON, found the end of the file")
		if s.in.notes != nil {
			return errCut{s.in.wrong(field, err)}
		}
	case errors.As(err, &syntax):
		err = fmt.Errorf("expected JSON: %w", err)
	}
	return s.in.wrong(field, err)
}

// article names a Go kind for people.
func article(kind string) string {
	switch kind {
	case "string":
		return "a text"
	case "int", "int64":
		return "a whole number"
	case "bool":
		return "true or false"
	case "slice":
		return "a list"
	}
	return "an object"
}

// lineCounter counts the line ends before an offset of what is read through it.
type lineCounter struct {
	r     io.Reader
	read  int64
	ends  []int64 // offsets of line ends that at has not counted
	count int
}

func (l *lineCounter) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	for i := 0; ; i++ {
		next := bytes.IndexByte(p[i:n], '\n')
		if next < 0 {
			break
		}
		i += next
		l.ends = append(l.ends, l.read+int64(i))
	}
	l.read += int64(n)
	return n, err
}

// at returns the number of line ends before offset, which must not decrease from call to call.
func (l *lineCounter) at(offset int64) int {
	i := 0
	for i < len(l.ends) && l.ends[i] < offset {
		i++
	}
	l.count += i
	l.ends = l.ends[:copy(l.ends, l.ends[i:])]
	return l.count
}
