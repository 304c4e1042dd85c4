package history

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// The output of Slurm's sacct: with --parsable2 (or --parsable) columns parted by |, otherwise columns of fixed width
// under a line of dashes. JobID and State are needed, and one of ElapsedRaw, Elapsed, or Start and End; JobName and
// NodeList are used.
//
// A row is an attempt. Stage is JobName. For element 7 of the array job 123, whose JobID is 123_7, Job is 123 and Task
// is 7; of a plain job Job is "" and Task its number, so that jobs of one name are one stage; of the step 123.4 Job is
// 123 and Task is 4. The component 123+2 of a heterogeneous job is the job 125, as Slurm counts. The steps batch,
// extern and interactive are parts of their job and passed over, and so are elements 123_[8-20] that never started. Of
// a requeued job that is listed with --duplicates every row counts. See sacctSlots for slots.
//
// A job's name may have a |: then the row has more cells than the first line, and they are the name's. Names of
// states are cut to the width of their column: OUT_OF_ME+. A row that cannot be read is passed over and counted.

type sacct struct {
	names    names
	attempts map[sacctTask]int
	t        table
	edges    [][2]int // of the columns of fixed width, if that is what they are
	by       string   // what parts the columns otherwise
	a        Record
	slots    sacctSlots

	id, name, state, raw, elapsed, start, end, nodes int
}

type sacctTask struct {
	job, stage string
	task       int
}

func newSacct() *sacct { return &sacct{names: names{}, attempts: map[sacctTask]int{}} }

// sacctHead recognises the names of columns.
func sacctHead(head []byte) bool {
	line, _ := firstLine(head)
	f := bytes.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '|' })
	has := func(name string) bool {
		return slices.ContainsFunc(f, func(b []byte) bool { return string(b) == name })
	}
	return has("JobID") || has("JobIDRaw") && has("State")
}

func (s *sacct) read(in *lines, emit emit) error {
	t := &s.t
	t.in = in
	var head []byte
	return in.each(func(line []byte) error {
		if len(bytes.TrimSpace(line)) == 0 {
			return nil
		}
		switch {
		case t.columns == nil && head == nil && bytes.IndexByte(line, '|') >= 0:
			s.by = "|"
			t.header(appendSplit(nil, line, s.by))
			return s.header()
		case t.columns == nil && head == nil:
			head = bytes.Clone(line)
		case t.columns == nil:
			return s.widths(head, line)
		default:
			err := s.row(line, emit)
			if err == nil || errors.Is(err, errEnough) || in.open {
				return err
			}
			return in.skip(err)
		}
		return nil
	})
}

// widths takes the columns of fixed width from the line of dashes below their names.
func (s *sacct) widths(head, dashes []byte) error {
	if len(bytes.Trim(dashes, "- ")) > 0 {
		return s.t.in.expected("", "a line of dashes below the names of the columns", dashes)
	}
	for i := 0; i < len(dashes); i++ {
		if start := i; dashes[i] == '-' {
			for i < len(dashes) && dashes[i] == '-' {
				i++
			}
			s.edges = append(s.edges, [2]int{start, i})
		}
	}
	s.t.header(s.cut(nil, head))
	return s.header()
}

// cut parts a line into columns of fixed width.
func (s *sacct) cut(parts [][]byte, line []byte) [][]byte {
	for _, e := range s.edges {
		parts = append(parts, line[min(e[0], len(line)):min(e[1], len(line))])
	}
	return parts
}

func (s *sacct) header() error {
	t := &s.t
	s.id, s.name, s.state, s.nodes = t.find("JobID", "JobIDRaw"), t.find("JobName"), t.find("State"), t.find("NodeList")
	s.raw, s.elapsed, s.start, s.end = t.find("ElapsedRaw"), t.find("Elapsed"), t.find("Start"), t.find("End")
	s.slots.cpus = t.find("AllocCPUS", "NCPUS")
	switch {
	case s.id < 0 || s.state < 0:
		return t.lacks("the columns JobID and State")
	case s.raw < 0 && s.elapsed < 0 && (s.start < 0 || s.end < 0):
		return t.lacks("the column Elapsed, which sacct shows with --format=JobID,JobName,State,Elapsed")
	}
	return nil
}

// sacctStates maps the first word of a state. Jobs that have not started are not there.
var sacctStates = map[string]Outcome{
	"COMPLETED": Succeeded, "COMPLETING": Succeeded, "RUNNING": Running, "SUSPENDED": Running, "FAILED": Failed, "NODE_FAIL": Failed, "OUT_OF_MEMORY": Failed,
	"BOOT_FAIL": Failed, "TIMEOUT": TimedOut, "DEADLINE": TimedOut, "CANCELLED": Cancelled, "PREEMPTED": Killed, "REVOKED": Killed, "REQUEUED": Killed,
}

