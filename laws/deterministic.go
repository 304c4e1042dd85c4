package laws

import "math"

// Deterministic is the law of a constant Value (seconds). It has no density.
type Deterministic struct{ Value float64 }

// Validate returns an error unless Value is finite.
func (l Deterministic) Validate() error { return check("det", finite("value", l.Value)) }

// CDF returns 1 for x >= value, 0 below.
func (l Deterministic) CDF(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x < l.Value:
		return 0
	}
	return 1
}

// Survival returns 0 for x >= value, 1 below.
func (l Deterministic) Survival(x float64) float64 { return 1 - l.CDF(x) }

// Quantile returns the value, NaN outside [0, 1].
func (l Deterministic) Quantile(u float64) float64 {
	if improper(u) {
		return math.NaN()
	}
	return l.Value
}

// InvSurvival returns the value, NaN outside [0, 1].
func (l Deterministic) InvSurvival(q float64) float64 { return l.Quantile(q) }

// Mean returns the value.
func (l Deterministic) Mean() float64 { return l.Value }

// Variance returns 0.
func (l Deterministic) Variance() float64 { return 0 }

// String returns the spec det:value=….
func (l Deterministic) String() string { return spec("det", "value", l.Value) }

func (l Deterministic) residual(age float64) Law { return Deterministic{Value: l.Value - age} }

func (l Deterministic) minimum(int) Law { return l }

func (l Deterministic) maximum(int) Law { return l }

func (l Deterministic) atoms() []atom { return []atom{{l.Value, 1, 0}} }
