package history

import (
	"errors"
	"fmt"
)

// notes are what a reader did with what it could not read, for all files of a log. Lines without them are strict:
// every complaint ends the reading.
type notes struct {
	cut     []error // where files end too early, in words
	skipped int     // rows
	first   error   // what is wrong with the first of them
	told    int     // attempts
	other   []string
}

// errCut ends the reading of a file that ends too early: of a program that still runs or that died, or of a copy that
// was cut short. What stands before is as good as ever.
type errCut struct{ error }

func (e errCut) Unwrap() error { return e.error }

// skip passes over a row that cannot be read, and keeps why.
func (l *lines) skip(why error) error {
	if l.notes == nil {
		return why
	}
	if l.notes.skipped == 0 {
		l.notes.first = why
	}
	l.notes.skipped++
	return nil
}

// forgive keeps a note of a file that ends too early instead of the error. Others stay.
func (n *notes) forgive(err error) error {
	var cut errCut
	if errors.As(err, &cut) {
		n.cut = append(n.cut, err)
		return nil
	}
	return err
}

// nothing returns the first complaint of a log in which no attempt could be read.
func (n *notes) nothing() error {
	if n.told > 0 {
		return nil
	}
	if n.first != nil {
		return n.first
	}
	if len(n.cut) > 0 {
		return n.cut[0]
	}
	return nil
}

// Notes says in words what whoever uses the attempts should know of the log: that it ends too early, and which rows
// could not be read. It is complete after [Log.Attempts].
func (l *Log) Notes() []string {
	var all []string
	for _, err := range l.notes.cut {
		all = append(all, fmt.Sprintf("%v: the file is truncated; the part before is used", err))
	}
	switch n := l.notes.skipped; n {
	case 0:
	case 1:
		all = append(all, fmt.Sprintf("skipped 1 unreadable row: %v", l.notes.first))
	default:
		all = append(all, fmt.Sprintf("skipped %d unreadable rows; the first: %v", n, l.notes.first))
	}
	return append(all, l.notes.other...)
}
