package trace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/sched"
)

// Event tables of the Google cluster trace of 2011 (Reiss, Wilkes, Hellerstein, "Google cluster-usage traces: format +
// schema"). Parts of a table may follow one another in one stream; events must be in order of time. Three tables are
// known:
//
//   - task_events: 13 comma-separated columns, times in microseconds
//   - job_events: 8 comma-separated columns; a job counts as one task, a note says so
//   - task_events as 12 blank-separated columns without the column "missing info", times in seconds: a re-encoding that
//     circulates
//
// A task lasts from its SCHEDULE to its FINISH. One that was evicted, failed or killed in between and finished later is
// left out, as are tasks whose SCHEDULE is not in the table or lies before the trace. A job arrives with its first
// event. It is incomplete if a task was killed or lost, or had not finished when the table ends. Constraints,
// priorities and resources are not kept.

// Kinds of events.
const (
	googleSubmit = iota
	googleSchedule
	googleEvict
	googleFail
	googleFinish
	googleKill
	googleLost
	googleUpdatePending
	googleUpdateRunning
)

var (
	googleTaskColumns = []string{
		"timestamp", "missing info", "job ID", "task index", "machine ID", "event type", "user", "scheduling class", "priority", "CPU request",
		"memory request", "disk request", "different machines",
	}
	googleJobColumns = []string{
		"timestamp", "missing info", "job ID", "event type", "user", "scheduling class", "job name", "logical job name",
	}
	googleTextColumns = []string{
		"time", "job ID", "task index", "machine ID", "event type", "user", "scheduling class", "priority", "CPU request", "memory request",
		"disk request", "different machines",
	}
)

func isGoogleTaskEvents(s *sample) bool { return len(s.csv) == 13 && integers(s.csv, 0, 2, 3, 5) }
func isGoogleJobEvents(s *sample) bool  { return len(s.csv) == 8 && integers(s.csv, 0, 2, 3) }

// A .tr line of twelve fields says 9 in its second, which no job is called.
func isGoogleTextEvents(s *sample) bool {
	return len(s.text) == 12 && integers(s.text, 0, 1, 2, 4) && s.text[1] != "9"
}

func (in *reader) googleTaskEvents() error {
	g := newGoogleEvents(in)
	err := in.eachRow(googleTaskColumns, func(row []string) error { return g.row(row, googleTaskColumns, [4]int{0, 2, 3, 5}, 1000) })
	if err != nil {
		return err
	}
	return g.jobsOf()
}

func (in *reader) googleJobEvents() error {
	g := newGoogleEvents(in)
	err := in.eachRow(googleJobColumns, func(row []string) error { return g.row(row, googleJobColumns, [4]int{0, 2, -1, 3}, 1000) })
	if err != nil {
		return err
	}
	in.note("a table of jobs without their tasks; each job counts as one task")
	return g.jobsOf()
}

func (in *reader) googleTextEvents() error {
	g := newGoogleEvents(in)
	err := in.eachLine(func(text string) error {
		row := strings.Fields(text)
		if len(row) != len(googleTextColumns) {
			return in.wrong("", fmt.Errorf("expected %d fields between blanks, got %d", len(googleTextColumns), len(row)))
		}
		return g.row(row, googleTextColumns, [4]int{0, 1, 2, 4}, sched.Second)
	})
	if err != nil {
		return err
	}
	return g.jobsOf()
}

// googleEvents follows tasks through their events.
type googleEvents struct {
	in    *reader
	now   sched.Time
	index map[uint64]uint32 // of a job in jobs, by its id
	jobs  []googleJob
	open  map[googleTask]googleState // tasks that have begun and not finished
	most  int                        // tasks that may still be met
	cut   int                        // tasks that finished, of unknown duration
}

type googleJob struct {
	id       uint64
	arrival  sched.Time
	finished []googleFinished
	missing  int // tasks that did not finish
}

type googleFinished struct {
	task uint32
	took sched.Time
}

type googleTask struct{ job, task uint32 }

// googleState is since when a task runs, or one of two marks.
type googleState sched.Time

