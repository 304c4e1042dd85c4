package laws

import "math"

// Minimum is the law of the smallest of n independent copies: of the first of n
// clones to finish. Make one with [Min].
//
//	S(x) = S_X(x)^n
//
// The moments of a continuous law are numeric (see [OrderMean] and [Expect]).
type Minimum struct {
	of Law
	n  int
}

// Min returns the law of the minimum of n independent copies of l. Where it is of a
// family of this package, that law is returned: of exponential, shifted
// exponential, Pareto, Weibull, deterministic and two-point, and of an affine
// image of these. It panics unless n >= 1.
func Min(l Law, n int) Law {
	if n < 1 {
		panic("laws: minimum of no copies")
	}
	if n == 1 {
		return l
	}
	switch f := l.(type) {
	case interface{ minimum(int) Law }:
		if m := f.minimum(n); valid(m) {
			return m
		}
	case Minimum:
		return Minimum{f.of, f.n * n}
	}
	return Minimum{l, n}
}

// CDF returns 1 - S(x)^n.
func (m Minimum) CDF(x float64) float64 { return powerComplement(m.of.Survival(x), m.of.CDF(x), m.n) }

// Survival returns S(x)^n.
func (m Minimum) Survival(x float64) float64 { return power(m.of.Survival(x), m.of.CDF(x), m.n) }

// Quantile returns the value of the original law whose survival is (1-u)^(1/n).
func (m Minimum) Quantile(u float64) float64 {
	s, f := root(1-u, u, m.n)
	return at(m.of, f, s)
}

// InvSurvival returns the value of the original law whose survival is q^(1/n).
func (m Minimum) InvSurvival(q float64) float64 {
	s, f := root(q, 1-q, m.n)
	return at(m.of, f, s)
}

// LogPDF returns log n + (n-1) log S(x) + log f(x).
func (m Minimum) LogPDF(x float64) float64 {
	return orderedLogPDF(m.of, x, m.of.Survival(x), m.of.CDF(x), m.n)
}

// Mean returns E[X_{1:n}].
func (m Minimum) Mean() float64 {
	mean, _ := OrderMean(m.of, 1, m.n)
	return mean
}

// Variance returns Var[X_{1:n}].
func (m Minimum) Variance() float64 { return orderVariance(m.of, 1, m.n) }

// String returns the spec min:n=…,of=(…).
func (m Minimum) String() string { return spec("min", "n", m.n, "of", m.of) }

func (m Minimum) atoms() []atom {
	out := atomsOf(m.of)
	for i, a := range out {
		out[i].cdf = powerComplement(a.survival, a.cdf, m.n)
		out[i].survival = power(a.survival, a.cdf, m.n)
	}
	return out
}

// power returns p^n for a probability p whose complement is q.
func power(p, q float64, n int) float64 {
	if p <= q {
		return math.Pow(p, float64(n))
	}
	return math.Exp(float64(n) * math.Log1p(-q))
}

// powerComplement returns 1-p^n for a probability p whose complement is q.
func powerComplement(p, q float64, n int) float64 {
	return -math.Expm1(float64(n) * logOf(p, q))
}

// root returns p^(1/n) and its complement, for a probability p whose complement
// is q.
func root(p, q float64, n int) (r, complement float64) {
	lr := logOf(p, q) / float64(n)
	return math.Exp(lr), -math.Expm1(lr)
}

// orderedLogPDF returns log(n p^(n-1) f(x)) with q the complement of p.
func orderedLogPDF(l Law, x, p, q float64, n int) float64 {
	density := logDensity(l, x)
	if math.IsInf(density, -1) {
		return density
	}
	return math.Log(float64(n)) + float64(n-1)*logOf(p, q) + density
}
