package timeline

import (
	"slices"
	"sync"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// Book is the timeline of an engine at work: it learns of attempts as they begin and end, and forgets jobs when it is
// told to. All methods may be called at any time from any goroutine.
type Book struct {
	mu    sync.Mutex
	all   Timeline // without jobs, stages and attempts
	lanes lanes
	jobs  map[sched.JobID]*sheet
	order []sched.JobID // ascending
}

// sheet is what a Book has of one job.
type sheet struct {
	row     JobRow
	stages  []StageRow
	rows    []Row
	at      map[sched.AttemptID]int // in rows, of attempts that run
	machine map[sched.AttemptID]sched.MachineID
	changed sched.Time // the last instant of anything in rows
}

// NewBook returns an empty book; machines are those of the engine, by id.
func NewBook(name, policy string, started time.Time, machines []SlotRow) *Book {
	b := &Book{all: empty(), lanes: lanes{known: machines}, jobs: map[sched.JobID]*sheet{}}
	b.all.Name, b.all.Policy, b.all.Started = name, policy, started
	return b
}

// Decides says that another policy decides from now on.
func (b *Book) Decides(policy string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all.Policy = policy
}

// Job adds a job, or says how it stands now. Stages are read when the job is added.
func (b *Book) Job(row JobRow, stages []StageRow) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.jobs[row.ID]
	if s == nil {
		s = &sheet{stages: slices.Clone(stages), at: map[sched.AttemptID]int{}, machine: map[sched.AttemptID]sched.MachineID{}}
		b.jobs[row.ID] = s
		at, _ := slices.BinarySearch(b.order, row.ID)
		b.order = slices.Insert(b.order, at, row.ID)
	}
	s.row = row
}

// Launched says that an attempt of a job was launched. A job that the book does not know is left out.
func (b *Book) Launched(job sched.JobID, r *live.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.jobs[job]
	if s == nil {
		return
	}
	row := rowOf(r)
	row.End, row.Slot = Running, b.lanes.take(r.Machine, r.Launched)
	s.at[r.ID], s.machine[r.ID] = len(s.rows), r.Machine
	s.rows = append(s.rows, row)
	s.changed = r.Launched
}

// Ended says that an attempt of a job has ended. One that the book did not see begin is added, in a slot that was free.
func (b *Book) Ended(job sched.JobID, r *live.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.jobs[job]
	if s == nil {
		return
	}
	row := rowOf(r)
	i, ok := s.at[r.ID]
	if !ok {
		row.Slot = b.lanes.take(r.Machine, r.Launched)
		i, s.rows = len(s.rows), append(s.rows, row)
	}
	row.Slot = s.rows[i].Slot
	s.rows[i] = row
	b.lanes.give(r.Machine, row.Slot, r.Stop)
	s.changed = max(s.changed, r.Stop)
	delete(s.at, r.ID)
	delete(s.machine, r.ID)
}

// Drop forgets a job.
func (b *Book) Drop(job sched.JobID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.jobs[job]
	if s == nil {
		return
	}
	for id, i := range s.at {
		b.lanes.give(s.machine[id], s.rows[i].Slot, s.changed)
	}
	delete(b.jobs, job)
	if at, ok := slices.BinarySearch(b.order, job); ok {
		b.order = slices.Delete(b.order, at, at+1)
	}
}

// Since returns what has changed since an instant, as of now: all jobs that the book knows, and of their attempts those
// that run, or were launched or ended at the instant or later. The Until of an answer is the instant to ask from next.
// Who has the attempts of earlier answers replaces those that have the same job, stage, task and number.
func (b *Book) Since(from, now sched.Time) *Timeline {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.blank(now)
	for _, id := range b.order {
		b.jobs[id].into(&t, from, now)
	}
	return &t
}

// Of returns all that the book has of one job, nil if it does not know it.
func (b *Book) Of(job sched.JobID, now sched.Time) *Timeline {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.jobs[job]
	if s == nil {
		return nil
	}
	t := b.blank(now)
	s.into(&t, 0, now)
	return &t
}

// blank is a timeline without jobs, with lists of its own.
func (b *Book) blank(now sched.Time) Timeline {
	t := empty()
	t.Name, t.Policy, t.Started = b.all.Name, b.all.Policy, b.all.Started
	t.Until, t.Slots = Seconds(now), append(t.Slots, b.lanes.rows...)
	return t
}

// into adds a job to a timeline, with the attempts that have changed since an instant.
func (s *sheet) into(t *Timeline, from, now sched.Time) {
	job, stage := len(t.Jobs), len(t.Stages)
	t.Jobs = append(t.Jobs, s.row)
	for _, row := range s.stages {
		row.Job = job
		t.Stages = append(t.Stages, row)
	}
	if s.changed < from && len(s.at) == 0 {
		return
	}
	for _, row := range s.rows {
		if row.End == Running {
			row.Stop = max(row.Launched, now)
		}
		if row.Stop >= from {
			row.Job, row.Stage = uint32(job), uint32(stage)+row.Stage
			t.Attempts.Add(&row)
		}
	}
}
