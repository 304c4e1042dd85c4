package sim

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/tailcut/tailcut/sched"
)

// Outage is a while during which a machine is down, counted from the first arrival.
type Outage struct {
	Machine  int // from 0
	Down, Up sched.Time
}

var outageColumns = []string{"machine", "down_seconds", "up_seconds"}

// LoadOutages reads a CSV file with the columns machine, down_seconds and up_seconds, one outage a line. An error names
// file, line and field.
func LoadOutages(file string, machines int) ([]Outage, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readOutages(f, file, machines)
}

func readOutages(f io.Reader, file string, machines int) (all []Outage, err error) {
	r := csv.NewReader(f)
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil || !slices.Equal(header, outageColumns) {
		return nil, fmt.Errorf("%s:1: expected the columns %q", file, outageColumns)
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		var bad *csv.ParseError
		if errors.As(err, &bad) {
			return nil, fmt.Errorf("%s:%d: expected %d fields: %w", file, bad.Line, len(outageColumns), bad.Err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		line, _ := r.FieldPos(0)
		m, err := strconv.Atoi(row[0])
		if err != nil || m < 0 || m >= machines {
			return nil, fmt.Errorf("%s:%d: field machine: expected a number from 0 to %d, got %q", file, line, machines-1, row[0])
		}
		var at [2]float64
		for i, text := range row[1:] {
			if at[i], err = strconv.ParseFloat(text, 64); err != nil || !(at[i] >= 0) || math.IsInf(at[i], 0) {
				return nil, fmt.Errorf("%s:%d: field %s: expected seconds since the first arrival, got %q", file, line, outageColumns[i+1], text)
			}
		}
		if at[1] <= at[0] {
			return nil, fmt.Errorf("%s:%d: field up_seconds: expected more than down_seconds, got %q", file, line, row[2])
		}
		all = append(all, Outage{m, sched.FromSeconds(at[0]), sched.FromSeconds(at[1])})
	}
}

// outagePlan says which machines go and come back when; nil is none.
type outagePlan struct {
	changes []outageChange // in order
	down    []int          // by machine: how many of its outages have begun and not ended
}

type outageChange struct {
	at      sched.Time
	machine int
	begins  bool
}

func newOutagePlan(o *Options, start sched.Time) (*outagePlan, error) {
	switch {
	case len(o.Outages) == 0:
		return nil, nil
	case o.Faults.MTBF > 0 || o.Cluster != nil || len(o.Present) > 0:
		return nil, errors.New("outages go neither with random failures nor with sites nor with machines that come and go")
	case o.Overheads.Interval > 0:
		return nil, errors.New("where machines come and go, the policy decides at once: expected no interval")
	}
	p := &outagePlan{down: make([]int, o.Machines)}
	for _, x := range o.Outages {
		if x.Machine < 0 || x.Machine >= o.Machines || x.Down < 0 || x.Up <= x.Down {
			return nil, fmt.Errorf("expected outages of machines 0 to %d, got machine %d from %v to %v", o.Machines-1, x.Machine, x.Down, x.Up)
		}
		p.changes = append(p.changes, outageChange{start + x.Down, x.Machine, true})
		if x.Up < sched.Never-start {
			p.changes = append(p.changes, outageChange{start + x.Up, x.Machine, false})
		}
	}
	slices.SortStableFunc(p.changes, func(a, b outageChange) int {
		if a.at != b.at {
			return int(max(-1, min(1, a.at-b.at)))
		}
		return a.machine - b.machine
	})
	return p, nil
}

func (p *outagePlan) next() sched.Time {
	if p == nil || len(p.changes) == 0 {
		return sched.Never
	}
	return p.changes[0].at
}

// due appends the machines that come back or go at t, each in ascending order. An outage that begins as another ends is
// one with it.
func (p *outagePlan) due(t sched.Time, back, gone []sched.MachineID) (_, _ []sched.MachineID) {
	for p.next() == t {
		m := p.changes[0].machine
		was := p.down[m] > 0
		for p.next() == t && p.changes[0].machine == m {
			if p.changes[0].begins {
				p.down[m]++
			} else {
				p.down[m]--
			}
			p.changes = p.changes[1:]
		}
		switch is := p.down[m] > 0; {
		case is && !was:
			gone = append(gone, sched.MachineID(m))
		case was && !is:
			back = append(back, sched.MachineID(m))
		}
	}
	return back, gone
}
