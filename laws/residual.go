package laws

import (
	"fmt"
	"math"
)

// Residual is the law of what is left of X once it has lasted longer than an
// age: of X-t given X > t. Make one with [ResidualLife].
//
//	S(y) = S_X(t+y) / S_X(t)
//
// Times are sums and differences with the age, so they carry an absolute error of
// a few units in the last place of the age. The moments are numeric (see
// [Expect]) and cost some hundreds of quantiles a call.
type Residual struct {
	cond conditional
	age  float64
}

// ResidualLife returns the law of X-age given X > age for X of law l, with
// age >= 0 in seconds. It is an error if X cannot last longer than age, or does
// with a probability too small for a float64. Where the residual is of a family of
// this package, that law is returned: exponential of exponential and shifted
// exponential, hyperexponential of hyperexponential, uniform of uniform,
// empirical of empirical.
func ResidualLife(l Law, age float64) (Law, error) {
	if !(age >= 0) || math.IsInf(age, 1) {
		return nil, fmt.Errorf("age of residual must be a finite number >= 0, got %s", number(age))
	}
	if age >= l.Quantile(1) {
		return nil, outlived(l, age)
	}
	if f, ok := l.(interface{ residual(float64) Law }); ok {
		if r := f.residual(age); r != nil && valid(r) {
			return r, nil
		}
		return nil, outlived(l, age)
	}
	r := Residual{cond: newConditional(l, age, math.Inf(1)), age: age}
	if !(r.cond.mass > 0) {
		return nil, outlived(l, age)
	}
	return r, nil
}

func outlived(l Law, age float64) error {
	return fmt.Errorf("residual: %s never lasts longer than age=%s", l, number(age))
}

// CDF returns (F(t+y)-F(t))/S(t), 0 for y <= 0.
func (r Residual) CDF(y float64) float64 { return r.cond.cdf(r.age + y) }

// Survival returns S(t+y)/S(t), 1 for y <= 0.
func (r Residual) Survival(y float64) float64 { return r.cond.survival(r.age + y) }

// Quantile returns the value of the original law at F(t) + u S(t), less t.
func (r Residual) Quantile(u float64) float64 { return r.cond.value(u, 1-u) - r.age }

// InvSurvival returns the value of the original law whose survival is q S(t),
// less t.
func (r Residual) InvSurvival(q float64) float64 { return r.cond.value(1-q, q) - r.age }

// LogPDF returns log f(t+y) - log S(t), -Inf for y <= 0.
func (r Residual) LogPDF(y float64) float64 { return r.cond.logPDF(r.age + y) }

// Mean returns the mean residual life, by quadrature.
func (r Residual) Mean() float64 { return numericMean(r) }

// Variance returns the variance, by quadrature.
func (r Residual) Variance() float64 { return numericVariance(r) }

// String returns the spec residual:age=…,of=(…).
func (r Residual) String() string { return spec("residual", "age", r.age, "of", r.cond.of) }

func (r Residual) atoms() []atom { return r.cond.atoms(r.age) }
