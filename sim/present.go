package sim

import (
	"errors"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// Present is how many machines there are from an instant of the workload's clock on, until the next.
type Present struct {
	At       sched.Time
	Machines int
}

// presence makes machines come and go. One that is to go and on which an attempt runs goes when the attempt has ended,
// and idle machines go before others: whoever takes machines away takes those of which nobody has need.
type presence struct {
	steps []Present // that are to come
	there []bool    // by machine
	count int       // of there
	want  int
}

// newPresence returns nil if all machines are always there. Otherwise there is at least one in the end.
func newPresence(o *Options, begin sched.Time) (*presence, error) {
	if len(o.Present) == 0 {
		return nil, nil
	}
	if o.Cluster != nil || o.Faults.MTBF > 0 {
		return nil, errors.New("expected machines that come and go, or sites, or machines that fail; not two of them")
	}
	for i, p := range o.Present {
		if p.Machines < 0 || p.Machines > o.Machines || i > 0 && p.At < o.Present[i-1].At {
			return nil, errors.New("expected machines that come and go in order of time, at most as many as there are")
		}
	}
	if o.Present[len(o.Present)-1].Machines == 0 {
		return nil, errors.New("expected a machine that stays")
	}
	p := &presence{steps: o.Present, there: make([]bool, o.Machines)}
	p.pass(begin)
	for m := range p.want {
		p.there[m] = true
	}
	p.count = p.want
	return p, nil
}

// next returns when the number of machines changes.
func (p *presence) next() sched.Time {
	if p == nil || len(p.steps) == 0 {
		return sched.Never
	}
	return p.steps[0].At
}

// pass goes by the steps up to an instant.
func (p *presence) pass(now sched.Time) {
	for len(p.steps) > 0 && p.steps[0].At <= now {
		p.want = p.steps[0].Machines
		p.steps = p.steps[1:]
	}
}

// due appends the machines that come or, being idle, go at an instant.
func (p *presence) due(now sched.Time, v *sched.View, back, gone []sched.MachineID) (_, _ []sched.MachineID) {
	if p.next() > now {
		return back, gone
	}
	p.pass(now)
	for m := 0; m < len(p.there) && p.count < p.want; m++ {
		if !p.there[m] {
			p.there[m] = true
			p.count++
			back = append(back, sched.MachineID(m))
		}
	}
	for m := len(p.there) - 1; m >= 0 && p.count > p.want; m-- {
		if p.there[m] && v.Machine(sched.MachineID(m)).Used == 0 {
			gone = p.take(sched.MachineID(m), gone)
		}
	}
	return back, gone
}

// release takes a machine of which the last attempt ends, if there are too many.
func (p *presence) release(m sched.MachineID, v *sched.View, gone []sched.MachineID) []sched.MachineID {
	if p == nil || p.count <= p.want || int(m) >= len(p.there) || !p.there[m] || v.Machine(m).Used != 1 {
		return gone
	}
	return p.take(m, gone)
}

func (p *presence) take(m sched.MachineID, gone []sched.MachineID) []sched.MachineID {
	p.there[m] = false
	p.count--
	gone = append(gone, m)
	slices.Sort(gone)
	return gone
}
