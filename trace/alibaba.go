package trace

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// What the batch tables of both Alibaba traces share. A row is what Alibaba calls a task: a number of instances that do
// the same. Here it is a stage, and the instances are its tasks. The tables have no durations of instances, only the
// span from a row's start to its end. Each instance lasts that long unless [Importer.Instances] says otherwise; so by
// default no task straggles, and the work is an upper bound.
//
// Most rows start together with the rows that they depend on, and wait. Their span counts from the end of the last of
// these, unless waits are kept.
//
// A job arrives when its first row starts. Rows of a job need not be neighbours.

// batchRow is a row that has been read.
type batchRow struct {
	job       uint32
	line      uint32 // from 0
	instances uint32
	start     uint32 // s
	end       uint32 // s
	id        uint32 // number in the task's name, which others refer to; 0 if it has none
	firstNeed uint32 // ids of the rows that it waits for are needs[firstNeed : firstNeed+needs]
	needs     uint16
	finished  bool
	name      uint32 // index in Workload.Names
}

// batch gathers the rows of a table.
type batch struct {
	in     *reader
	rows   []batchRow
	needs  []uint32
	jobs   map[string]uint32
	name   []string // of each job
	absent int      // needs that refer to no row
	runs   map[sched.Time]run
	most   map[uint32]int // instances of a row, by the seconds from its start to its end
}

// run is a part of the durations of a workload that are all equal. Stages whose tasks last that long share it: tables
// of a few rows tell of so many instances that a duration for each would not fit into memory.
type run struct{ first, tasks int }

func newBatch(in *reader) *batch {
	return &batch{in: in, jobs: map[string]uint32{}, runs: map[sched.Time]run{}, most: map[uint32]int{}}
}

// add keeps a row: how many instances, when they started and ended, as the table has it. Only a row of status
// Terminated has finished. One without instances or without a start and a later end has not, whatever its status.
func (b *batch) add(row batchRow, job, instances, status, start, end string) error {
	row.line = b.in.line
	k, known := b.jobs[job]
	if !known {
		k = uint32(len(b.name))
		job = strings.Clone(job)
		b.jobs[job] = k
		b.name = append(b.name, job)
	}
	row.job = k
	var err error
	n, errN := batchNumber(instances)
	from, errFrom := batchNumber(start)
	to, errTo := batchNumber(end)
	switch {
	case errN != nil:
		err = b.in.wrong("instances", errN)
	case errFrom != nil:
		err = b.in.wrong("start", errFrom)
	case errTo != nil:
		err = b.in.wrong("end", errTo)
	}
	if err != nil {
		return err
	}
	if status == "Terminated" && n > 0 && from >= 0 && to >= from {
		row.instances, row.start, row.end, row.finished = uint32(n), uint32(from), uint32(to), true
		b.most[row.end-row.start] = max(b.most[row.end-row.start], int(n))
	}
	b.rows = append(b.rows, row)
	return nil
}

// batchNumber reads a whole number of 31 bits; an empty field is -1.
func batchNumber(s string) (int64, error) {
	if s == "" {
		return -1, nil
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("expected a whole number below 2^31 or nothing, got %q", abridged(s))
	}
	return n, nil
}

// jobsOf makes jobs of the rows.
func (b *batch) jobsOf() error {
	slices.SortStableFunc(b.rows, func(x, y batchRow) int { return cmp.Compare(x.job, y.job) })
	incomplete, missing := 0, 0
	for len(b.rows) > 0 {
		rows := b.rows[:1]
		for len(rows) < len(b.rows) && b.rows[len(rows)].job == rows[0].job {
			rows = b.rows[:len(rows)+1]
		}
		b.rows = b.rows[len(rows):]
		finished := slices.DeleteFunc(rows, func(r batchRow) bool { return !r.finished })
		if n := len(rows) - len(finished); n > 0 {
			incomplete, missing = incomplete+1, missing+n
			if !b.in.set.Incomplete {
				continue
			}
		}
		if len(finished) > 0 {
			if err := b.job(finished); err != nil {
				return err
			}
		}
	}
	b.in.noteIncomplete(incomplete, missing)
	if b.absent > 0 {
		b.in.note("%d dependencies on tasks that are not there were ignored", b.absent)
	}
	return nil
}