// sacctWaiting are states of jobs that have not started.
var sacctWaiting = []string{"PENDING", "CONFIGURING", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT", "RESIZING"}

// sacctState reads the first word of a state, which may have been cut; waiting says that the job has not started.
func sacctState(word []byte) (outcome Outcome, waiting, known bool) {
	name, cut := strings.CutSuffix(string(word), "+")
	for _, w := range sacctWaiting {
		if w == name || cut && strings.HasPrefix(w, name) && len(name) > 3 {
			return 0, true, true
		}
	}
	if outcome, known = sacctStates[name]; known || !cut || len(name) < 4 {
		return outcome, false, known
	}
	for _, state := range slices.Sorted(maps.Keys(sacctStates)) {
		if strings.HasPrefix(state, name) {
			return sacctStates[state], false, true
		}
	}
	return 0, false, false
}

func (s *sacct) row(line []byte, emit emit) error {
	t := &s.t
	if s.edges != nil {
		t.row = s.cut(t.row[:0], line)
	} else {
		t.row = s.whole(appendSplit(t.row[:0], line, s.by))
		if len(t.row) != len(t.columns) {
			return t.in.wrong("", fmt.Errorf("expected %d columns as in the first line, got %d", len(t.columns), len(t.row)))
		}
	}
	word, _, _ := bytes.Cut(t.cell(s.state), []byte{' '})
	outcome, waiting, known := sacctState(word)
	switch {
	case !known:
		return t.expected(s.state, "a state of a job, such as COMPLETED or TIMEOUT")
	case bytes.Contains(t.cell(s.id), []byte("_[")):
		s.slots.waits(t.cell(s.id))
		return nil
	case waiting:
		return nil
	}
	job, task, part := s.parseID(t.cell(s.id))
	if task < 0 {
		return t.expected(s.id, "an id such as 123, 123_7 or 123.0")
	}
	if part {
		return nil
	}
	s.a = Record{Job: s.names.keep(job), Stage: s.names.keep(t.cell(s.name)), Task: task, Outcome: outcome, Host: s.names.keep(t.cell(s.nodes))}
	known, err := s.times()
	if err != nil || !known || s.a.Outcome == Cancelled && s.a.Duration == 0 { // it never ran
		return err
	}
	key := sacctTask{s.a.Job, s.a.Stage, task}
	s.a.Number = s.attempts[key]
	s.attempts[key]++
	if held, err := s.slots.row(t.cell(s.id), s.count(s.slots.cpus), &s.a, emit); held || err != nil {
		return err
	}
	return emit(&s.a)
}

// whole puts the cells of a name together that has a | in it.
func (s *sacct) whole(cells [][]byte) [][]byte {
	more := len(cells) - len(s.t.columns)
	if more <= 0 || s.name < 0 {
		return cells
	}
	name := bytes.Join(cells[s.name:s.name+more+1], []byte(s.by))
	return slices.Replace(cells, s.name, s.name+more+1, name)
}

// parseID takes an id apart; task is -1 of one that is wrong. part says that it is a part of a job which is listed
// itself.
func (s *sacct) parseID(id []byte) (job []byte, task int, part bool) {
	base, step, isStep := bytes.Cut(id, []byte{'.'})
	number, element, isElement := bytes.Cut(base, []byte{'_'})
	number, component, isComponent := bytes.Cut(number, []byte{'+'})
	if !whole(number) || isComponent && !whole(component) {
		return nil, -1, false
	}
	if isStep && !whole(step) {
		return nil, 0, true
	}
	text := number
	switch {
	case isStep:
		job, text = base, step
	case isElement:
		job, text = number, element
	}
	n, err := strconv.Atoi(string(text))
	if isComponent && !isStep && !isElement {
		offset, _ := strconv.Atoi(string(component))
		n += offset
	}
	if err != nil || n < 0 {
		return nil, -1, false
	}
	return job, n, false
}

// times fills in start and duration; known is false if the job never started.
func (s *sacct) times() (known bool, err error) {
	t := &s.t
	start, err := s.instant(s.start)
	if err != nil {
		return false, err
	}
	s.a.Start = start
	s.a.Resolution = sched.Second
	if text := t.cell(s.raw); len(text) > 0 {
		d, ok := decimal(text)
		if !ok {
			return false, t.expected(s.raw, "a number of seconds")
		}
		s.a.Duration = d
		return true, nil
	}
	if text := t.cell(s.elapsed); len(text) > 0 {
		d, ok := sacctSpan(text)
		if !ok {
			return false, t.expected(s.elapsed, "a time such as 1-02:03:04, 02:03:04 or 03:04")
		}
		if bytes.IndexByte(text, '.') >= 0 {
			s.a.Resolution = 0
		}
		s.a.Duration = d
		return true, nil
	}
	end, err := s.instant(s.end)
	s.a.Duration = span(start, end)
	return start > 0 && end > 0, err
}

// instant reads a date, 0 if it is not known.
func (s *sacct) instant(column int) (sched.Time, error) {
	text := s.t.cell(column)
	if len(text) == 0 || string(text) == "Unknown" || string(text) == "None" {
		return 0, nil
	}
	at, err := time.Parse("2006-01-02T15:04:05", string(text))
	if err != nil || at.Year() < 1970 || at.Year() >= 2043 {
		return 0, s.t.expected(column, "a date such as 2024-05-06T07:08:09")
	}
	return sched.Time(at.UnixNano()), nil
}

// sacctSpan reads [days-][hours:]minutes:seconds[.fraction].
func sacctSpan(text []byte) (sched.Time, bool) {
	var seconds float64
	if days, rest, found := bytes.Cut(text, []byte{'-'}); found {
		n, err := strconv.ParseUint(string(days), 10, 16)
		if err != nil {
			return 0, false
		}
		seconds, text = float64(n)*86400, rest
	}
	parts := bytes.Split(text, []byte{':'})
	if len(parts) < 2 || len(parts) > 3 {
		return 0, false
	}
	var clock float64
	for i, p := range parts {
		x, ok := decimal(p)
		if !ok || len(p) == 0 || i < len(parts)-1 && !whole(p) || x.Seconds() > 1e6 {
			return 0, false
		}
		clock = clock*60 + x.Seconds()
	}
	return sched.FromSeconds(seconds + clock), true
}

func (s *sacct) finish(emit emit) error { return s.slots.finish(emit) }
