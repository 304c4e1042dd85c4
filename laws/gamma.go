package laws

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Gamma is the law with Shape > 0 and Scale > 0 (seconds): the sum of Shape
// exponential phases when Shape is an integer (Erlang). Valid range is [0, +∞).
//
//	f(x) = x^(k-1) exp(-x/θ) / (Γ(k) θ^k)   with k the shape and θ the scale
type Gamma struct{ Shape, Scale float64 }

// Validate returns an error unless both parameters are positive and finite.
func (l Gamma) Validate() error {
	return check("gamma", positive("shape", l.Shape), positive("scale", l.Scale))
}

// CDF returns the regularised lower incomplete gamma function P(k, x/θ), 0 for
// x <= 0.
func (l Gamma) CDF(x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case math.IsInf(x/l.Scale, 1):
		return 1
	case math.IsNaN(x):
		return x
	}
	return mathext.GammaIncReg(l.Shape, x/l.Scale)
}

// Survival returns the regularised upper incomplete gamma function Q(k, x/θ),
// 1 for x <= 0.
func (l Gamma) Survival(x float64) float64 {
	switch {
	case x <= 0:
		return 1
	case math.IsInf(x/l.Scale, 1):
		return 0
	case math.IsNaN(x):
		return x
	}
	return mathext.GammaIncRegComp(l.Shape, x/l.Scale)
}

// Quantile inverts the CDF by Newton's method on log F against log x, where it
// is nearly straight in the lower tail.
func (l Gamma) Quantile(u float64) float64 {
	switch {
	case improper(u):
		return math.NaN()
	case u == 0:
		return 0
	case u > 0.5:
		return l.InvSurvival(1 - u)
	}
	unit := Gamma{Shape: l.Shape, Scale: 1}
	return l.Scale * solve(0, math.MaxFloat64, unit.guess(u, mathext.NormalQuantile(u)), func(x float64) (float64, float64) {
		f := unit.CDF(x)
		g := math.Log(f / u)
		return g, x * math.Exp(-g*f/(x*math.Exp(unit.LogPDF(x))))
	})
}

// InvSurvival inverts the survival by Newton's method on log S against x, where
// it is nearly straight in the upper tail.
func (l Gamma) InvSurvival(q float64) float64 {
	switch {
	case improper(q):
		return math.NaN()
	case q == 0:
		return math.Inf(1)
	case q > 0.5:
		return l.Quantile(1 - q)
	}
	unit := Gamma{Shape: l.Shape, Scale: 1}
	return l.Scale * solve(0, math.MaxFloat64, unit.guess(1-q, -mathext.NormalQuantile(q)), func(x float64) (float64, float64) {
		s := unit.Survival(x)
		g := math.Log(q / s)
		return g, x - g*s/math.Exp(unit.LogPDF(x))
	})
}

// guess returns about the quantile at u, whose normal score is z, of the law
// with scale 1: the larger of the Wilson-Hilferty approximation, by which the cube
// root of a gamma variable is nearly normal, and of the solution of
// x^k/Γ(k+1) = u, which is exact at 0 and never too far right.
func (l Gamma) guess(u, z float64) float64 {
	v := 1 / (9 * l.Shape)
	t := 1 - v + z*math.Sqrt(v)
	lg, _ := math.Lgamma(l.Shape + 1)
	return max(l.Shape*t*t*max(t, 0), math.Exp((math.Log(u)+lg)/l.Shape))
}

// LogPDF returns (k-1) log(x/θ) - x/θ - log(Γ(k) θ), -Inf for x < 0. At 0 it is
// +Inf for k < 1, -log θ for k = 1 and -Inf for k > 1.
func (l Gamma) LogPDF(x float64) float64 {
	if x < 0 || math.IsInf(x, 1) {
		return math.Inf(-1)
	}
	y := x / l.Scale
	lg, _ := math.Lgamma(l.Shape)
	head := -lg - math.Log(l.Scale) - y
	if l.Shape != 1 {
		head += (l.Shape - 1) * math.Log(y)
	}
	return head
}

// Mean returns kθ.
func (l Gamma) Mean() float64 { return l.Shape * l.Scale }

// Variance returns kθ².
func (l Gamma) Variance() float64 { return l.Shape * l.Scale * l.Scale }

// String returns the spec gamma:shape=…,scale=….
func (l Gamma) String() string { return spec("gamma", "shape", l.Shape, "scale", l.Scale) }