// job appends a job of the given rows, in an order in which they can be run.
func (b *batch) job(rows []batchRow) error {
	in, w := b.in, b.in.w
	if len(rows) > maxStages {
		in.line = rows[maxStages].line
		return in.wrong("job", fmt.Errorf("expected at most %d tasks in job %s", maxStages, abridged(b.name[rows[0].job])))
	}
	order, circle := b.order(rows)
	if circle >= 0 {
		in.line = rows[circle].line
		return in.wrong("task name", errors.New("expected dependencies without a circle, this task waits for itself"))
	}
	job := JobRow{
		Arrival: maxInstant, Number: rows[0].job, Name: in.names.add(b.name[rows[0].job]),
		FirstStage: uint32(len(w.Stages)), Stages: uint32(len(rows)), FirstEdge: uint32(len(w.Edges)),
	}
	place := make([]uint32, len(rows)) // of a row in the order
	for at, i := range order {
		row := &rows[i]
		place[i] = uint32(at)
		job.Arrival = min(job.Arrival, sched.Time(row.start)*sched.Second)
		open := row.start
		for _, from := range b.needsOf(rows, int(i)) {
			open = max(open, rows[from].end)
			w.Edges = append(w.Edges, Edge{From: place[from], To: uint32(at), Kind: sched.Barrier})
		}
		if in.set.KeepWaits {
			open = row.start
		}
		if err := b.stage(row, min(open, row.end), uint64(at)); err != nil {
			return err
		}
	}
	job.Edges = uint32(len(w.Edges)) - job.FirstEdge
	w.Jobs = append(w.Jobs, job)
	return nil
}

// order puts the rows of a job behind what they wait for.
func (b *batch) order(rows []batchRow) (order []uint32, circle int) {
	for i := range rows {
		b.absent += int(rows[i].needs) - len(b.needsOf(rows, i))
	}
	return topological(len(rows), func(i int) []uint32 { return b.needsOf(rows, i) })
}

// needsOf returns the indexes of the rows that row i waits for, each once.
func (b *batch) needsOf(rows []batchRow, i int) (found []uint32) {
	for _, id := range b.needs[rows[i].firstNeed:][:rows[i].needs] {
		k := slices.IndexFunc(rows, func(r batchRow) bool { return r.id == id })
		if k >= 0 && !slices.Contains(found, uint32(k)) {
			found = append(found, uint32(k))
		}
	}
	return found
}

// stage appends the instances of a row, which last from the given second to its end.
func (b *batch) stage(row *batchRow, open uint32, number uint64) error {
	in, w := b.in, b.in.w
	in.line = row.line
	if err := in.room(int(row.instances)); err != nil {
		return in.wrong("instances", err)
	}
	longest, n := sched.Time(row.end-open)*sched.Second, int(row.instances)
	before := len(w.Durations)
	first := before
	if law := in.set.Instances; law != nil {
		w.Durations = append(w.Durations, make([]sched.Time, n)...)
		for i := first; i < len(w.Durations); i++ {
			w.Durations[i] = longest
		}
		drawBelow(w.Durations[first:], longest, law, in.set.Seed, row.job, number)
	} else {
		first = b.equal(longest, n)
		in.shared += n - (len(w.Durations) - before)
	}
	w.addStage(first, n, row.name)
	return nil
}

// equal returns where so many equal durations are. A run has as many as the row with most instances that lasts as long
// needs. One that is too short is left to the stages that have it.
func (b *batch) equal(d sched.Time, tasks int) (first int) {
	r, w := b.runs[d], b.in.w
	if r.tasks >= tasks {
		return r.first
	}
	r = run{len(w.Durations), max(tasks, min(b.most[uint32(d/sched.Second)], b.in.most-len(w.Durations)))}
	for range r.tasks {
		w.Durations = append(w.Durations, d)
	}
	b.runs[d] = r
	return r.first
}

// drawBelow replaces durations by draws of a law, scaled so that the largest is longest.
func drawBelow(d []sched.Time, longest sched.Time, law laws.Law, seed uint64, job uint32, stage uint64) {
	draw := func(each func(i int, x float64)) {
		stream := jobStream(seed, job, stage)
		for i := range d {
			each(i, max(0, laws.Sample(law, uniform(stream))))
		}
	}
	largest := 0.0
	draw(func(_ int, x float64) { largest = max(largest, x) })
	if largest == 0 {
		return
	}
	draw(func(i int, x float64) { d[i] = sched.Time(float64(longest) * min(1, x/largest)) })
}
