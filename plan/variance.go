package plan

import (
	"math"

	"github.com/tailcut/tailcut/laws"
)

// LatencyVariance returns Var[T] of a policy, seconds squared, +Inf if E[T²] diverges. It is as exact as Evaluate.
// About the mean μ, and given a fork at t that leaves s' tasks,
//
//	E[(T-μ)²] = (t-μ)² + ∫ 2 (t-μ+y) (1-(1-S(y))^s') dy
func (e *Exact) LatencyVariance(p Policy) (float64, error) {
	o, err := e.Evaluate(p)
	if err != nil {
		return 0, err
	}
	switch {
	case math.IsInf(o.Latency, 1):
		return math.Inf(1), nil
	case p.Baseline():
		return laws.Max(e.law, e.tasks).Variance(), nil
	case p.Stragglers == e.tasks:
		return laws.Max(laws.Min(e.law, p.Clones+1), e.tasks).Variance(), nil
	// A fork is as late as s+1 attempts are together, and what follows lasts as the r+1 of a straggler.
	case math.IsInf(laws.Min(e.law, p.Clones+1).Variance(), 1), math.IsInf(laws.Min(e.law, p.Stragglers+1).Variance(), 1):
		return math.Inf(1), nil
	}
	var variance, norm float64
	var sum maxima
	for _, rows := range e.occasions(p).byFork() {
		fork := rows[0].fork
		t := rows[0].at - o.Latency
		lo, hi := rows[0].unfinished, rows[0].unfinished
		for _, x := range rows {
			lo, hi = min(lo, x.unfinished), max(hi, x.unfinished)
		}
		sum.reset(lo, hi)
		if p.Original == Kill {
			e.forks.lives(func(y, width, fresh float64) {
				sum.add(2*(t+y)*width, power(fresh, p.Clones+1))
			})
		} else {
			e.forks.residuals(fork, func(y, width, old, fresh float64) {
				sum.add(2*(t+y)*width, old*power(fresh, p.Clones))
			})
		}
		for _, x := range rows {
			variance += x.weight * (t*t + sum.at(x.unfinished))
			norm += x.weight
		}
	}
	return variance / norm, nil
}

// byFork groups the occasions of the same fork.
func (o *occasions) byFork() [][]occasion {
	var groups [][]occasion
	for all := o.all; len(all) > 0; {
		same := 1
		for same < len(all) && all[same].fork == all[0].fork {
			same++
		}
		groups = append(groups, all[:same])
		all = all[same:]
	}
	return groups
}
