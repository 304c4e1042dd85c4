package history

import (
	"bytes"
	"errors"
	"math"
	"strconv"

	"github.com/tailcut/tailcut/sched"
)

// The joblog of GNU parallel, which tailcut run --joblog writes as well: columns parted by tabs, Seq, Host, Starttime,
// JobRuntime, Send, Receive, Exitval, Signal, Command. Task is Seq; further lines of the same Seq are further attempts.
// Exitval and Signal tell the outcome: an attempt with a signal was killed. Whether by --timeout or because another one
// had won the log does not say. A row that cannot be read is passed over and counted.

type parallel struct {
	names    names
	attempts map[int]int // by Seq
	killed   int
	notes    *notes
	a        Record
}

func newParallel() *parallel { return &parallel{names: names{}, attempts: map[int]int{}} }

var parallelColumns = []string{"Seq", "Host", "Starttime", "JobRuntime", "Send", "Receive", "Exitval", "Signal", "Command"}

// The columns.
const (
	parallelSeq = iota
	parallelHost
	parallelStart
	parallelRuntime
	parallelSend
	parallelReceive
	parallelExit
	parallelSignal
	parallelCommand
)

func (p *parallel) read(in *lines, emit emit) error {
	t := table{in: in, columns: parallelColumns}
	p.notes = in.notes
	return in.each(func(line []byte) error {
		if len(line) == 0 || bytes.HasPrefix(line, []byte("Seq\t")) {
			return nil // logs that were appended to one another repeat the header
		}
		t.row = appendSplit(t.row[:0], line, "\t")
		var err error
		if len(t.row) <= parallelCommand {
			err = in.expected("", "9 columns, the last the command", line)
		} else {
			err = p.line(&t, emit)
		}
		if err == nil || errors.Is(err, errEnough) || in.open {
			return err
		}
		return in.skip(err)
	})
}

func (p *parallel) line(t *table, emit emit) error {
	seq, err := strconv.Atoi(string(t.cell(parallelSeq)))
	if err != nil || seq < 0 {
		return t.expected(parallelSeq, "the number of a job")
	}
	start, ok := decimal(t.cell(parallelStart))
	if !ok {
		return t.expected(parallelStart, "seconds since 1970")
	}
	duration, ok := decimal(t.cell(parallelRuntime))
	if !ok {
		return t.expected(parallelRuntime, "a number of seconds of at least 0")
	}
	exit, err := strconv.Atoi(string(t.cell(parallelExit)))
	if err != nil {
		return t.expected(parallelExit, "an exit status")
	}
	signal, err := strconv.Atoi(string(t.cell(parallelSignal)))
	if err != nil {
		return t.expected(parallelSignal, "the number of a signal")
	}
	p.a = Record{Task: seq, Number: p.attempts[seq], Start: start, Duration: duration, Host: p.names.keep(t.cell(parallelHost))}
	p.attempts[seq]++
	switch {
	case signal != 0:
		p.a.Outcome = Killed
		p.killed++
	case exit != 0:
		p.a.Outcome = Failed
	}
	return emit(&p.a)
}

func (p *parallel) finish(emit) error {
	if p.killed > 0 && p.notes != nil {
		p.notes.other = append(p.notes.other, "the joblog has no reason for killed attempts: if it was a time limit (--timeout), the true tail is longer")
	}
	return nil
}

// decimal reads a number of seconds of at least 0.
func decimal(b []byte) (sched.Time, bool) {
	x, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsNaN(x) || x < 0 {
		return 0, false
	}
	t := sched.FromSeconds(x)
	return t, t <= maxInstant
}
