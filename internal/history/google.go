package history

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/tailcut/tailcut/sched"
)

// Task events of Google's cluster trace of 2011 (clusterdata-2011-2): the table task_events, 13 columns parted by
// commas with times in microseconds, or the re-encoding with 12 columns parted by blanks, without the column "missing
// info" and with times in seconds.
//
// A task is told as one attempt, from its first SCHEDULE to its first FINISH, which is the rule of the single-fork
// replication paper (Section 6); evictions in between are part of it. A task that does not finish was killed at its
// last EVICT, KILL or LOST, failed at its last FAIL, or still runs when the log ends. A task that was scheduled before
// the log begins is passed over.

type google struct {
	names  names
	tasks  map[googleTask]googleState
	latest sched.Time
	row    [][]byte
	a      Record
}

type googleTask struct {
	job   string
	index int
}

type googleState struct {
	start, end sched.Time
	host       string
	outcome    Outcome
	told       bool
}

func newGoogle() *google {
	return &google{names: names{}, tasks: map[googleTask]googleState{}}
}

// googleLayout says where the columns of a table are.
type googleLayout struct {
	columns, job, index, machine, kind int
	unit                               sched.Time
}

var googleLayouts = []googleLayout{
	{columns: 13, job: 2, index: 3, machine: 4, kind: 5, unit: 1000 * sched.Nanosecond},
	{columns: 12, job: 1, index: 2, machine: 3, kind: 4, unit: sched.Second},
}

// The event types that matter.
const (
	googleSchedule = 1
	googleEvict    = 2
	googleFail     = 3
	googleFinish   = 4
	googleKill     = 5
	googleLost     = 6
	googleTypes    = 9
)

func (g *google) read(in *lines, emit emit) error {
	return in.each(func(line []byte) error {
		if len(bytes.TrimSpace(line)) == 0 || line[0] == '#' {
			return nil
		}
		return g.line(in, line, emit)
	})
}

func (g *google) line(in *lines, line []byte, emit emit) error {
	layout := &googleLayouts[0]
	g.row = appendSplit(g.row[:0], line, ",")
	if len(g.row) == 1 {
		layout = &googleLayouts[1]
		g.row = append(g.row[:0], bytes.Fields(line)...)
	}
	if len(g.row) != layout.columns {
		return in.expected("", "13 columns separated by commas, or 12 by blanks", line)
	}
	at, err := strconv.ParseInt(string(g.row[0]), 10, 64)
	if err != nil || at < 0 {
		return in.expected("1 (time)", "a whole number of at least 0", g.row[0])
	}
	kind, err := strconv.Atoi(string(g.row[layout.kind]))
	if err != nil || kind < 0 || kind >= googleTypes {
		return in.expected(strconv.Itoa(layout.kind+1)+" (event type)", "a number from 0 to 8", g.row[layout.kind])
	}
	index, err := strconv.Atoi(string(g.row[layout.index]))
	if err != nil || index < 0 {
		return in.expected(strconv.Itoa(layout.index+1)+" (task index)", "a whole number of at least 0", g.row[layout.index])
	}
	if !whole(g.row[layout.job]) {
		return in.expected(strconv.Itoa(layout.job+1)+" (job id)", "a whole number", g.row[layout.job])
	}
	if at > int64(maxInstant/layout.unit) {
		return nil // the trace says so of what happened after its end
	}
	return g.event(googleTask{g.names.keep(g.row[layout.job]), index}, sched.Time(at)*layout.unit, kind, g.row[layout.machine], emit)
}

// event follows a task.
func (g *google) event(task googleTask, at sched.Time, kind int, machine []byte, emit emit) error {
	g.latest = max(g.latest, at)
	t, known := g.tasks[task]
	switch kind {
	case googleSchedule:
		switch {
		case !known && at == 0:
			return nil // time 0 stands for before the trace
		case !known:
			t = googleState{start: at}
		}
		if t.told {
			return nil
		}
		t.outcome, t.host = Running, g.names.keep(machine)
	case googleFinish, googleFail, googleEvict, googleKill, googleLost:
		if !known || t.told {
			return nil
		}
		t.end = at
		switch kind {
		case googleFinish:
			t.outcome, t.told = Succeeded, true
		case googleFail:
			t.outcome = Failed
		default:
			t.outcome = Killed
		}
	default:
		return nil
	}
	g.tasks[task] = t
	if t.told {
		return g.tell(task, &t, t.end, emit)
	}
	return nil
}

func (g *google) tell(task googleTask, t *googleState, end sched.Time, emit emit) error {
	g.a = Record{Job: task.job, Task: task.index, Start: t.start, Duration: span(t.start, end), Outcome: t.outcome, Host: t.host}
	return emit(&g.a)
}

// finish tells of the tasks that did not finish.
func (g *google) finish(emit emit) error {
	maps.DeleteFunc(g.tasks, func(_ googleTask, t googleState) bool { return t.told })
	byID := func(a, b googleTask) int { return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.index, b.index)) }
	for _, task := range slices.SortedFunc(maps.Keys(g.tasks), byID) {
		t := g.tasks[task]
		end := t.end
		if t.outcome == Running {
			end = g.latest
		}
		if err := g.tell(task, &t, end, emit); err != nil {
			return err
		}
	}
	return nil
}
