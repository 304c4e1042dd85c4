package laws

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Lognormal is the law of exp(N) with N normal of mean Mu and standard
// deviation Sigma > 0, both in the logarithm of seconds. Valid range is (0, +∞).
//
//	S(x) = erfc(z/√2)/2   with z = (log x - μ)/σ
type Lognormal struct{ Mu, Sigma float64 }

// LognormalOf returns the lognormal law with the given mean > 0 and standard
// deviation > 0, both in seconds.
//
//	σ² = log(1 + (sd/mean)²)   μ = log(mean) - σ²/2
func LognormalOf(mean, sd float64) (Lognormal, error) {
	if err := check("lognormal", positive("mean", mean), positive("sd", sd)); err != nil {
		return Lognormal{}, err
	}
	r := sd / mean
	variance := math.Log1p(r * r)
	l := Lognormal{Mu: math.Log(mean) - variance/2, Sigma: math.Sqrt(variance)}
	return l, l.Validate()
}

// Validate returns an error unless Mu is finite and Sigma positive and finite.
func (l Lognormal) Validate() error {
	return check("lognormal", finite("mu", l.Mu), positive("sigma", l.Sigma))
}

func (l Lognormal) score(x float64) float64 { return (math.Log(x) - l.Mu) / l.Sigma }

// CDF returns erfc(-z/√2)/2, 0 for x <= 0.
func (l Lognormal) CDF(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return 0.5 * math.Erfc(-l.score(x)/math.Sqrt2)
}

// Survival returns erfc(z/√2)/2, 1 for x <= 0.
func (l Lognormal) Survival(x float64) float64 {
	if x <= 0 {
		return 1
	}
	return 0.5 * math.Erfc(l.score(x)/math.Sqrt2)
}

// Quantile returns exp(μ + σ Φ⁻¹(u)).
func (l Lognormal) Quantile(u float64) float64 {
	if improper(u) {
		return math.NaN()
	}
	return math.Exp(l.Mu + l.Sigma*mathext.NormalQuantile(u))
}

// InvSurvival returns exp(μ - σ Φ⁻¹(q)).
func (l Lognormal) InvSurvival(q float64) float64 {
	if improper(q) {
		return math.NaN()
	}
	return math.Exp(l.Mu - l.Sigma*mathext.NormalQuantile(q))
}

// LogPDF returns -log(x σ √(2π)) - z²/2, -Inf for x <= 0.
func (l Lognormal) LogPDF(x float64) float64 {
	if x <= 0 || math.IsInf(x, 1) {
		return math.Inf(-1)
	}
	z := l.score(x)
	return -math.Log(x) - math.Log(l.Sigma*math.Sqrt(2*math.Pi)) - z*z/2
}

// Mean returns exp(μ + σ²/2).
func (l Lognormal) Mean() float64 { return math.Exp(l.Mu + l.Sigma*l.Sigma/2) }

// Variance returns (exp(σ²)-1) exp(2μ + σ²).
func (l Lognormal) Variance() float64 {
	v := l.Sigma * l.Sigma
	return math.Expm1(v) * math.Exp(2*l.Mu+v)
}

// String returns the spec lognormal:mu=…,sigma=….
func (l Lognormal) String() string { return spec("lognormal", "mu", l.Mu, "sigma", l.Sigma) }
