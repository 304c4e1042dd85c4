package audit

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/timeline"
	"github.com/tailcut/tailcut/sched"
)

// ReadAttempts reads what WriteAttempts has written, into a timeline without what the table does not have: jobs without
// attempts, the number of tasks, and reasons. The error says in which line it is wrong.
func ReadAttempts(r io.Reader) (*timeline.Timeline, error) {
	in := csv.NewReader(r)
	head, err := in.Read()
	if err != nil || !slices.Equal(head, attemptColumns) {
		return nil, fmt.Errorf("line 1: expected the columns %s", strings.Join(attemptColumns, ","))
	}
	t := tableReader{places: map[string]uint32{}}
	for {
		row, err := in.Read()
		if err == io.EOF {
			return &t.Timeline, nil
		}
		if err != nil {
			return nil, err
		}
		if err := t.add(row); err != nil {
			line, _ := in.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// tableReader makes the tables of jobs, stages and slots from the lines that name them.
type tableReader struct {
	timeline.Timeline
	places map[string]uint32 // in those tables, by kind and name
}

// place returns where something is in its table; found is false if it is to be appended there.
func (t *tableReader) place(length int, kind string, names ...string) (at uint32, found bool) {
	name := kind + "\x00" + strings.Join(names, "\x00")
	if at, found = t.places[name]; !found {
		at = uint32(length)
		t.places[name] = at
	}
	return at, found
}

// add adds a line. The number of columns is right.
func (t *tableReader) add(cells []string) (wrong error) {
	of := func(column string) string { return cells[slices.Index(attemptColumns, column)] }
	note := func(column string, err error) {
		if err != nil && wrong == nil {
			wrong = fmt.Errorf("%s: expected a number, found %q", column, of(column))
		}
	}
	seconds := func(column string) (s timeline.Seconds) {
		if of(column) != "" {
			note(column, s.UnmarshalJSON([]byte(of(column))))
		}
		return s
	}
	number := func(column string) int64 {
		n, err := strconv.ParseInt(of(column), 10, 32)
		note(column, err)
		return n
	}
	from, err := strconv.ParseFloat(of("from"), 64)
	note("from", err)
	job, found := t.place(len(t.Jobs), "job", of("job_id"))
	if t.Policy = of("policy"); !found {
		t.Jobs = append(t.Jobs, timeline.JobRow{
			ID: sched.JobID(number("job_id")), Name: of("job"), State: of("state"), Submitted: seconds("submitted_seconds"), Ended: seconds("ended_seconds"),
		})
	}
	stage, found := t.place(len(t.Stages), "stage", of("job_id"), of("stage"))
	if !found {
		t.Stages = append(t.Stages, timeline.StageRow{Job: int(job), Name: of("stage"), Class: of("class")})
	}
	slot, found := t.place(len(t.Slots), "slot", of("site"), of("class"), of("machine"), of("slot"))
	if !found {
		t.Slots = append(t.Slots, timeline.SlotRow{Machine: of("machine"), Number: int(number("slot")), Site: of("site"), Class: of("class")})
	}
	t.Attempts.Add(&timeline.Row{
		Job: job, Stage: stage, Slot: slot, Task: uint32(number("task")), Number: uint32(number("attempt")),
		Launched: sched.Time(seconds("launched_seconds")), Start: sched.Time(seconds("start_seconds")), Stop: sched.Time(seconds("stop_seconds")),
		End: live.End(of("end")), Clone: of("clone") == "true", From: from,
	})
	return wrong
}
