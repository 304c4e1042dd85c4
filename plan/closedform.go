package plan

import (
	"fmt"
	"math"

	"github.com/tailcut/tailcut/laws"
)

// ClosedForm evaluates the approximations of Theorem 2 (shifted exponential) and Theorem 3 (Pareto), which put the
// extreme-value limit in place of the mean of the largest residual. The printed formulas are corrected:
//
//   - (11) loses p Δ: the slip is in (51), whose first integral gives Δ(1-p) and not Δ.
//   - (10) keep holds only if p n >= exp(μ Δ); below that it is refused.
//   - (18) is 1, not more, below x_m; E[Y] of a kept Pareto original is integrated so.
//   - ã of a killed Pareto original is x_m (pn)^(1/((r+1)α)), as in (16).
//
// With p in {.05, .1, .2, .5, .9} and r <= 3 they are within 1.6 % at n = 100 and 0.14 % at 1000, but for a kept Pareto
// original, whose error falls slowly: up to -4 % at n = 1000, r = 1. The baseline and a fork at the start are exact.
type ClosedForm struct{ theorem *Theorem1 }

// eulerGamma is the Euler-Mascheroni constant: (12).
const eulerGamma = 0.57721566490153286

// NewClosedForm returns the evaluator of a job. It is an error if l is neither shifted exponential nor Pareto.
func NewClosedForm(l laws.Law, tasks int) (*ClosedForm, error) {
	switch l.(type) {
	case laws.ShiftedExp, laws.Pareto:
	default:
		return nil, fmt.Errorf("there are closed forms for the laws shiftedexp and pareto only, got %s", l)
	}
	t, err := NewTheorem1(l, tasks)
	if err != nil {
		return nil, err
	}
	return &ClosedForm{t}, nil
}

// Evaluate returns (10) and (11), or (14) and (15).
func (f *ClosedForm) Evaluate(r Rule) (Outcome, error) {
	e := f.theorem.exact
	p, err := single(r, e.tasks)
	if err != nil {
		return Outcome{}, err
	}
	if p.Baseline() || p.Stragglers == e.tasks {
		return e.Evaluate(p)
	}
	if l, ok := e.law.(laws.ShiftedExp); ok {
		return shiftedExpForm(l, e.tasks, p)
	}
	return f.paretoForm(e.law.(laws.Pareto), p), nil
}

// shiftedExpForm is Theorem 2.
func shiftedExpForm(l laws.ShiftedExp, tasks int, p Policy) (Outcome, error) {
	n, s, r := float64(tasks), float64(p.Stragglers), float64(p.Clones)
	share := s / n
	last := (math.Log(n) - r*math.Log(share) + eulerGamma) / ((r + 1) * l.Mu)
	if p.Original == Kill {
		return Outcome{Latency: 2*l.Delta + last, Cost: l.Delta + 1/l.Mu + share*(r+1)*l.Delta}, nil
	}
	if s < math.Exp(l.Mu*l.Delta) {
		return Outcome{}, fmt.Errorf("(10) holds from %.0f stragglers on, got %d", math.Ceil(math.Exp(l.Mu*l.Delta)), p.Stragglers)
	}
	return Outcome{
		Latency: (2*r+1)/(r+1)*l.Delta + last,
		Cost:    l.Delta + 1/l.Mu - share*r*math.Expm1(-l.Mu*l.Delta)/l.Mu,
	}, nil
}

// paretoForm is Theorem 3.
func (f *ClosedForm) paretoForm(l laws.Pareto, p Policy) Outcome {
	n, s, r := float64(f.theorem.exact.tasks), float64(p.Stragglers), float64(p.Clones)
	index := (r + 1) * l.Alpha
	if index <= 1 {
		return Outcome{Latency: math.Inf(1), Cost: math.Inf(1)}
	}
	fork, before := f.theorem.fork(p)
	scale := l.Xm * math.Pow(s, 1/index)
	mean := index / (index - 1) * l.Xm
	if p.Original == Keep {
		scale = keptScale(l, n, fork, p.Clones)
		_, mean = f.theorem.residual(p)
	}
	return Outcome{
		Latency: fork + math.Gamma(1-1/index)*scale,
		Cost:    before + s/n*fork + (r+1)*s/n*mean,
	}
}

// keptScale returns ã = FbY⁻¹(1/(pn)) of a kept original: the root of ã^r (ã+q) = x_m^(r+1) n^(1/α) with q the time of
// the fork if that is at least x_m, and otherwise, before any clone can be done, x_m n^(1/α) - q.
func keptScale(l laws.Pareto, n, q float64, clones int) float64 {
	reach := math.Pow(n, 1/l.Alpha) // of the original alone, in units of x_m
	z := q / l.Xm
	excess := func(a float64) float64 { return math.Pow(a, float64(clones))*(a+z) - reach }
	if excess(1) > 0 {
		return l.Xm * (reach - z)
	}
	lo, hi := 1.0, reach
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if excess(mid) > 0 {
			hi = mid
		} else {
			lo = mid
		}
	}
	return l.Xm * hi
}
