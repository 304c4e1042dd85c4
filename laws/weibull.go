package laws

import "math"

// Weibull is the law with Shape > 0 and Scale > 0 (seconds): a decreasing
// hazard for shapes below 1, the exponential law at 1, wear for shapes above.
// Valid range is [0, +∞).
//
//	S(x) = exp(-(x/λ)^k)   with k the shape and λ the scale
type Weibull struct{ Shape, Scale float64 }

// Validate returns an error unless both parameters are positive and finite.
func (l Weibull) Validate() error {
	return check("weibull", positive("shape", l.Shape), positive("scale", l.Scale))
}

// CDF returns 1-exp(-(x/λ)^k), 0 for x <= 0.
func (l Weibull) CDF(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return -math.Expm1(-math.Pow(x/l.Scale, l.Shape))
}

// Survival returns exp(-(x/λ)^k), 1 for x <= 0.
func (l Weibull) Survival(x float64) float64 {
	if x <= 0 {
		return 1
	}
	return math.Exp(-math.Pow(x/l.Scale, l.Shape))
}

// Quantile returns λ (-log(1-u))^(1/k).
func (l Weibull) Quantile(u float64) float64 {
	if improper(u) {
		return math.NaN()
	}
	return l.Scale * math.Pow(-math.Log1p(-u), 1/l.Shape)
}

// InvSurvival returns λ (-log q)^(1/k).
func (l Weibull) InvSurvival(q float64) float64 {
	if improper(q) {
		return math.NaN()
	}
	return l.Scale * math.Pow(-math.Log(q), 1/l.Shape)
}

// LogPDF returns log(k/λ) + (k-1) log(x/λ) - (x/λ)^k, -Inf for x < 0. At 0 it is
// +Inf for k < 1, log(1/λ) for k = 1 and -Inf for k > 1.
func (l Weibull) LogPDF(x float64) float64 {
	if x < 0 {
		return math.Inf(-1)
	}
	head := math.Log(l.Shape / l.Scale)
	if l.Shape != 1 {
		head += (l.Shape - 1) * math.Log(x/l.Scale)
	}
	if math.IsInf(x, 1) {
		return math.Inf(-1)
	}
	return head - math.Pow(x/l.Scale, l.Shape)
}

// Mean returns λ Γ(1+1/k).
func (l Weibull) Mean() float64 { return l.Scale * math.Gamma(1+1/l.Shape) }

// Variance returns λ² (Γ(1+2/k) - Γ(1+1/k)²), formed as Γ(1+1/k)² times expm1
// of the difference of logarithms, which does not cancel for large shapes.
func (l Weibull) Variance() float64 {
	mean := l.Mean()
	return mean * mean * math.Expm1(logGammaSpread(1/l.Shape))
}

// String returns the spec weibull:shape=…,scale=….
func (l Weibull) String() string { return spec("weibull", "shape", l.Shape, "scale", l.Scale) }

// minimum of n copies is Weibull with scale λ n^(-1/k).
func (l Weibull) minimum(n int) Law {
	return Weibull{Shape: l.Shape, Scale: l.Scale * math.Pow(float64(n), -1/l.Shape)}
}