const (
	googleWaiting     googleState = -1 // not started
	googleInterrupted googleState = -2 // will have no duration
)

func newGoogleEvents(in *reader) *googleEvents {
	return &googleEvents{in: in, index: map[uint64]uint32{}, open: map[googleTask]googleState{}, most: in.most}
}

// row reads one event. places are the columns of time, job, task (-1 for none) and type; unit is that of the time.
func (g *googleEvents) row(row, columns []string, places [4]int, unit sched.Time) error {
	var v [4]uint64
	for i, most := range [4]uint64{math.MaxInt64, math.MaxUint64, math.MaxUint32, googleUpdateRunning} {
		if places[i] < 0 {
			continue
		}
		var err error
		if v[i], err = g.in.whole(row, columns, places[i], most); err != nil {
			return err
		}
	}
	if v[0] > uint64(maxInstant/unit) {
		return nil // 2^63-1 stands for "after the trace"
	}
	at := sched.Time(v[0]) * unit
	if at < g.now {
		return g.in.wrong(columns[places[0]], fmt.Errorf("expected events in order of time, this one is before %s s", appendSeconds(nil, g.now)))
	}
	g.now = at
	job, known := g.index[v[1]]
	if !known {
		job = uint32(len(g.jobs))
		g.index[v[1]] = job
		g.jobs = append(g.jobs, googleJob{id: v[1], arrival: at})
	}
	return g.event(googleTask{job, uint32(v[2])}, int(v[3]), at)
}

// event moves a task on.
func (g *googleEvents) event(t googleTask, kind int, at sched.Time) error {
	state, known := g.open[t]
	if !known {
		state = googleInterrupted
		if kind == googleSubmit || kind == googleSchedule {
			state = googleWaiting
		}
		if g.most--; g.most < 0 {
			return g.in.wrong("", fmt.Errorf("expected at most %d tasks in all", g.in.most))
		}
	}
	switch kind {
	case googleSchedule:
		switch {
		case at == 0: // it ran before the trace
			state = googleInterrupted
		case state == googleWaiting:
			state = googleState(at)
		}
	case googleEvict, googleFail, googleKill, googleLost:
		state = googleInterrupted
	case googleFinish:
		delete(g.open, t)
		job := &g.jobs[t.job]
		if state >= 0 {
			job.finished = append(job.finished, googleFinished{t.task, at - sched.Time(state)})
		} else {
			g.cut++
		}
		return nil
	}
	g.open[t] = state
	return nil
}

// jobsOf makes jobs of what finished.
func (g *googleEvents) jobsOf() error {
	for t := range g.open { // only counted: the order does not matter
		g.jobs[t.job].missing++
	}
	g.open, g.index = nil, nil
	in := g.in
	incomplete, missing := 0, 0
	for k := range g.jobs {
		job := &g.jobs[k]
		if job.missing > 0 {
			incomplete, missing = incomplete+1, missing+job.missing
		}
		if len(job.finished) > 0 && (job.missing == 0 || in.set.Incomplete) {
			g.job(job, uint32(k))
		}
		job.finished = nil
	}
	if g.cut > 0 {
		in.note("skipped %d tasks that finished after an interruption or started before the table begins", g.cut)
	}
	in.noteIncomplete(incomplete, missing)
	return nil
}

// job appends a job, its tasks by index. Of a task that finished twice the first time counts.
func (g *googleEvents) job(job *googleJob, number uint32) {
	in, w := g.in, g.in.w
	slices.SortStableFunc(job.finished, func(a, b googleFinished) int { return cmp.Compare(a.task, b.task) })
	first := len(w.Durations)
	for i, f := range job.finished {
		if i == 0 || f.task != job.finished[i-1].task {
			w.Durations = append(w.Durations, f.took)
		}
	}
	w.Jobs = append(w.Jobs, JobRow{
		Arrival: job.arrival, Number: number, Name: in.names.add(strconv.FormatUint(job.id, 10)), FirstStage: uint32(len(w.Stages)), Stages: 1,
	})
	w.addStage(first, len(w.Durations)-first, 0)
}
