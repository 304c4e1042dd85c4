package sim

import (
	"math"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// MachineSlowdown is the model of correlated slowdowns: a machine keeps its slowdown for an exponentially distributed
// while with the given mean, then draws another. All attempts on the machine suffer alike, and one that outlives the
// while goes on at the new pace. The size of a task is its recorded duration.
func MachineSlowdown(slowdown laws.Law, keep sched.Time) Model {
	return func(_ *trace.Workload, machines int, seed uint64) (Service, error) {
		s := &machineSlowdown{law: slowdown, keep: float64(keep), seed: seed, spells: make([]spell, machines)}
		for m := range s.spells {
			s.spells[m] = s.start(uint32(m), 0, 0)
		}
		return s, nil
	}
}

type machineSlowdown struct {
	law    laws.Law
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
		factor: max(0, laws.Sample(s.law, uniform(draw(s.seed, forSlowdown, machine, n, 0)))),
		end:    at + s.keep*exponential(draw(s.seed, forSpell, machine, n, 0)),
	}
}

func (s *machineSlowdown) Duration(a *Attempt) sched.Time {
	end, _ := s.through(a.Machine, a.At, a.Asked, float64(a.size())*a.Share)
	if end == sched.Never {
		return end
	}
	return end - a.At
}

// spellAt returns a machine's spell of an instant that is in the one given or later.
func (s *machineSlowdown) spellAt(m sched.MachineID, cur spell, at float64) spell {
	for cur.end <= at {
		cur = s.start(uint32(m), cur.number+1, cur.end)
	}
	return cur
}

func (s *machineSlowdown) through(m sched.MachineID, begun, asked sched.Time, work float64) (sched.Time, spell) {
	s.spells[m] = s.spellAt(m, s.spells[m], float64(asked))
	at := s.spellAt(m, s.spells[m], float64(begun))
	cur, left, waited := at, work, 0.0
	for t := float64(begun); left > 0; {
		if need := left * cur.factor; need <= cur.end-t {
			waited += need
			break
		}
		left -= (cur.end - t) / cur.factor
		waited += cur.end - t
		if t = cur.end; t > math.MaxInt64/2 {
			return sched.Never, at
		}
		cur = s.start(uint32(m), cur.number+1, t)
	}
	return begun + sched.Time(math.Round(waited)), at
}

func (s *machineSlowdown) did(m sched.MachineID, at *spell, from, to sched.Time) (sum float64) {
	t := float64(from)
	for *at = s.spellAt(m, *at, t); t < float64(to); *at = s.spellAt(m, *at, t) {
		end := min(at.end, float64(to))
		sum += (end - t) / at.factor
		t = end
	}
	return sum
}

func (s *machineSlowdown) pace(m sched.MachineID, at *spell, now sched.Time) (float64, sched.Time) {
	*at = s.spellAt(m, *at, float64(now))
	if !(at.end < float64(sched.Never)) {
		return 1 / at.factor, sched.Never
	}
	return 1 / at.factor, sched.Time(math.Ceil(at.end))
}
