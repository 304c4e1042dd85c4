// Package workload is what verbs do with workloads whatever they are for: load one by what a user calls it, take some
// of its jobs, describe it, and write it in a format that its name tells. The formats are those of package trace.
package workload

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/trace"
)

// Source says how to read a workload, and which jobs to take. The zero value takes all.
type Source struct {
	Imports []string     // what public traces leave open, KEY=VALUE, see trace.ImportUsage
	Filter  trace.Filter // but for Drop
	Drop    string       // file of the jobs to leave out, see trace.LoadDropList; "" for none

	loaded bool
	unread []string // keys of Imports that no workload that was loaded leaves open
}

// importer returns what reads workloads with the settings.
func (s *Source) importer(seed uint64) (*trace.Importer, error) {
	m := &trace.Importer{Seed: seed}
	for _, text := range s.Imports {
		if err := m.Set(text); err != nil {
			return nil, grammar.Wrong("import", err)
		}
	}
	return m, nil
}

// Unread returns an error if Imports say what none of the workloads that were loaded leaves open.
func (s *Source) Unread() error {
	unread := s.unread
	if !s.loaded {
		m, err := s.importer(0)
		if err != nil {
			return err
		}
		unread = m.Unread()
	}
	if len(unread) == 0 {
		return nil
	}
	return grammar.Wrong("import", fmt.Errorf("%s: remove it; it says nothing here, only for the formats %s", unread[0], strings.Join(trace.FormatsWith(unread[0]), ", ")))
}

// Load reads a file, "-" for stdin, a generator, whose draws have a seed, or logs, see [replay.Workload], and takes the
// jobs. Notes say what was done to it and what is odd about it. A [trace.FilterError] or [grammar.FieldError] says
// which part of the source is wrong. Reading cannot be broken off: if ctx is cancelled, it is left to itself.
func (s *Source) Load(ctx context.Context, arg string, stdin io.Reader, seed uint64) (w *trace.Workload, notes []string, err error) {
	m, err := s.importer(seed)
	if err != nil {
		return nil, nil, err
	}
	filter := s.Filter
	if s.Drop != "" {
		if filter.Drop, err = trace.LoadDropList(s.Drop); err != nil {
			return nil, nil, grammar.Wrong("drop", err)
		}
	}
	type loaded struct {
		w   *trace.Workload
		err error
	}
	ready := make(chan loaded, 1)
	go func() {
		w, err := read(m, arg, stdin)
		if err == nil {
			w, err = filter.Apply(w)
		}
		ready <- loaded{w, err}
	}()
	select {
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	case l := <-ready:
		if l.err != nil {
			return nil, nil, l.err
		}
		if !s.loaded {
			s.loaded, s.unread = true, m.Unread()
		}
		s.unread = slices.DeleteFunc(s.unread, func(key string) bool { return !slices.Contains(m.Unread(), key) })
		return l.w, notesOf(l.w), nil
	}
}

func notesOf(w *trace.Workload) []string {
	notes := w.Notes
	for _, law := range w.Laws {
		if math.IsInf(law.Mean(), 1) {
			notes = append(notes[:len(notes):len(notes)], fmt.Sprintf(
				"warning: %s: the mean of %s is infinite: simulated means depend on the random seed, for any number of tasks", w.Name, law))
		}
	}
	return notes
}
