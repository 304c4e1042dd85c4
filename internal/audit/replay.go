// Package audit checks what runs have left: that a journal's decisions follow from its facts, and that a result is what
// its manifest says.
package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Journal is a run's journal that is to be replayed.
type Journal struct {
	path     string
	segments []string // of a server's journal, which path has; none in that of a run
	gone     int      // see Gone
	*trace.JournalReader
}

// Open opens a journal, or that of a run's output folder, or of a server. The error is [trace.ErrCorrupt], or the
// user's.
func Open(path string) (*Journal, error) {
	j := &Journal{path: path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		j.path = journalOf(path)
		if _, err := os.Stat(j.path); errors.Is(err, fs.ErrNotExist) {
			if j.segments, err = segmentsIn(path); err != nil {
				return nil, err
			}
			if len(j.segments) == 0 {
				return nil, fmt.Errorf("%s: expected the output folder of a run", path)
			}
			j.path = j.segments[len(j.segments)-1]
		}
	}
	var err error
	if j.JournalReader, err = trace.OpenJournalReader(j.path); err != nil {
		return nil, err
	}
	if _, err := policiesOf(&j.Header); err != nil {
		return nil, err
	}
	if j.Header.Segment != nil && len(j.Header.Stages) == 0 && j.segments == nil {
		j.segments = []string{j.path}
	}
	return j, nil
}

// journalOf returns the journal of the run with an output folder.
func journalOf(out string) string {
	return proc.Folders{Root: filepath.Join(out, mapreduce.PrivateName)}.Journal()
}

// policiesOf returns a fresh policy of a run, or of a server.
func policiesOf(h *trace.JournalHeader) (sched.Policy, error) {
	return policy.NewPerClass(h.Policy, h.Seed, h.Classes())
}

// Replay is what came of feeding a journal's facts to a fresh core.
type Replay struct {
	Schema    string `json:"schema"`
	Policy    string `json:"policy"`
	Batches   int    `json:"batches"`
	Facts     int    `json:"facts"`
	Decisions int    `json:"decisions"`
	Equal     bool   `json:"equal"`
	Torn      bool   `json:"torn"`               // bytes of an unfinished record follow the last whole one
	Segments  int    `json:"segments,omitempty"` // of a server's journal

	Attempts []Life `json:"attempts,omitempty"` // if asked for, in the order of their starts
	listed   bool
}

// Replay compares every decision of a journal with that of a fresh core. The error is a [live.DivergedError],
// [trace.ErrCorrupt], or one of the account beside the journal, which is read for attempts.
func (j *Journal) Replay(attempts bool) (*Replay, error) {
	switch {
	case len(j.segments) > 0 && attempts:
		return nil, live.ErrMany
	case len(j.segments) > 0:
		return j.replayChain()
	}
	res := &Replay{Schema: "tailcut.replay/v1", Policy: j.Header.Policy, Equal: true, listed: attempts}
	lives, err := live.Lives(j.JournalReader, policiesOf, func(_ *sched.Core, b *trace.Batch) { res.add(b) })
	if err == nil && attempts {
		res.Attempts, err = attemptsOf(lives, &j.Header, j.path)
	}
	if err != nil {
		return nil, err
	}
	res.Torn = j.Torn()
	return res, nil
}

func (res *Replay) add(b *trace.Batch) {
	res.Batches++
	res.Facts += len(b.Facts)
	res.Decisions += len(b.Decisions)
}

// WriteText writes the replay for people.
func (res *Replay) WriteText(w io.Writer) error {
	if res.listed {
		writeAttempts(w, res.Attempts)
	}
	_, err := fmt.Fprintf(w, "%s: replayed %d batches with %d events; all %d decisions are as in the journal\n", res.Policy, res.Batches, res.Facts, res.Decisions)
	if res.Segments > 1 {
		_, err = fmt.Fprintf(w, "each of the %d segments begins as the one before ends\n", res.Segments)
	}
	if res.Torn {
		_, err = fmt.Fprintln(w, "the journal ends with an unfinished record, which the run never acted on")
	}
	return err
}

// WriteJSON writes the replay for programs.
func (res *Replay) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(res) }

// WriteCSV writes a row for each attempt if these were asked for, else one for the replay.
func (res *Replay) WriteCSV(w io.Writer) error {
	if res.listed {
		return show.WriteRecords(w, res.Attempts)
	}
	_, err := fmt.Fprintf(w, "policy,batches,facts,decisions,equal,torn\n%q,%d,%d,%d,%v,%v\n", res.Policy, res.Batches, res.Facts, res.Decisions, res.Equal, res.Torn)
	return err
}
