// Package timeline holds what every attempt of one or many jobs did, and when, as columns: for pages, for other tools,
// and for programs. It says what happened; how to draw that is internal/page's.
package timeline

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// Schema names the format.
const Schema = "tailcut.timeline/v1"

// Timeline is what attempts did between two instants. Attempts name their job, stage and slot by positions in the
// tables of the same timeline.
type Timeline struct {
	Schema   string     `json:"schema"`
	Name     string     `json:"name"`    // of the run, or of the server
	Policy   string     `json:"policy"`  // that decided last
	Started  time.Time  `json:"started"` // the wall clock at second 0
	Until    Seconds    `json:"until"`   // what came later is not here
	Jobs     []JobRow   `json:"jobs"`
	Stages   []StageRow `json:"stages"`
	Slots    []SlotRow  `json:"slots"`
	Attempts Columns    `json:"attempts"`
	Next     uint64     `json:"next,omitzero"` // of a Book's answer: what to ask for next, see Book.Since
}

// JobRow is a job.
type JobRow struct {
	ID        sched.JobID `json:"id"`
	Name      string      `json:"name"`
	State     string      `json:"state"` // queued, running, paused, succeeded, failed or cancelled
	Submitted Seconds     `json:"submitted"`
	Ended     Seconds     `json:"ended,omitzero"`    // 0 until then
	Deadline  Seconds     `json:"deadline,omitzero"` // 0 for none
	Tasks     int         `json:"tasks"`
	Done      int         `json:"done"`
	Fruitful  Seconds     `json:"fruitful"` // machine time of attempts that have ended, as the core counts it
	Fruitless Seconds     `json:"fruitless"`
}

// StageRow is a stage of a job.
type StageRow struct {
	Job   int    `json:"job"` // position in Jobs
	Name  string `json:"name"`
	Class string `json:"class"` // of the slots that it needs; "" where slots have no classes
	Tasks int    `json:"tasks"`
}

// SlotRow is a slot. Slots are the lanes of a picture: a machine has as many as it ever used at once.
type SlotRow struct {
	Machine string `json:"machine"`
	Number  int    `json:"number"` // in the machine, from 0
	Site    string `json:"site"`   // "" where there are no sites
	Class   string `json:"class"`
}

// Running is the end of an attempt that has none yet: its Stop is the timeline's Until.
const Running live.End = "running"

// Row is an attempt.
type Row struct {
	Job, Stage, Slot uint32 // positions in the tables
	Task, Number     uint32 // of the stage, and of the task
	Launched         sched.Time
	Start            sched.Time // of its process; it waited since Launched
	Stop             sched.Time
	End              live.End
	Clone            bool
	From             float64 // fraction of the task that others had saved, where it went on
	Reason           sched.Reason
	Why              sched.Reason // it was killed; Unexplained if it was not
}

// Columns are attempts in the order of their launches: the n-th of each column is of the n-th attempt.
type Columns struct {
	Job      []uint32   `json:"job"`
	Stage    []uint32   `json:"stage"`
	Task     []uint32   `json:"task"`
	Number   []uint32   `json:"number"`
	Slot     []uint32   `json:"slot"`
	Launched times      `json:"launched"`
	Start    times      `json:"start"`
	Stop     times      `json:"stop"`
	End      []live.End `json:"end"`
	Clone    []bool     `json:"clone"`
	From     []float64  `json:"from"`
	Reason   reasons    `json:"reason"`
	Why      reasons    `json:"why"`
}

// newColumns returns columns that are empty lists in JSON, not null.
func newColumns() Columns {
	none := []uint32{}
	return Columns{Job: none, Stage: none, Task: none, Number: none, Slot: none, End: []live.End{}, Clone: []bool{}, From: []float64{}}
}

// Len returns the number of attempts.
func (c *Columns) Len() int { return len(c.Job) }

// Add appends an attempt.
func (c *Columns) Add(r *Row) {
	c.Job, c.Stage, c.Slot = append(c.Job, r.Job), append(c.Stage, r.Stage), append(c.Slot, r.Slot)
	c.Task, c.Number = append(c.Task, r.Task), append(c.Number, r.Number)
	c.Launched, c.Start, c.Stop = append(c.Launched, r.Launched), append(c.Start, r.Start), append(c.Stop, r.Stop)
	c.End, c.Clone, c.From = append(c.End, r.End), append(c.Clone, r.Clone), append(c.From, r.From)
	c.Reason, c.Why = append(c.Reason, r.Reason), append(c.Why, r.Why)
}

// Row returns the i-th attempt.
func (c *Columns) Row(i int) Row {
	return Row{
		Job: c.Job[i], Stage: c.Stage[i], Slot: c.Slot[i], Task: c.Task[i], Number: c.Number[i],
		Launched: c.Launched[i], Start: c.Start[i], Stop: c.Stop[i], End: c.End[i], Clone: c.Clone[i], From: c.From[i],
		Reason: c.Reason[i], Why: c.Why[i],
	}
}

// Between returns the timeline with only the attempts that were there at some instant of [from, to].
func (t *Timeline) Between(from, to sched.Time) *Timeline {
	part := *t
	part.Attempts = newColumns()
	for i := range t.Attempts.Len() {
		if r := t.Attempts.Row(i); r.Stop >= from && r.Launched <= to {
			part.Attempts.Add(&r)
		}
	}
	return &part
}

// empty returns a timeline whose lists are empty in JSON, not null.
func empty() Timeline {
	return Timeline{Schema: Schema, Jobs: []JobRow{}, Stages: []StageRow{}, Slots: []SlotRow{}, Attempts: newColumns()}
}

// WriteJSON writes the timeline for programs.
func (t *Timeline) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(t) }

// Read reads what WriteJSON has written. The error says what is wrong with it.
func Read(r io.Reader) (*Timeline, error) {
	t := &Timeline{}
	if err := json.NewDecoder(r).Decode(t); err != nil {
		return nil, err
	}
	if t.Schema != Schema {
		return nil, fmt.Errorf("schema is %q, expected %q", t.Schema, Schema)
	}
	return t, t.check()
}

// check finds columns of different lengths and positions that are in no table.
func (t *Timeline) check() error {
	c := &t.Attempts
	n := c.Len()
	for name, length := range map[string]int{
		"stage": len(c.Stage), "task": len(c.Task), "number": len(c.Number), "slot": len(c.Slot), "launched": len(c.Launched), "start": len(c.Start),
		"stop": len(c.Stop), "end": len(c.End), "clone": len(c.Clone), "from": len(c.From), "reason": len(c.Reason), "why": len(c.Why),
	} {
		if length != n {
			return fmt.Errorf("attempts.%s has %d entries, expected %d as attempts.job has", name, length, n)
		}
	}
	for i := range n {
		if int(c.Job[i]) >= len(t.Jobs) || int(c.Stage[i]) >= len(t.Stages) || int(c.Slot[i]) >= len(t.Slots) {
			return fmt.Errorf("attempt %d: its job, stage or slot is not in the tables", i)
		}
	}
	for i := range t.Stages {
		if t.Stages[i].Job < 0 || t.Stages[i].Job >= len(t.Jobs) {
			return fmt.Errorf("stages[%d].job: %d is not in the table", i, t.Stages[i].Job)
		}
	}
	return nil
}
