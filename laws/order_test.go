package laws

import (
	"fmt"
	"math"
	"testing"
)

func identity(x float64) float64 { return x }

func TestOrderMean(t *testing.T) {
	wear, lognormal := Weibull{Shape: 4, Scale: 3}, Lognormal{Mu: 1, Sigma: 0.5}
	for _, test := range []struct {
		law  Law
		k, n int
		want float64
	}{
		// Harmonic numbers and gamma functions by mpmath 1.4, 40 digits.
		{Exponential{Mu: 2}, 1, 4, 0.125},
		{Exponential{Mu: 2}, 1e6, 1e6, 14.392726722865724 / 2},
		{Exponential{Mu: 1}, 1e6 - 1e3, 1e6, 6.9072558623153787},
		{Exponential{Mu: 1}, 10, 1e9, 1.0000000045e-8},
		{ShiftedExp{Delta: 1, Mu: 1}, 2, 2, 2.5},
		{Uniform{Lo: 1, Hi: 4}, 1, 2, 2},
		{Deterministic{Value: 3}, 2, 7, 3},
		{Pareto{Alpha: 2, Xm: 2}, 100, 100, 35.493415885661403},
		{Pareto{Alpha: 1.5, Xm: 1}, 999000, 1e6, 99.98889999922397},
		{Pareto{Alpha: 0.5, Xm: 1}, 1, 3, 3}, // the minimum is Pareto(1.5, 1)
		// Sum of means of minima (David and Nagaraja, Order Statistics, 3.4), mpmath.
		{Weibull{Shape: 0.5, Scale: 3}, 7, 10, 4.1672174981103553},
		{Weibull{Shape: 0.5, Scale: 3}, 50, 50, 65.603944230220577},
		{wear, 25, 50, 2.7168781112752297},
		{wear, 1, 50, 3 * math.Gamma(1.25) * math.Pow(50, -0.25)},
		// Quadrature over the normal score by mpmath, 40 digits.
		{lognormal, 1, 3, 1.9060364679039185},
		{lognormal, 2, 3, 2.8751420025555531},
		{lognormal, 3, 3, 4.4594720762946222},
		{lognormal, 90, 100, 5.0950968958466795},
		{lognormal, 100, 100, 9.7571523003941382},
		{lognormal, 1000, 1000, 13.969921547666329},
		// Order statistics of coins: P(X_{2:3} = 10) = 3p² - 2p³.
		{TwoPoint{Lo: 0, Hi: 1, P: 0.125}, 2, 3, 3.0/64 - 2.0/512},
		// A maximum of maxima is a maximum.
		{Max(lognormal, 10), 10, 10, 9.7571523003941382},
		{must(NewAffine(Exponential{Mu: 2}, 3, 1)), 1, 4, 1 + 3*0.125},
		{must(NewAffine(TwoPoint{Lo: 0, Hi: 1, P: 0.125}, 2, 1)), 2, 3, 1 + 2*(3.0/64-2.0/512)},
	} {
		got, bound := OrderMean(test.law, test.k, test.n)
		if !near(got, test.want, 1e-12) || bound > 1e-9*test.want {
			t.Errorf("%s, %d of %d: %.17g ± %.1g, want %.17g", test.law, test.k, test.n, got, bound, test.want)
		}
	}
}

// TestQuadrature holds it against closed forms: within its own bound, which is
// small for smooth laws.
func TestQuadrature(t *testing.T) {
	for _, l := range []Law{
		Exponential{Mu: 0.5}, ShiftedExp{Delta: 1, Mu: 2}, Pareto{Alpha: 3, Xm: 2}, Pareto{Alpha: 1.05, Xm: 2},
		Pareto{Alpha: 0.8, Xm: 2}, Uniform{Lo: 1, Hi: 4},
	} {
		for _, kn := range [][2]int{{1, 1}, {1, 2}, {3, 3}, {50, 100}, {100, 100}, {1, 1000}, {999, 1000}, {500000, 1000000}, {1000000, 1000000}} {
			k, n := kn[0], kn[1]
			want, _ := OrderMean(l, k, n)
			got, bound := expectOrder(l, identity, k, n)
			if math.IsInf(want, 1) && math.IsInf(got, 1) {
				continue
			}
			if !(math.Abs(got-want) <= bound+1e-13*want) || bound > 1e-9*want {
				t.Errorf("%s, %d of %d: %.17g ± %.1g, want %.17g (%.1g off)", l, k, n, got, bound, want, got/want-1)
			}
		}
	}
}

