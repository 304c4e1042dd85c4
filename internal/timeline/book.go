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
	tick  uint64        // counts what the book was told
}

// sheet is what a Book has of one job.
type sheet struct {
	row     JobRow
	stages  []StageRow
	rows    []Row
	told    []uint64                // when each row last changed, by Book.tick
	at      map[sched.AttemptID]int // in rows, of attempts that run
	machine map[sched.AttemptID]sched.MachineID
	changed uint64 // when anything of it last changed, by Book.tick
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
	s.changed = b.next()
}

// next numbers a change.
func (b *Book) next() uint64 {
	b.tick++
	return b.tick
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
	s.changed = b.next()
	s.rows, s.told = append(s.rows, row), append(s.told, s.changed)
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
		i, s.rows, s.told = len(s.rows), append(s.rows, row), append(s.told, 0)
	}
	row.Slot = s.rows[i].Slot
	s.changed = b.next()
	s.rows[i], s.told[i] = row, s.changed
	b.lanes.give(r.Machine, row.Slot, r.Stop)
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
		b.lanes.give(s.machine[id], s.rows[i].Slot, s.rows[i].Launched)
	}
	delete(b.jobs, job)
	if at, ok := slices.BinarySearch(b.order, job); ok {
		b.order = slices.Delete(b.order, at, at+1)
	}
}

// Since returns what has changed since an answer whose Next is given, 0 for all, as of now: the jobs of which anything
// has changed, and their attempts that were launched or have ended. These replace those of earlier answers that have
// the same job, stage, task and number.
func (b *Book) Since(tick uint64, now sched.Time) *Timeline {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.blank(now)
	for _, id := range b.order {
		if s := b.jobs[id]; s.changed > tick {
			s.into(&t, tick, now)
		}
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
	t.Next, t.Until, t.Slots = b.tick, Seconds(now), append(t.Slots, b.lanes.rows...)
	return t
}

// into adds a job to a timeline, with the attempts that have changed since a tick.
func (s *sheet) into(t *Timeline, tick uint64, now sched.Time) {
	job, stage := len(t.Jobs), len(t.Stages)
	t.Jobs = append(t.Jobs, s.row)
	for _, row := range s.stages {
		row.Job = job
		t.Stages = append(t.Stages, row)
	}
	for i, row := range s.rows {
		if s.told[i] <= tick {
			continue
		}
		if row.End == Running {
			row.Stop = max(row.Launched, now)
		}
		row.Job, row.Stage = uint32(job), uint32(stage)+row.Stage
		t.Attempts.Add(&row)
	}
}
