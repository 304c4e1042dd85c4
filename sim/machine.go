package sim

import (
	"math"

	"github.com/tailcut/tailcut/dist"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// MachineSlowdown is the model of correlated slowdowns: a machine keeps its slowdown for an exponentially distributed
// while with the given mean, then draws another. All attempts on the machine suffer alike, and one that outlives the
// while goes on at the new pace. The size of a task is its recorded duration.
func MachineSlowdown(slowdown dist.Law, keep sched.Time) Model {
	return func(_ *trace.Workload, machines int, seed uint64) (Service, error) {
		s := &machineSlowdown{law: slowdown, keep: float64(keep), seed: seed, spells: make([]spell, machines)}
		for m := range s.spells {
			s.spells[m] = s.start(uint32(m), 0, 0)
		}
		return s, nil
	}
}

type machineSlowdown struct {
	law    dist.Law
	keep   float64 // nanoseconds
	seed   uint64
	spells []spell // by machine: the one at the instant asked about last, a mere cache
}

// spell is a while during which a machine keeps its slowdown.
type spell struct {
	number uint32
	factor float64
	end    float64 // nanoseconds since the run began
}

// start returns spell number n of a machine, which begins at an instant. It follows from the seed, the machine and the
// lengths of the spells before.
func (s *machineSlowdown) start(machine, n uint32, at float64) spell {
	return spell{
		number: n,
		factor: max(0, dist.Sample(s.law, uniform(draw(s.seed, forSlowdown, machine, n, 0)))),
		end:    at + s.keep*exponential(draw(s.seed, forSpell, machine, n, 0)),
	}
}

func (s *machineSlowdown) Duration(a *Attempt) sched.Time {
	m := uint32(a.Machine)
	now := float64(a.At)
	cur := s.spells[m]
	for cur.end <= now {
		cur = s.start(m, cur.number+1, cur.end)
	}
	s.spells[m] = cur
	left, waited := float64(a.size())*a.Share, 0.0
	for t := now; left > 0; {
		if need := left * cur.factor; need <= cur.end-t {
			return sched.Time(math.Round(waited + need))
		}
		left -= (cur.end - t) / cur.factor
		waited += cur.end - t
		if t = cur.end; t > math.MaxInt64/2 {
			return sched.Never
		}
		cur = s.start(m, cur.number+1, t)
	}
	return sched.Time(math.Round(waited))
}
