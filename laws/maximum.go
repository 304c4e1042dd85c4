package laws

// Maximum is the law of the largest of n independent copies: of the last of n
// tasks to finish. Make one with [Max].
//
//	F(x) = F_X(x)^n
//
// The moments of a continuous law are numeric (see [OrderMean] and [Expect]).
type Maximum struct {
	of Law
	n  int
}

// Max returns the law of the maximum of n independent copies of l. Where it is of a
// family of this package, that law is returned: of deterministic and two-point,
// and of an affine image of these. It panics unless n >= 1.
func Max(l Law, n int) Law {
	if n < 1 {
		panic("laws: maximum of no copies")
	}
	if n == 1 {
		return l
	}
	switch f := l.(type) {
	case interface{ maximum(int) Law }:
		return f.maximum(n)
	case Maximum:
		return Maximum{f.of, f.n * n}
	}
	return Maximum{l, n}
}

// CDF returns F(x)^n.
func (m Maximum) CDF(x float64) float64 { return power(m.of.CDF(x), m.of.Survival(x), m.n) }

// Survival returns 1 - F(x)^n.
func (m Maximum) Survival(x float64) float64 {
	return powerComplement(m.of.CDF(x), m.of.Survival(x), m.n)
}

// Quantile returns the value of the original law at u^(1/n).
func (m Maximum) Quantile(u float64) float64 {
	f, s := root(u, 1-u, m.n)
	return at(m.of, f, s)
}

// InvSurvival returns the value of the original law at (1-q)^(1/n).
func (m Maximum) InvSurvival(q float64) float64 {
	f, s := root(1-q, q, m.n)
	return at(m.of, f, s)
}

// LogPDF returns log n + (n-1) log F(x) + log f(x).
func (m Maximum) LogPDF(x float64) float64 {
	return orderedLogPDF(m.of, x, m.of.CDF(x), m.of.Survival(x), m.n)
}

// Mean returns E[X_{n:n}].
func (m Maximum) Mean() float64 {
	mean, _ := OrderMean(m.of, m.n, m.n)
	return mean
}

// Variance returns Var[X_{n:n}].
func (m Maximum) Variance() float64 { return orderVariance(m.of, m.n, m.n) }

// String returns the spec max:n=…,of=(…).
func (m Maximum) String() string { return spec("max", "n", m.n, "of", m.of) }

func (m Maximum) atoms() []atom {
	out := atomsOf(m.of)
	for i, a := range out {
		out[i].cdf = power(a.cdf, a.survival, m.n)
		out[i].survival = powerComplement(a.cdf, a.survival, m.n)
	}
	return out
}
