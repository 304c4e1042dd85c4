package plan

import (
	"math"

	"github.com/tailcut/tailcut/laws"
)

// CostVariance returns Var[C] of a policy, machine seconds squared, +Inf if E[C²] diverges. It is as exact as Evaluate;
// of a continuous law to about 1e-7.
//
// Given a fork at t with s' tasks unfinished, b done before t and the rest done at t, n C is a sum of independent
// things: b durations below t, n-b times t, and s' residuals Y that cost r+1 each. So it has
//
//	mean      b E[X | X < t] + (n-b) t + (r+1) s' E[Y]
//	variance  b Var[X | X < t] + (r+1)² s' Var[Y]
//
// and Var[n C] is the mean of the variance plus the variance of the mean over t, b and s'.
func (e *Exact) CostVariance(p Policy) (float64, error) {
	o, err := e.Evaluate(p)
	if err != nil {
		return 0, err
	}
	n, copies := float64(e.tasks), float64(p.Clones+1)
	fresh := laws.Min(e.law, p.Clones+1)
	switch {
	case math.IsInf(o.Cost, 1):
		return math.Inf(1), nil
	case p.Baseline():
		return e.law.Variance() / n, nil
	case p.Stragglers == e.tasks:
		return copies * copies * fresh.Variance() / n, nil
	case math.IsInf(fresh.Variance(), 1), math.IsInf(laws.Min(e.law, p.Stragglers+1).Variance(), 1):
		return math.Inf(1), nil
	}
	target := n * o.Cost
	var variance, norm float64
	for _, rows := range e.occasions(p).byFork() {
		fork, t := rows[0].fork, rows[0].at
		before := e.forks.before(fork)
		rest := e.rest(p, fork)
		for _, x := range rows {
			s := float64(x.unfinished)
			// the mean is base - b gap, and b has the moments of the row
			gap := t - before.mean
			base := n*t + copies*s*rest.mean - target
			first, second := e.forks.done(fork, x.unfinished, p.Stragglers)
			variance += x.weight * (base*base - 2*base*gap*first + gap*gap*second +
				first*before.variance + copies*copies*s*rest.variance)
			norm += x.weight
		}
	}
	return variance / norm / (n * n), nil
}

// spread is a mean and a variance.
type spread struct{ mean, variance float64 }

// rest returns those of what is left of a straggler after a fork: E[Y] = ∫ S and E[(Y-μ)²] = μ² + ∫ 2 (y-μ) S.
func (e *Exact) rest(p Policy, fork int) spread {
	each := func(step func(y, width, S float64)) {
		if p.Original == Kill {
			e.forks.lives(func(y, width, fresh float64) { step(y, width, power(fresh, p.Clones+1)) })
		} else {
			e.forks.residuals(fork, func(y, width, old, fresh float64) {
				step(y, width, old*power(fresh, p.Clones))
			})
		}
	}
	var x spread
	each(func(_, width, S float64) { x.mean += width * S })
	x.variance = x.mean * x.mean
	each(func(y, width, S float64) { x.variance += 2 * (y - x.mean) * (width * S) })
	return x
}

// before returns the mean and the variance of the durations below the i-th atom.
func (d *discrete) before(i int) spread {
	var x spread
	if i == 0 {
		return x
	}
	mass := d.atoms[i-1].CDF
	for _, a := range d.atoms[:i] {
		x.mean += a.Mass / mass * a.Value
	}
	for _, a := range d.atoms[:i] {
		x.variance += a.Mass / mass * (a.Value - x.mean) * (a.Value - x.mean)
	}
	return x
}

// done returns E[b] and E[b²] of the tasks done before the i-th atom given that it is the fork and that so many are
// unfinished after it: b = n-s'-e with e ~ Bin(n-s', P(X = v_i)/G_i) given e > s-s'.
func (d *discrete) done(i, unfinished, stragglers int) (first, second float64) {
	a := d.atoms[i]
	rest := 0.0
	if i > 0 {
		rest = d.atoms[i-1].CDF / a.CDF
	}
	equal := binomial(d.tasks-unfinished, a.Mass/a.CDF, rest, negligible, nil)
	var norm float64
	for x, p := range equal.pmf {
		if e := equal.lo + x; e > stragglers-unfinished {
			b := float64(d.tasks - unfinished - e)
			norm += p
			first += p * b
			second += p * b * b
		}
	}
	if norm == 0 {
		b := float64(d.tasks - stragglers - 1)
		return b, b * b
	}
	return first / norm, second / norm
}

// before returns the mean and the variance of the durations below the i-th node.
func (c *continuous) before(i int) spread {
	t := c.nodes[i].t
	inside, err := laws.Truncate(c.law, c.law.Quantile(0), t)
	if err != nil { // nothing lies below but rounding
		return spread{mean: t}
	}
	return spread{inside.Mean(), inside.Variance()}
}

// done returns E[b] and E[b²]: all but the unfinished tasks and the one that is done at the fork.
func (c *continuous) done(_, unfinished, _ int) (first, second float64) {
	b := float64(c.tasks - unfinished - 1)
	return b, b * b
}
