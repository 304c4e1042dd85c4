package history

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/sched"
)

// numbers reads one duration per line, in seconds unless it has a unit; what follows a # is a comment, and blank lines
// are nothing. Tasks are numbered from 0.
type numbers struct{ a Record }

func (n *numbers) read(in *lines, emit emit) error {
	in.notes = nil // a number that was cut off is a number
	return in.each(func(line []byte) error {
		text, _, _ := bytes.Cut(line, []byte{'#'})
		if text = bytes.TrimSpace(text); len(text) == 0 {
			return nil
		}
		if err := n.a.seconds(text, oneSecond, false); err != nil {
			if bytes.IndexByte(text, ',') >= 0 {
				err = fmt.Errorf("%w; for a CSV add --column NAME", err)
			}
			return in.wrong("", err)
		}
		if err := emit(&n.a); err != nil {
			return err
		}
		n.a.Task++
		return nil
	})
}

func (n *numbers) finish(emit) error { return nil }

// seconds reads a duration. Durations beyond the range of Duration keep their value in seconds.
func (a *Record) seconds(text []byte, u unit, known bool) error {
	x, err := written(string(text), u, known)
	if err != nil {
		return fmt.Errorf("%w, got %q", err, abridged(text))
	}
	a.written, a.Duration = x, min(sched.FromSeconds(x), maxInstant)
	return nil
}

// csvColumn reads a column of a CSV, by its name in the first line or by its number from 1; in the latter case the
// first line may be a header or not. A header says the unit, if it says one.
type csvColumn struct {
	column string
	unit   unit
	known  bool // whether the header says the unit
	comma  rune
	a      Record
}

func (c *csvColumn) read(in *lines, emit emit) error {
	r := csv.NewReader(in.in)
	r.Comma, r.Comment = c.comma, '#'
	r.TrimLeadingSpace = true
	r.ReuseRecord = true
	index := -1
	c.unit = oneSecond
	if n, err := strconv.Atoi(c.column); err == nil {
		if n < 1 {
			return fmt.Errorf("columns count from 1, got %d", n)
		}
		index = n - 1
	}
	for first := true; ; first = false {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var bad *csv.ParseError
		switch {
		case errors.As(err, &bad):
			in.number = bad.Line
			return in.wrong("", bad.Err)
		case err != nil:
			return fmt.Errorf("%s: %w", in.name, unreadable(err))
		}
		in.number, _ = r.FieldPos(0)
		if index < 0 { // the header
			if index = slices.Index(record, c.column); index < 0 {
				return in.wrong("", fmt.Errorf("no column %q; there are: %s", c.column, oneLine(strings.Join(record, ", "))))
			}
			if err := c.header(record[index]); err != nil {
				return in.wrong("", err)
			}
			continue
		}
		if index >= len(record) {
			return in.wrong("", fmt.Errorf("no column %d; there are %d", index+1, len(record)))
		}
		err = c.a.seconds([]byte(strings.TrimSpace(record[index])), c.unit, c.known)
		if err != nil && first {
			if err := c.header(record[index]); err != nil {
				return in.wrong("", err)
			}
			continue
		}
		if err != nil {
			in.number, _ = r.FieldPos(index)
			return fmt.Errorf("%s:%d: column %s: %w", in.name, in.number, c.column, err)
		}
		if err := emit(&c.a); err != nil {
			return err
		}
		c.a.Task++
	}
}

// header takes the unit from the column's name.
func (c *csvColumn) header(name string) (err error) {
	c.unit, c.known, err = unitOf(oneLine(name))
	return err
}

// separator returns what parts the columns in the first line: what is in it most often, a comma by default.
func separator(head []byte) rune {
	line, _ := firstLine(head)
	best := ','
	for _, r := range ";\t" {
		if bytes.Count(line, []byte(string(r))) > bytes.Count(line, []byte(string(best))) {
			best = r
		}
	}
	return best
}

// oneLine keeps a message on one line.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

func (c *csvColumn) finish(emit) error { return nil }
