package laws

import "math"

// Pareto is the power law with tail index Alpha > 0 and smallest value Xm > 0
// (seconds). Valid range is [Xm, +∞).
//
//	S(x) = (xm/x)^α
type Pareto struct{ Alpha, Xm float64 }

// Validate returns an error unless both parameters are positive and finite.
func (l Pareto) Validate() error {
	return check("pareto", positive("alpha", l.Alpha), positive("xm", l.Xm))
}

// CDF returns 1-(xm/x)^α, 0 for x <= xm. It is formed from (x-xm)/xm, which
// keeps its digits just above xm.
func (l Pareto) CDF(x float64) float64 {
	if x <= l.Xm {
		return 0
	}
	return -math.Expm1(-l.Alpha * math.Log1p((x-l.Xm)/l.Xm))
}

// Survival returns (xm/x)^α, 1 for x <= xm.
func (l Pareto) Survival(x float64) float64 {
	if x <= l.Xm {
		return 1
	}
	return math.Pow(l.Xm/x, l.Alpha)
}

// Quantile returns xm (1-u)^(-1/α).
func (l Pareto) Quantile(u float64) float64 {
	if improper(u) {
		return math.NaN()
	}
	return l.Xm * math.Exp(-math.Log1p(-u)/l.Alpha)
}

// InvSurvival returns xm q^(-1/α), +Inf where that overflows.
func (l Pareto) InvSurvival(q float64) float64 {
	if improper(q) {
		return math.NaN()
	}
	return l.Xm * math.Pow(q, -1/l.Alpha)
}

// LogPDF returns log(α/xm) - (α+1) log(x/xm), -Inf for x < xm.
func (l Pareto) LogPDF(x float64) float64 {
	if x < l.Xm {
		return math.Inf(-1)
	}
	return math.Log(l.Alpha/l.Xm) - (l.Alpha+1)*math.Log(x/l.Xm)
}

// Mean returns α xm/(α-1), +Inf for α <= 1.
func (l Pareto) Mean() float64 {
	if l.Alpha <= 1 {
		return math.Inf(1)
	}
	return l.Alpha * l.Xm / (l.Alpha - 1)
}

// Variance returns α xm²/((α-1)²(α-2)), +Inf for α <= 2.
func (l Pareto) Variance() float64 {
	if l.Alpha <= 2 {
		return math.Inf(1)
	}
	a := l.Alpha - 1
	return l.Alpha / (a * a * (l.Alpha - 2)) * l.Xm * l.Xm
}

// String returns the spec pareto:alpha=…,xm=….
func (l Pareto) String() string { return spec("pareto", "alpha", l.Alpha, "xm", l.Xm) }

// minimum of n copies is Pareto with index nα.
func (l Pareto) minimum(n int) Law { return Pareto{Alpha: l.Alpha * float64(n), Xm: l.Xm} }

// orderMean returns xm Γ(n+1) Γ(n-k+1-1/α) / (Γ(n-k+1) Γ(n+1-1/α)), +Inf if
// (n-k+1) α <= 1.
func (l Pareto) orderMean(k, n int) float64 {
	b := 1 / l.Alpha
	if float64(n-k+1) <= b {
		return math.Inf(1)
	}
	return l.Xm * math.Exp(logGammaGrowth(n-k+1, n+1, b))
}
