package laws

import (
	"fmt"
	"math"
)

// Truncated is the law of X given lo <= X <= hi. Make one with [Truncate].
//
// Its moments are numeric (see [Expect]) and cost some hundreds of quantiles a
// call, but for the mean of a Pareto law, which has a closed form.
type Truncated struct {
	cond conditional
	lo   float64
}

// Truncate returns the law of X given lo <= X <= hi for X of law l; hi may be
// +Inf. It is an error unless lo < hi and X has a chance to be there. The
// truncation of an empirical law is empirical.
func Truncate(l Law, lo, hi float64) (Law, error) {
	if !(lo < hi) || math.IsInf(lo, 0) {
		return nil, fmt.Errorf("truncated wants lo < hi, got lo=%s and hi=%s", number(lo), number(hi))
	}
	if e, ok := l.(*Empirical); ok {
		if t := e.truncated(lo, hi); t != nil {
			return t, nil
		}
		return nil, outOfReach(l, lo, hi)
	}
	// An atom at lo belongs to it, so the open end is the float just below.
	t := Truncated{cond: newConditional(l, math.Nextafter(lo, math.Inf(-1)), hi), lo: lo}
	if !(t.cond.mass > 0) {
		return nil, outOfReach(l, lo, hi)
	}
	return t, nil
}

func outOfReach(l Law, lo, hi float64) error {
	return fmt.Errorf("truncated: %s has no mass in [%s, %s]", l, number(lo), number(hi))
}

// CDF returns (F(x)-F(lo))/(F(hi)-F(lo)) within the bounds.
func (t Truncated) CDF(x float64) float64 { return t.cond.cdf(x) }

// Survival returns (S(x)-S(hi))/(S(lo)-S(hi)) within the bounds.
func (t Truncated) Survival(x float64) float64 { return t.cond.survival(x) }

// Quantile returns the value of the original law at F(lo) + u(F(hi)-F(lo)).
func (t Truncated) Quantile(u float64) float64 { return max(t.lo, t.cond.value(u, 1-u)) }

// InvSurvival returns the value of the original law whose survival is
// S(hi) + q(S(lo)-S(hi)).
func (t Truncated) InvSurvival(q float64) float64 { return max(t.lo, t.cond.value(1-q, q)) }

// LogPDF returns the original log-density less the logarithm of the mass kept,
// -Inf outside the bounds.
func (t Truncated) LogPDF(x float64) float64 { return t.cond.logPDF(x) }

// Mean returns the mean, by quadrature; of Pareto's law it is
//
//	a α/(α-1) (1-(b/a)^(1-α)) / (1-(b/a)^-α)    between a and b
func (t Truncated) Mean() float64 {
	p, ok := t.cond.of.(Pareto)
	if !ok || p.Alpha == 1 {
		return numericMean(t)
	}
	a, tail := max(t.lo, p.Xm), p.Alpha-1
	h := math.Log1p((t.cond.hi - a) / a)
	if tail < 0 && math.IsInf(h, 1) {
		return math.Inf(1)
	}
	return a * (p.Alpha / tail) * (math.Expm1(-tail*h) / math.Expm1(-p.Alpha*h))
}

// Variance returns the variance, by quadrature.
func (t Truncated) Variance() float64 { return numericVariance(t) }

// String returns the spec truncated:lo=…,hi=…,of=(…), without hi where it is
// +Inf.
func (t Truncated) String() string {
	if math.IsInf(t.cond.hi, 1) {
		return spec("truncated", "lo", t.lo, "of", t.cond.of)
	}
	return spec("truncated", "lo", t.lo, "hi", t.cond.hi, "of", t.cond.of)
}

func (t Truncated) atoms() []atom { return t.cond.atoms(0) }
