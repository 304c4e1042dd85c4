package laws

import (
	"fmt"
	"math"
	"slices"
)

// Mixture is the law of a value drawn from one of several laws, chosen by
// weight. Make one with [NewMixture].
//
//	F(x) = Σ wᵢ Fᵢ(x)
type Mixture struct {
	weights []float64 // positive, sum 1
	of      []Law
}

// NewMixture returns the mixture of laws with weights, which are copied and
// scaled to sum 1. It is an error unless there are as many weights as laws, at
// least one, each positive and finite.
func NewMixture(weights []float64, laws []Law) (Law, error) {
	if len(weights) == 0 || len(weights) != len(laws) {
		return nil, fmt.Errorf("mixture wants at least one law and a weight for each, got %d laws and %d weights",
			len(laws), len(weights))
	}
	var sum float64
	for _, w := range weights {
		if err := check("mixture", positive("weight", w)); err != nil {
			return nil, err
		}
		sum += w
	}
	if err := check("mixture", positive("sum of weights", sum)); err != nil {
		return nil, err
	}
	m := &Mixture{weights: slices.Clone(weights), of: slices.Clone(laws)}
	// Weights that sum to 1 but for rounding stay as they are, so that a spec
	// reads back as the same law.
	if math.Abs(sum-1) > 1e-12 {
		for i := range m.weights {
			m.weights[i] /= sum
			if m.weights[i] == 0 {
				return nil, fmt.Errorf("weight %s of mixture vanishes beside the sum %s", number(weights[i]), number(sum))
			}
		}
	}
	return m, nil
}

// CDF returns Σ wᵢ Fᵢ(x).
func (m *Mixture) CDF(x float64) float64 {
	var f float64
	for i, w := range m.weights {
		f += w * m.of[i].CDF(x)
	}
	return min(f, 1)
}

// Survival returns Σ wᵢ Sᵢ(x).
func (m *Mixture) Survival(x float64) float64 {
	var s float64
	for i, w := range m.weights {
		s += w * m.of[i].Survival(x)
	}
	return min(s, 1)
}

// Quantile inverts the CDF, starting from the components' quantiles, which
// enclose it.
func (m *Mixture) Quantile(u float64) float64 {
	switch {
	case improper(u):
		return math.NaN()
	case u > 0.5:
		return m.InvSurvival(1 - u)
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, l := range m.of {
		q := l.Quantile(u)
		lo, hi = min(lo, q), max(hi, q)
	}
	if u == 0 || lo == hi || m.CDF(lo) >= u {
		return lo
	}
	return solve(lo, hi, math.NaN(), func(x float64) (float64, float64) {
		f := m.CDF(x)
		g := math.Log(f / u)
		return g, newtonStep(x, -g*f/math.Exp(m.LogPDF(x)))
	})
}

// InvSurvival inverts the survival, starting from the components' inverses,
// which enclose it.
func (m *Mixture) InvSurvival(q float64) float64 {
	switch {
	case improper(q):
		return math.NaN()
	case q > 0.5:
		return m.Quantile(1 - q)
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, l := range m.of {
		x := l.InvSurvival(q)
		lo, hi = min(lo, x), max(hi, x)
	}
	if q == 0 || lo == hi {
		return hi
	}
	if m.Survival(lo) <= q {
		return lo
	}
	return solve(lo, min(hi, math.MaxFloat64), math.NaN(), func(x float64) (float64, float64) {
		s := m.Survival(x)
		g := math.Log(q / s)
		return g, newtonStep(x, -g*s/math.Exp(m.LogPDF(x)))
	})
}

// newtonStep moves x by dx, in log x where x is positive: tails of power laws
// are straight there, and the others bent but little.
func newtonStep(x, dx float64) float64 {
	if x > 0 {
		return x * math.Exp(dx/x)
	}
	return x + dx
}

// LogPDF returns log Σ wᵢ fᵢ(x), NaN if a component has no density.
func (m *Mixture) LogPDF(x float64) float64 {
	top := math.Inf(-1)
	for i, w := range m.weights {
		top = max(top, math.Log(w)+logDensity(m.of[i], x)) // NaN stays NaN
	}
	if math.IsInf(top, 0) || math.IsNaN(top) {
		return top
	}
	var sum float64
	for i, w := range m.weights {
		sum += math.Exp(math.Log(w) + logDensity(m.of[i], x) - top)
	}
	return top + math.Log(sum)
}

// Mean returns Σ wᵢ E[Xᵢ].
func (m *Mixture) Mean() float64 {
	var mean float64
	for i, w := range m.weights {
		mean += w * m.of[i].Mean()
	}
	return mean
}

// Variance returns Σ wᵢ (Var[Xᵢ] + (E[Xᵢ]-E[X])²).
func (m *Mixture) Variance() float64 {
	mean := m.Mean()
	if math.IsInf(mean, 0) {
		return math.Inf(1)
	}
	var sum float64
	for i, w := range m.weights {
		d := m.of[i].Mean() - mean
		sum += w * (m.of[i].Variance() + d*d)
	}
	return sum
}

// String returns the spec mixture:w1=…,of1=(…),w2=…,of2=(…), and so on.
func (m *Mixture) String() string {
	var pairs []any
	for i, w := range m.weights {
		pairs = append(pairs, fmt.Sprintf("w%d", i+1), w, fmt.Sprintf("of%d", i+1), m.of[i])
	}
	return spec("mixture", pairs...)
}