// TestQuadratureAdmits: across a gap between supports the error is large, and
// the bound says so.
func TestQuadratureAdmits(t *testing.T) {
	l := must(NewMixture([]float64{0.7, 0.3}, []Law{Uniform{Lo: 0, Hi: 1}, Uniform{Lo: 10, Hi: 11}}))
	want := 0.7*0.5 + 0.3*10.5
	got, bound := Expect(l, identity)
	if math.Abs(got-want) > 10*bound || math.Abs(got-want) > 0.01*want || bound < 1e-12 {
		t.Errorf("mean %.10g ± %.1g, want %.10g", got, bound, want)
	}
	if got, bound := OrderMean(l, 1, 1); got != l.Mean() || bound != 0 {
		t.Errorf("mean %.10g ± %.1g, want that of the components, %.10g", got, bound, l.Mean())
	}
}

// TestOrderMeansSum: the order statistics' means sum to n times the mean.
func TestOrderMeansSum(t *testing.T) {
	battery(t, func(t *testing.T, s subject) {
		mean := s.law.Mean()
		if math.IsInf(mean, 1) || s.name == "mixture of atoms" {
			t.Skip("no mean, or too rough for the quadrature")
		}
		const n = 7
		var sum float64
		last := s.law.Quantile(0)
		for k := 1; k <= n; k++ {
			m, _ := OrderMean(s.law, k, n)
			if m < last*(1-1e-13) {
				t.Errorf("E[X_{%d:%d}] = %g is below its predecessor %g", k, n, m, last)
			}
			sum += m
			last = m
		}
		if !near(sum, n*mean, 1e-10) {
			t.Errorf("sum %.15g, %d times the mean %.15g", sum, n, n*mean)
		}
	})
}

// TestOrderMeansOfResamples enumerates every resample of a sample with ties.
func TestOrderMeansOfResamples(t *testing.T) {
	samples := []float64{1, 2, 2, 7}
	l := must(NewEmpirical(samples))
	const n = 3
	var want [n]float64
	for i := range 64 {
		x := []float64{samples[i&3], samples[i>>2&3], samples[i>>4&3]}
		e := must(NewEmpirical(x))
		for k := range n {
			want[k] += e.Rank(k+1) / 64
		}
	}
	for k := range n {
		if got, _ := OrderMean(l, k+1, n); !near(got, want[k], 1e-14) {
			t.Errorf("E[X_{%d:%d}] = %.15g, enumeration %.15g", k+1, n, got, want[k])
		}
	}
}

func TestOrderMeanPanics(t *testing.T) {
	for _, kn := range [][2]int{{0, 1}, {2, 1}, {1, 0}, {-1, -1}} {
		t.Run(fmt.Sprint(kn), func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			OrderMean(Exponential{Mu: 1}, kn[0], kn[1])
		})
	}
}

// TestExpect: E[log X] of Weibull is log λ - γ/k, with γ Euler's constant, and
// E[√X] of Pareto α xm^½/(α-½).
func TestExpect(t *testing.T) {
	const euler = 0.57721566490153286
	for _, test := range []struct {
		name string
		law  Law
		g    func(float64) float64
		want float64
	}{
		{"log of weibull", Weibull{Shape: 2, Scale: 3}, math.Log, math.Log(3) - euler/2},
		{"root of pareto", Pareto{Alpha: 0.8, Xm: 4}, math.Sqrt, 0.8 * 2 / 0.3},
		{"no root of pareto", Pareto{Alpha: 0.5, Xm: 4}, math.Sqrt, math.Inf(1)},
		{"no negative of pareto", Pareto{Alpha: 1, Xm: 4}, func(x float64) float64 { return -x }, math.Inf(-1)},
		{"constant", Gamma{Shape: 2, Scale: 3}, func(float64) float64 { return 5 }, 5},
		{"nothing", Gamma{Shape: 2, Scale: 3}, func(float64) float64 { return 0 }, 0},
		{"square of twopoint", TwoPoint{Lo: 1, Hi: 3, P: 0.25}, func(x float64) float64 { return x * x }, 3},
	} {
		got, bound := Expect(test.law, test.g)
		if !near(got, test.want, 1e-11) || bound > 1e-9*math.Abs(test.want) {
			t.Errorf("%s: %.15g ± %.1g, want %.15g", test.name, got, bound, test.want)
		}
	}
}

func BenchmarkOrderMean(b *testing.B) {
	for _, l := range []Law{Lognormal{Mu: 1, Sigma: 0.5}, Gamma{Shape: 2, Scale: 1}, Pareto{Alpha: 2, Xm: 2}} {
		b.Run(l.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if m, _ := OrderMean(l, 990, 1000); !(m > 0) {
					b.Fatal(m)
				}
			}
		})
	}
}
