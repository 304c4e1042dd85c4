package laws

import "math"

// Exponential is the memoryless law with rate Mu > 0 (per second). Valid range
// is [0, +∞).
//
//	S(x) = exp(-μ x)
type Exponential struct{ Mu float64 }

// Validate returns an error unless Mu is positive and finite.
func (l Exponential) Validate() error { return check("exp", positive("mu", l.Mu)) }

// CDF returns 1-exp(-μx), 0 for x <= 0.
func (l Exponential) CDF(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return -math.Expm1(-l.Mu * x)
}

// Survival returns exp(-μx), 1 for x <= 0.
func (l Exponential) Survival(x float64) float64 {
	if x <= 0 {
		return 1
	}
	return math.Exp(-l.Mu * x)
}

// Quantile returns -log(1-u)/μ.
func (l Exponential) Quantile(u float64) float64 {
	if improper(u) {
		return math.NaN()
	}
	return -math.Log1p(-u) / l.Mu
}

// InvSurvival returns -log(q)/μ.
func (l Exponential) InvSurvival(q float64) float64 {
	if improper(q) {
		return math.NaN()
	}
	return -math.Log(q) / l.Mu
}

// LogPDF returns log(μ)-μx, -Inf for x < 0.
func (l Exponential) LogPDF(x float64) float64 {
	if x < 0 {
		return math.Inf(-1)
	}
	return math.Log(l.Mu) - l.Mu*x
}

// Mean returns 1/μ.
func (l Exponential) Mean() float64 { return 1 / l.Mu }

// Variance returns 1/μ².
func (l Exponential) Variance() float64 { return 1 / (l.Mu * l.Mu) }

// String returns the spec exp:mu=….
func (l Exponential) String() string { return spec("exp", "mu", l.Mu) }

// residual is the law itself: the exponential law does not age.
func (l Exponential) residual(float64) Law { return l }

// minimum of n copies is exponential with rate nμ.
func (l Exponential) minimum(n int) Law { return Exponential{Mu: l.Mu * float64(n)} }

// orderMean returns (H_n - H_{n-k})/μ (Rényi's representation).
func (l Exponential) orderMean(k, n int) float64 { return harmonicBetween(n-k, n) / l.Mu }
