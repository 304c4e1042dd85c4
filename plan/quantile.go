package plan

import (
	"fmt"
	"math"

	"github.com/tailcut/tailcut/laws"
)

// Within returns P(T <= t): the probability that a job under the policy is done by t, seconds. Of a law of atoms it is
// as exact as Evaluate. Of a continuous one the quadrature over the fork meets a corner at t, and the error is about
// 1e-4.
func (e *Exact) Within(p Policy, t float64) (float64, error) {
	if err := p.Validate(e.tasks); err != nil {
		return 0, err
	}
	switch {
	case p.Baseline():
		return laws.Max(e.law, e.tasks).CDF(t), nil
	case p.Stragglers == e.tasks:
		return laws.Max(laws.Min(e.law, p.Clones+1), e.tasks).CDF(t), nil
	}
	return e.occasions(p).within(p, t), nil
}

// occasion is a fork that may happen: when, how many tasks it leaves, and how probable it is.
type occasion struct {
	fork       int     // its number
	at         float64 // seconds
	alive      float64 // P(X > at), of a task that runs on
	unfinished int
	weight     float64
}

type occasions struct {
	e    *Exact
	all  []occasion
	norm float64
}

// occasions lists the forks of a policy.
func (e *Exact) occasions(p Policy) *occasions {
	o := &occasions{e: e}
	for i := range e.forks.len() {
		at := e.forks.time(i)
		alive := e.forks.alive(i)
		e.forks.weigh(i, p.Stragglers, p.Stragglers, func(unfinished int, weights []float64) {
			if delta := p.Stragglers - unfinished; delta >= 0 && delta < len(weights) {
				o.all = append(o.all, occasion{i, at, alive, unfinished, weights[delta]})
				o.norm += weights[delta]
			}
		})
	}
	return o
}

// within returns P(T <= t) under the policy of the occasions.
func (o *occasions) within(p Policy, t float64) float64 {
	var done float64
	last, S := math.Inf(-1), 0.0
	for _, x := range o.all {
		if x.at > t {
			continue
		}
		if x.at != last {
			last, S = x.at, o.e.remains(p, x.at, x.alive, t)
		}
		if x.unfinished == 0 {
			done += x.weight
		} else {
			done += x.weight * math.Exp(float64(x.unfinished)*math.Log1p(-S))
		}
	}
	return min(1, done/o.norm)
}

// remains returns the probability that a straggler of a fork, after which the law has the survival alive, is not done
// by t; 1 if the fork is later.
func (e *Exact) remains(p Policy, fork, alive, t float64) float64 {
	if fork > t {
		return 1
	}
	rest := t - fork
	if _, ok := e.forks.(*continuous); !ok {
		// a residual ends at a sum of two atoms, and the difference back may miss by the rounding of both
		rest += 4 * (math.Nextafter(t, math.Inf(1)) - t)
	}
	fresh := e.law.Survival(rest)
	switch {
	case p.Original == Kill:
		return power(fresh, p.Clones+1)
	case alive <= 0:
		return 0
	}
	return min(1, e.law.Survival(t)/alive) * power(fresh, p.Clones)
}

// LatencyQuantile returns the least t with P(T <= t) >= u, seconds, for 0 < u < 1, with the error of [Exact.Within].
func (e *Exact) LatencyQuantile(p Policy, u float64) (float64, error) {
	if !(u > 0 && u < 1) {
		return 0, fmt.Errorf("a quantile is between 0 and 1, got %g", u)
	}
	if err := p.Validate(e.tasks); err != nil {
		return 0, err
	}
	switch {
	case p.Baseline():
		return laws.Max(e.law, e.tasks).Quantile(u), nil
	case p.Stragglers == e.tasks:
		return laws.Max(laws.Min(e.law, p.Clones+1), e.tasks).Quantile(u), nil
	}
	return e.occasions(p).quantile(p, u), nil
}

// quantile returns the least t with P(T <= t) >= u.
func (o *occasions) quantile(p Policy, u float64) float64 {
	lo, hi := 0.0, max(o.e.law.Quantile(0.5), math.SmallestNonzeroFloat64)
	for o.within(p, hi) < u && !math.IsInf(hi, 1) {
		lo, hi = hi, 2*hi
	}
	for range 60 { // down to the rounding of hi
		if mid := lo + (hi-lo)/2; o.within(p, mid) >= u {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
