package laws

import "math"

// HyperExp is exponential with rate Mu1 with probability P, and with rate Mu2
// otherwise (rates per second, positive): the simplest law with a decreasing
// hazard. Valid range is [0, +∞).
//
//	S(x) = p exp(-μ₁x) + (1-p) exp(-μ₂x)
type HyperExp struct{ P, Mu1, Mu2 float64 }

// Validate returns an error unless P is a probability and both rates are
// positive and finite.
func (l HyperExp) Validate() error {
	return check("hyperexp", probability("p", l.P), positive("mu1", l.Mu1), positive("mu2", l.Mu2))
}

// CDF returns 1-S(x) without cancellation, 0 for x <= 0.
func (l HyperExp) CDF(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return -l.P*math.Expm1(-l.Mu1*x) - (1-l.P)*math.Expm1(-l.Mu2*x)
}

// Survival returns S(x), 1 for x <= 0.
func (l HyperExp) Survival(x float64) float64 {
	if x <= 0 {
		return 1
	}
	return l.P*math.Exp(-l.Mu1*x) + (1-l.P)*math.Exp(-l.Mu2*x)
}

func (l HyperExp) density(x float64) float64 {
	return l.P*l.Mu1*math.Exp(-l.Mu1*x) + (1-l.P)*l.Mu2*math.Exp(-l.Mu2*x)
}

// Quantile inverts the CDF by Newton's method from the left, where the
// concavity of F makes every step fall short of the root.
func (l HyperExp) Quantile(u float64) float64 {
	switch {
	case improper(u):
		return math.NaN()
	case u == 0:
		return 0
	case u > 0.5:
		return l.InvSurvival(1 - u)
	}
	start := u / l.density(0)
	return solve(0, math.MaxFloat64, start, func(x float64) (float64, float64) {
		g := l.CDF(x) - u
		return g, x - g/l.density(x)
	})
}

// InvSurvival inverts the survival by Newton's method on log S, which is convex
// and at last straight: it is exact down to the smallest q.
func (l HyperExp) InvSurvival(q float64) float64 {
	switch {
	case improper(q):
		return math.NaN()
	case q == 0:
		return math.Inf(1)
	case q > 0.5:
		return l.Quantile(1 - q)
	}
	// Each phase alone is a lower bound of S, so neither start is too far right.
	start := max(0, math.Log(l.P/q)/l.Mu1, math.Log((1-l.P)/q)/l.Mu2)
	return solve(0, math.MaxFloat64, start, func(x float64) (float64, float64) {
		s := l.Survival(x)
		g := math.Log(q / s)
		return g, x - g*s/l.density(x)
	})
}

// LogPDF returns log(pμ₁exp(-μ₁x) + (1-p)μ₂exp(-μ₂x)), -Inf for x < 0 and
// where the density underflows.
func (l HyperExp) LogPDF(x float64) float64 {
	if x < 0 {
		return math.Inf(-1)
	}
	return math.Log(l.density(x))
}

// Mean returns p/μ₁ + (1-p)/μ₂.
func (l HyperExp) Mean() float64 { return l.P/l.Mu1 + (1-l.P)/l.Mu2 }

// Variance returns the mean of the phases' variances plus the variance of their
// means: p/μ₁² + (1-p)/μ₂² + p(1-p)(1/μ₁-1/μ₂)².
func (l HyperExp) Variance() float64 {
	m1, m2 := 1/l.Mu1, 1/l.Mu2
	return l.P*m1*m1 + (1-l.P)*m2*m2 + l.P*(1-l.P)*(m1-m2)*(m1-m2)
}

// String returns the spec hyperexp:p=…,mu1=…,mu2=….
func (l HyperExp) String() string {
	return spec("hyperexp", "p", l.P, "mu1", l.Mu1, "mu2", l.Mu2)
}

// residual is hyperexponential with the phases reweighted by their survival:
// the older, the likelier the slow phase.
func (l HyperExp) residual(age float64) Law {
	// Divided by the larger exponential so that neither underflows at a great age.
	slow := min(l.Mu1, l.Mu2)
	a := l.P * math.Exp(-(l.Mu1-slow)*age)
	b := (1 - l.P) * math.Exp(-(l.Mu2-slow)*age)
	if a+b == 0 {
		return nil
	}
	return HyperExp{P: a / (a + b), Mu1: l.Mu1, Mu2: l.Mu2}
}
