package sim

import (
	"errors"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// Busy says which part of a site's machines does work that is not ours, for a while each. A machine that is taken is
// lost to policies as long; our attempts are not disturbed: a machine on which one runs is taken when the last of them
// has ended, if it is still wanted then.
type Busy struct {
	Level laws.Law   // part of the machines, what is below 0 counts as 0; drawn anew for each while; nil for none
	Keep  sched.Time // mean of the while, which is exponential
}

func (b *Busy) validate() error {
	if b.Level != nil && (b.Keep < sched.Millisecond || !(b.Level.Quantile(0) < 1)) {
		return errors.New("expected a level that can be below 1, kept for at least 1ms")
	}
	return nil
}

// occupancy is what becomes of Busy in one run. Which machines are taken first is drawn once, so that a higher level
// takes those of a lower one and more.
type occupancy struct {
	sites []Site
	seed  uint64
	first []sched.MachineID // of sites
	spell []uint32          // by site, how many whiles have begun
	next  queue             // by site, the end of the while
	state []claim           // by machine
	facts int               // of the present step, that are the occupancy's doing
}

// claim says whose a machine is.
type claim uint8

const (
	ours claim = iota
	wanted
	taken
)

// newOccupancy returns nil if no site is ever busy.
func newOccupancy(sites []Site, seed uint64, begin sched.Time) *occupancy {
	o := &occupancy{sites: sites, seed: seed, first: make([]sched.MachineID, len(sites)), spell: make([]uint32, len(sites))}
	o.next.grow(len(sites))
	busy := false
	for i := range sites {
		o.first[i] = sched.MachineID(len(o.state))
		for range sites[i].Machines {
			o.state = append(o.state, ours)
		}
		if sites[i].Busy.Level != nil {
			busy = true
			o.begin(i, begin, func(m sched.MachineID, want bool) {
				if want {
					o.state[m] = taken
				}
			})
		}
	}
	if !busy {
		return nil
	}
	return o
}

// begin begins the next while of a site, and tells of each machine whether it is wanted.
func (o *occupancy) begin(i int, now sched.Time, tell func(m sched.MachineID, want bool)) {
	b := &o.sites[i].Busy
	n := o.spell[i]
	o.spell[i]++
	level := laws.Sample(b.Level, uniform(draw(o.seed, forBusy, uint32(i), n, 0)))
	for m := o.first[i]; int(m-o.first[i]) < o.sites[i].Machines; m++ {
		tell(m, uniform(draw(o.seed, forOccupied, uint32(m), 0, 0)) < level)
	}
	span := sched.FromSeconds(exponential(draw(o.seed, forWhile, uint32(i), n, 0)) * b.Keep.Seconds())
	if end := now + max(1, span); end > now {
		o.next.push(uint64(i), end)
	}
}

// due appends the machines that come back or are taken at an instant.
func (o *occupancy) due(now sched.Time, v *sched.View, back, gone []sched.MachineID) (_, _ []sched.MachineID) {
	before := len(back) + len(gone)
	for o.next.next() == now {
		o.begin(int(o.next.pop()), now, func(m sched.MachineID, want bool) {
			st := &o.state[m]
			switch {
			case want && *st == ours && v.Machine(m).Used == 0:
				*st = taken
				gone = append(gone, m)
			case want && *st == ours:
				*st = wanted
			case !want && *st == taken:
				back = append(back, m)
				*st = ours
			case !want:
				*st = ours
			}
		})
	}
	o.facts = len(back) + len(gone) - before
	return back, gone
}

// release takes a machine that is wanted and of which the last attempt ends. One that is idle for another reason, a
// kill or two ends at one instant, is ours until its next end or while.
func (o *occupancy) release(m sched.MachineID, v *sched.View, gone []sched.MachineID) []sched.MachineID {
	if o.state[m] == wanted && v.Machine(m).Used == 1 {
		o.state[m] = taken
		gone = append(gone, m)
	}
	return gone
}
