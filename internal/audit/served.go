package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// ServerEnded is the name of the file with a server's jobs that are over, in the folder of the server.
const ServerEnded = "ended.jsonl"

// Served is jobs of a server, by id, on one clock.
type Served struct {
	Header *trace.JournalHeader // of its journal as it is now
	Jobs   map[sched.JobID]live.Known
	Until  sched.Time
	Gone   int // jobs that it lists, and that have left no journal in their output folder, or none any more
}

// Served returns the jobs of a server: those of its segments, and those that are over, each from the journal that it
// has left in its output folder. Of what a job of a server has left it is that job. Nil for the journal of a run. The
// error is that of [Journal.Replay].
func (j *Journal) Served() (*Served, error) {
	if j.Header.Segment == nil {
		return nil, nil
	}
	if j.segments == nil {
		jobs, until, err := live.JobsOf(j.JournalReader, policiesOf)
		return &Served{Header: &j.Header, Jobs: jobs, Until: until}, err
	}
	h, jobs, until, err := live.JobsOfAll(j.segments, policiesOf)
	if err != nil {
		return nil, err
	}
	s := &Served{Header: h, Jobs: jobs, Until: until}
	folder := filepath.Dir(j.segments[0])
	if filepath.Base(folder) == ServerJournal {
		folder = filepath.Dir(folder)
	}
	over, err := readEnded(filepath.Join(folder, ServerEnded))
	if err != nil {
		return nil, err
	}
	for i := range over {
		if _, known := s.Jobs[over[i].ID]; known {
			continue
		}
		if left, ok := over[i].left(h.Started); ok {
			s.Jobs[over[i].ID], s.Until = left, max(s.Until, left.Row.Closed)
		} else {
			s.Gone++
		}
	}
	return s, nil
}

// ended is what a server lists of a job that is over.
type ended struct {
	ID        sched.JobID `json:"id"`
	Submitted time.Time   `json:"submitted"`
	Output    string      `json:"output"`
}

// readEnded reads the list of a server's jobs that are over; none if it is not there. A last line without end is just
// being written.
func readEnded(path string) (all []ended, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text[:bytes.LastIndexByte(text, '\n')+1]) {
		var e ended
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("%s:%d: expected a job in JSON: %w", path, len(all)+1, err)
		}
		all = append(all, e)
	}
	return all, nil
}

// left returns the job from the journal in its output folder, on a clock that began at an instant. It is false if the
// folder has no journal of the job: it may be of a later one.
func (e *ended) left(began time.Time) (job live.Known, ok bool) {
	r, err := trace.OpenJournalReader(journalOf(e.Output))
	if err != nil || r.Header.Segment == nil {
		return job, false
	}
	jobs, _, err := live.JobsOf(r, policiesOf)
	if err != nil {
		return job, false
	}
	job, ok = jobs[0]
	ahead := sched.Time(r.Header.Started.Sub(began))
	if !ok || !job.Submitted.Equal(e.Submitted) || job.Row.Arrived+ahead < 0 {
		return job, false
	}
	return job.Moved(e.ID, ahead), true
}
