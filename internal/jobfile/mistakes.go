package jobfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// FieldError is a user's mistake in a file, told in one line.
type FieldError struct {
	File    string
	Line    int    // from 1
	Field   string // stages[1].after; "" for the file as a whole
	Problem string // "expected ..."
}

// Error returns FILE:LINE: field X: expected ...
func (e *FieldError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
	}
	return fmt.Sprintf("%s:%d: field %s: %s", e.File, e.Line, e.Field, e.Problem)
}

// Mistakes are all that is wrong with a file, in the order of its lines.
type Mistakes struct {
	found []*FieldError // the first mostKept
	more  int           // beyond those
}

const (
	mostKept = 1000 // a file of 16 MiB can have millions
	mostTold = 20
)

// note adds a mistake, and tells whether there was one to add.
func (m *Mistakes) note(err error) bool {
	var mistake *FieldError
	switch {
	case !errors.As(err, &mistake):
		return false
	case len(m.found) == mostKept:
		m.more++
	default:
		m.found = append(m.found, mistake)
	}
	return true
}

// err returns the mistakes in order, nil if there are none.
func (m *Mistakes) err() error {
	if len(m.found) == 0 {
		return nil
	}
	slices.SortStableFunc(m.found, func(a, b *FieldError) int { return cmp.Compare(a.Line, b.Line) })
	return m
}

// Lines tells the mistakes to people: a line each, and a last one that counts those beyond mostTold.
func (m *Mistakes) Lines() (lines []string) {
	for _, e := range m.found[:min(len(m.found), mostTold)] {
		lines = append(lines, e.Error())
	}
	if more := len(m.found) - len(lines) + m.more; more > 0 {
		lines = append(lines, fmt.Sprintf("%s: and %d more", m.found[0].File, more))
	}
	return lines
}

// Error returns the lines.
func (m *Mistakes) Error() string { return strings.Join(m.Lines(), "\n") }

// Unwrap returns the mistakes one by one, each a *FieldError.
func (m *Mistakes) Unwrap() []error {
	all := make([]error, len(m.found))
	for i, e := range m.found {
		all[i] = e
	}
	return all
}
