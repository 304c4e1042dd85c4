package plan

import (
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
)

// schedule is what happens to every task that still runs at given instants, which do not depend on the other tasks: the
// tasks are then independent, and all that a job does follows from
//
//	S(z)  the probability that a task is not done at z
//	m(z)  the number of its attempts that then run
//
// by E[T] = ∫ 1-(1-S)^n dz and E[C] = ∫ m S dz. It is exact for a time-out, and it is the limit of many tasks for
// forks.
type schedule struct {
	law    laws.Law
	stages []phase
}

// phase is the time between two instants.
type phase struct {
	from float64
	// the probability that a task is not done at from, divided by the survivals there of the attempts that go on
	reach  float64
	groups []group
	copies float64
}

// group are attempts that started together.
type group struct {
	start float64
	count int
}

func newSchedule(l laws.Law) *schedule {
	return &schedule{l, []phase{{reach: 1, groups: []group{{0, 1}}, copies: 1}}}
}

// fork appends what happens at an instant after all others.
func (s *schedule) fork(at float64, clones int, original Original) {
	last := s.stages[len(s.stages)-1]
	next := phase{from: at, reach: last.reach, copies: last.copies + float64(clones)}
	if original == Kill {
		next.reach, next.copies = s.survival(at), float64(clones+1)
		next.groups = []group{{at, clones + 1}}
	} else {
		next.groups = append(slices.Clone(last.groups), group{at, clones})
	}
	if at == last.from { // the stage before has no length
		s.stages[len(s.stages)-1] = next
		return
	}
	s.stages = append(s.stages, next)
}

func (s *schedule) stage(z float64) *phase {
	i := len(s.stages) - 1
	for i > 0 && s.stages[i].from > z {
		i--
	}
	return &s.stages[i]
}

// survival returns S(z).
func (s *schedule) survival(z float64) float64 {
	st := s.stage(z)
	S := st.reach
	for _, g := range st.groups {
		S *= power(s.law.Survival(z-g.start), g.count)
	}
	return S
}

// corners lists where S is not smooth: the instants, and where the law's support ends for attempts started at any of
// them; of a law of atoms where it has one.
func (s *schedule) corners() []float64 {
	shape := []float64{s.law.Quantile(0)}
	if highest := s.law.InvSurvival(0); !math.IsInf(highest, 1) {
		shape = append(shape, highest)
	}
	if atoms := laws.Atoms(s.law); atoms != nil {
		shape = shape[:0]
		for _, a := range atoms {
			shape = append(shape, a.Value)
		}
	}
	var out []float64
	for i, st := range s.stages {
		until := math.Inf(1)
		if i+1 < len(s.stages) {
			until = s.stages[i+1].from
		}
		if st.from > 0 {
			out = append(out, st.from)
		}
		for _, g := range st.groups {
			for _, x := range shape {
				if z := g.start + x; z > st.from && z < until {
					out = append(out, z)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// steps lists the steps of integrals over z from 0 on: a middle, a width, S and m there.
func (s *schedule) steps(step func(z, width, S, copies float64)) {
	atomic := laws.Atoms(s.law) != nil
	last := 0.0
	for _, z := range s.corners() {
		if atomic {
			mid := last + (z-last)/2
			step(mid, z-last, s.survival(mid), s.stage(mid).copies)
		} else {
			between(last, z, func(y, width float64) { step(y, width, s.survival(y), s.stage(y).copies) })
		}
		last = z
	}
	if atomic || s.survival(last) == 0 {
		return
	}
	scale := s.law.Quantile(0.5) - s.law.Quantile(0)
	beyond(last, scale, s.survival, func(y, width float64) { step(y, width, s.survival(y), s.stage(y).copies) })
}

// outcome returns E[T] and E[C] of a job of that many tasks.
func (s *schedule) outcome(tasks int) Outcome {
	if s.infinite(1) {
		return Outcome{Latency: math.Inf(1), Cost: math.Inf(1)}
	}
	var o Outcome
	s.steps(func(_, width, S, copies float64) {
		o.Latency += width * largest(S, tasks)
		o.Cost += width * copies * S
	})
	return o
}

// variances returns Var[T] and Var[C] of the outcome.
func (s *schedule) variances(tasks int, o Outcome) (latency, cost float64) {
	if s.infinite(2) {
		return math.Inf(1), math.Inf(1)
	}
	// E[(T-μ)²] = μ² + ∫ 2 (z-μ) P(T > z) dz, and the same of the machine time W of a task with dW = m dz
	latency, cost = o.Latency*o.Latency, o.Cost*o.Cost
	s.steps(func(z, width, S, copies float64) {
		latency += 2 * (z - o.Latency) * (width * largest(S, tasks))
		cost += 2 * (s.machineTime(z) - o.Cost) * (width * copies * S)
	})
	return max(0, latency), max(0, cost) / float64(tasks)
}

// infinite says whether the moment of that order, 1 or 2, of what happens last diverges.
func (s *schedule) infinite(order int) bool {
	last := laws.Min(s.law, int(s.stages[len(s.stages)-1].copies))
	if order == 1 {
		return math.IsInf(last.Mean(), 1)
	}
	return math.IsInf(last.Variance(), 1)
}

// machineTime returns what a task that is done at z has cost.
func (s *schedule) machineTime(z float64) float64 {
	var sum float64
	for i, st := range s.stages {
		until := z
		if i+1 < len(s.stages) {
			until = min(z, s.stages[i+1].from)
		}
		if until <= st.from {
			break
		}
		sum += st.copies * (until - st.from)
	}
	return sum
}

// latencyQuantile returns the least t with P(T <= t) >= u.
func (s *schedule) latencyQuantile(tasks int, u float64) float64 {
	return s.invert(-math.Expm1(math.Log(u) / float64(tasks)))
}

// invert returns the least z with S(z) <= q.
func (s *schedule) invert(q float64) float64 {
	if s.survival(0) <= q {
		return 0
	}
	lo, hi := 0.0, max(s.law.Quantile(0.5), math.SmallestNonzeroFloat64)
	if laws.Atoms(s.law) != nil {
		for _, z := range s.corners() {
			// just behind the corner, since z less the start of an attempt may miss its value by a rounding
			if hi = z; s.survival(z+1e-12*z) <= q {
				break
			}
		}
		return hi
	}
	for s.survival(hi) > q && !math.IsInf(hi, 1) {
		lo, hi = hi, 2*hi
	}
	for range 60 {
		if mid := lo + (hi-lo)/2; s.survival(mid) <= q {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// largest returns 1-(1-S)^n, the probability that one of n is not done.
func largest(S float64, n int) float64 {
	if S >= 1 {
		return 1
	}
	return -math.Expm1(float64(n) * math.Log1p(-S))
}
