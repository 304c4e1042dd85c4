package history

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// The trace file of Nextflow (-with-trace): columns parted by tabs, of which the user chooses some, in words (1m 2.5s)
// or raw (milliseconds).
//
// Stage is the process, or the name without what is in brackets; Task is task_id, or without that the number of the
// hash in the file, from 0. A retry has a task_id and a hash of its own and the name, or the tag, of the task that
// failed: it is a further attempt of that. A row that cannot be read is passed over and counted. The duration is
// realtime, else complete minus start, else the column duration, which has the wait in the queue in it. Tasks that a
// resumed run took from its cache count as they ran then.

type nextflow struct {
	names    names
	hashes   map[string]int         // task by hash, where there is no task_id
	attempts map[int]int            // by task
	failed   map[nextflowName][]int // tasks whose last attempt failed
	t        table
	a        Record

	id, hash, name, tag, process, status, realtime, start, complete, duration, attempt, host, readBytes int
}

// nextflowName is what a task and its retries have in common.
type nextflowName struct{ stage, name string }

func newNextflow() *nextflow {
	return &nextflow{names: names{}, hashes: map[string]int{}, attempts: map[int]int{}, failed: map[nextflowName][]int{}}
}

// nextflowHead recognises the names of columns.
func nextflowHead(head []byte) bool {
	line, _ := firstLine(head)
	f := appendSplit(nil, line, "\t")
	has := func(name string) bool {
		return slices.ContainsFunc(f, func(b []byte) bool { return string(b) == name })
	}
	return has("task_id") || has("hash") && has("status") || has("status") && has("realtime")
}

func (n *nextflow) read(in *lines, emit emit) error {
	t := &n.t
	t.in = in
	return in.each(func(line []byte) error {
		if len(bytes.TrimSpace(line)) == 0 {
			return nil
		}
		if t.columns == nil {
			t.header(appendSplit(nil, line, "\t"))
			return n.header()
		}
		err := t.split(line, "\t")
		if err == nil {
			err = n.line(emit)
		}
		if err == nil || errors.Is(err, errEnough) || in.open {
			return err
		}
		return in.skip(err)
	})
}

func (n *nextflow) header() error {
	t := &n.t
	n.id, n.name, n.process, n.status = t.find("task_id"), t.find("name"), t.find("process"), t.find("status")
	n.realtime, n.start, n.complete, n.duration = t.find("realtime"), t.find("start"), t.find("complete"), t.find("duration")
	n.tag, n.hash = t.find("tag"), t.find("hash")
	n.attempt, n.host, n.readBytes = t.find("attempt"), t.find("hostname"), t.find("rchar", "read_bytes")
	switch {
	case n.id < 0 && n.hash < 0 || n.status < 0:
		return t.lacks("the columns task_id, or hash, and status")
	case n.realtime < 0 && n.duration < 0 && (n.start < 0 || n.complete < 0):
		return t.lacks("the column realtime, or start and complete, or duration")
	}
	return nil
}

func (n *nextflow) line(emit emit) error {
	t := &n.t
	id, err := n.task()
	if err != nil {
		return err
	}
	n.a = Record{Task: id, Stage: n.stage(), Host: n.names.keep(t.cell(n.host))}
	switch string(t.cell(n.status)) {
	case "COMPLETED", "CACHED":
	case "FAILED":
		n.a.Outcome = Failed
	case "ABORTED":
		n.a.Outcome = Killed
	case "RUNNING":
		n.a.Outcome = Running
	case "NEW", "SUBMITTED", "PENDING":
		return nil
	default:
		return t.expected(n.status, "COMPLETED, CACHED, FAILED or ABORTED")
	}
	if err := n.number(); err != nil {
		return err
	}
	known, err := n.times()
	if err != nil {
		return err
	}
	if !known && n.a.Outcome == Succeeded {
		return nil
	}
	n.a.InputBytes, _ = size(t.cell(n.readBytes))
	return emit(&n.a)
}

// task is what the row calls its task.
func (n *nextflow) task() (int, error) {
	t := &n.t
	if n.id < 0 {
		hash := string(t.cell(n.hash))
		id, known := n.hashes[hash]
		if !known {
			id = len(n.hashes)
			n.hashes[hash] = id
		}
		return id, nil
	}
	id, err := strconv.Atoi(string(t.cell(n.id)))
	if err != nil || id < 0 {
		return 0, t.expected(n.id, "a whole number")
	}
	return id, nil
}

