package laws

import (
	"math"
	"testing"
)

// The maximum of n, normed, against its limit: the largest difference of the CDFs.
func TestNorming(t *testing.T) {
	lognormal := Lognormal{Mu: 1, Sigma: 0.5}
	for _, c := range []struct {
		law    Law
		domain Domain
		index  float64
		error  float64 // at n = 1e9, of the CDF
	}{
		{Exponential{Mu: 2}, Gumbel, 0, 1e-8}, {ShiftedExp{Delta: 1, Mu: 2}, Gumbel, 0, 1e-8}, {Gamma{Shape: 3, Scale: 2}, Gumbel, 0, 0.01},
		{Weibull{Shape: 0.5, Scale: 1}, Gumbel, 0, 0.03}, {lognormal, Gumbel, 0, 0.04}, {HyperExp{P: 0.9, Mu1: 2, Mu2: 0.1}, Gumbel, 0, 1e-6},
		{Pareto{Alpha: 2, Xm: 3}, Frechet, 2, 1e-8}, {Min(Pareto{Alpha: 2, Xm: 3}, 3), Frechet, 6, 1e-8},
		{Min(lognormal, 3), Gumbel, 0, 0.04}, {Max(lognormal, 4), Gumbel, 0, 0.04},
		{Uniform{Lo: 1, Hi: 4}, ReversedWeibull, 1, 1e-6}, {Min(Uniform{Lo: 1, Hi: 4}, 3), ReversedWeibull, 3, 1e-2},
		{must(Truncate(lognormal, 1, 9)), ReversedWeibull, 1, 1e-6}, {must(Truncate(Pareto{Alpha: 2, Xm: 1}, 3, math.Inf(1))), Frechet, 2, 1e-8},
		{must(ResidualLife(Pareto{Alpha: 2, Xm: 1}, 3)), Frechet, 2, 1e-3}, {must(NewAffine(Pareto{Alpha: 2, Xm: 1}, 3, 1)), Frechet, 2, 1e-3},
		{must(NewMixture([]float64{0.9, 0.1}, []Law{lognormal, Pareto{Alpha: 3, Xm: 1}})), Frechet, 3, 1e-3},
		{must(NewMixture([]float64{0.9, 0.1}, []Law{Pareto{Alpha: 4, Xm: 1}, Pareto{Alpha: 1.5, Xm: 1}})), Frechet, 1.5, 1e-2},
		{must(NewMixture([]float64{0.9, 0.1}, []Law{Uniform{Lo: 0, Hi: 1}, Uniform{Lo: 0, Hi: 2}})), ReversedWeibull, 1, 1e-3},
	} {
		// errors of the limit, or of the rounding of the distance to a largest value
		d, index := Attraction(c.law)
		if d != c.domain || index != c.index {
			t.Errorf("%s: %s %g, want %s %g", c.law, d, index, c.domain, c.index)
			continue
		}
		const n = 1e9
		a, b := Norming(c.law, n)
		for _, u := range []float64{0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99} {
			x := c.law.InvSurvival(-math.Expm1(math.Log(u) / n)) // the quantile u of the maximum
			if got := LimitCDF(d, index, (x-b)/a); math.Abs(got-u) > c.error {
				t.Errorf("%s: the limit at the quantile %g is %g", c.law, u, got)
			}
		}
	}
	for _, l := range []Law{Deterministic{1}, TwoPoint{1, 2, 0.5}, must(NewEmpirical([]float64{1, 2})), killed(),
		must(NewMixture([]float64{1, 1}, []Law{Deterministic{5}, Uniform{0, 1}}))} {
		if d, _ := Attraction(l); d != NoDomain {
			t.Errorf("%s is in the domain %s", l, d)
		}
		if a, b := Norming(l, 100); !math.IsNaN(a) || !math.IsNaN(b) {
			t.Errorf("%s: constants %g, %g", l, a, b)
		}
	}
}

// The mean of the limit against the exact mean of the maximum, which it meets as n grows, and against quadrature of the limit.
func TestLimitMean(t *testing.T) {
	for _, l := range []Law{Exponential{Mu: 2}, Pareto{Alpha: 2, Xm: 2}, Uniform{Lo: 1, Hi: 4}} {
		d, index := Attraction(l)
		const n = 1 << 20
		a, b := Norming(l, n)
		exact, _ := OrderMean(l, n, n)
		if got := b + a*LimitMean(d, index); math.Abs(got-exact) > 1e-5*exact {
			t.Errorf("%s: %v, exact %v", l, got, exact)
		}
	}
	if !math.IsInf(LimitMean(Frechet, 0.9), 1) || !math.IsNaN(LimitMean(NoDomain, 0)) || !math.IsNaN(LimitCDF(NoDomain, 0, 1)) {
		t.Error("means that there are not")
	}
}