// number finds the task that the row is an attempt of, and which attempt.
func (n *nextflow) number() error {
	t := &n.t
	first := false
	if n.attempt >= 0 {
		number, err := strconv.Atoi(string(t.cell(n.attempt)))
		if err != nil || number < 1 {
			return t.expected(n.attempt, "the number of an attempt, from 1")
		}
		first = number == 1
		n.a.Number = number - 1
	}
	what := nextflowName{n.a.Stage, n.names.keep(t.cell(n.name))}
	if n.name < 0 {
		what.name = n.names.keep(t.cell(n.tag))
	}
	open := n.failed[what]
	if what.name != "" && len(open) > 0 && !first {
		n.a.Task = open[0]
		n.failed[what] = open[1:]
	}
	if n.attempt < 0 {
		n.a.Number = n.attempts[n.a.Task]
	}
	n.attempts[n.a.Task]++
	if n.a.Outcome == Failed {
		n.failed[what] = append(n.failed[what], n.a.Task)
	}
	return nil
}

// stage returns the process: of the name "FASTQC (sample 3)" it is FASTQC.
func (n *nextflow) stage() string {
	if n.process >= 0 {
		return n.names.keep(n.t.cell(n.process))
	}
	name, _, _ := bytes.Cut(n.t.cell(n.name), []byte(" ("))
	return n.names.keep(name)
}

// times fills in start and duration; known is false if the log does not say how long the attempt took.
func (n *nextflow) times() (known bool, err error) {
	t := &n.t
	var complete sched.Time
	for _, c := range []struct {
		column int
		at     *sched.Time
	}{{n.start, &n.a.Start}, {n.complete, &complete}} {
		text := t.cell(c.column)
		if missing(text) {
			continue
		}
		at, ok := nextflowInstant(text)
		if !ok {
			return false, t.expected(c.column, "a date such as 2024-05-06 07:08:09.123, or milliseconds since 1970")
		}
		*c.at = at
	}
	for _, column := range []int{n.realtime, n.duration} {
		if text := t.cell(column); !missing(text) {
			d, ok := nextflowSpan(text)
			if !ok {
				return false, t.expected(column, "a time such as 1h 2m 3.5s, or milliseconds")
			}
			n.a.Duration = d
			return true, nil
		}
		if complete > 0 && n.a.Start > 0 {
			n.a.Duration = span(n.a.Start, complete)
			return true, nil
		}
	}
	return false, nil
}

func missing(cell []byte) bool { return len(cell) == 0 || string(cell) == "-" }

func nextflowInstant(text []byte) (sched.Time, bool) {
	if ms, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return millis(ms)
	}
	at, err := time.Parse("2006-01-02 15:04:05.999", string(text))
	return sched.Time(at.UnixNano()), err == nil && at.Year() >= 1970 && at.Year() < 2043
}

// nextflowUnits are what durations are made of.
var nextflowUnits = map[string]float64{"ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86400}

func nextflowSpan(text []byte) (sched.Time, bool) {
	if ms, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return millis(ms)
	}
	var seconds float64
	for _, part := range bytes.Fields(text) {
		i := bytes.IndexAny(part, "dhms")
		if i < 0 {
			return 0, false
		}
		x, ok := decimal(part[:i])
		unit, known := nextflowUnits[string(part[i:])]
		if !ok || !known {
			return 0, false
		}
		seconds += x.Seconds() * unit
	}
	t := sched.FromSeconds(seconds)
	return t, t <= maxInstant
}

// sizeUnits are Nextflow's, powers of 1024.
var sizeUnits = map[string]float64{"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40, "PB": 1 << 50}

// size reads a number of bytes such as 7.5 MB.
func size(text []byte) (int64, bool) {
	number, unit, _ := bytes.Cut(text, []byte{' '})
	x, err := strconv.ParseFloat(string(number), 64)
	factor, known := sizeUnits[string(unit)]
	if err != nil || !known || !(x >= 0 && x*factor < 1<<62) {
		return 0, false
	}
	return int64(x * factor), true
}

func (n *nextflow) finish(emit) error { return nil }
