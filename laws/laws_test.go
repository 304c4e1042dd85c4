package laws

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func near(got, want, tolerance float64) bool {
	return got == want || math.Abs(got-want) <= tolerance*math.Abs(want)
}

// TestTails holds quantiles of laws without a closed form against bisection of
// mpmath 1.4 (gammainc and erfc) at 40 digits.
func TestTails(t *testing.T) {
	for _, test := range []struct {
		law       Law
		lower     bool
		p, want   float64
		tolerance float64
	}{
		{Gamma{0.3, 1}, false, 1e-300, 685.10800662248266, 1e-14},
		{Gamma{0.3, 1}, false, 1e-100, 225.36721186704314, 1e-14},
		{Gamma{0.3, 1}, false, 1e-17, 35.529883187285387, 1e-14},
		{Gamma{0.3, 1}, true, 1e-17, 1.5022224816458298e-57, 1e-13},
		{Gamma{0.3, 1}, true, 1e-12, 6.9726990964093615e-41, 1e-13},
		{Gamma{7.5, 1}, false, 1e-300, 726.06984415522761, 1e-14},
		{Gamma{7.5, 1}, false, 1e-100, 258.86547954618391, 1e-14},
		{Gamma{7.5, 1}, false, 1e-17, 58.133658908084911, 1e-14},
		{Gamma{7.5, 1}, true, 1e-17, 0.019376817701296811, 1e-14},
		{Gamma{7.5, 1}, true, 1e-12, 0.090696514174358011, 1e-14},
		{Gamma{400, 1}, false, 1e-300, 1653.3568435190899, 1e-14},
		{Gamma{400, 1}, false, 1e-100, 987.40136424877362, 1e-14},
		{Gamma{400, 1}, false, 1e-17, 594.31135502769306, 1e-14},
		{Gamma{400, 1}, true, 1e-17, 253.01912239942955, 1e-14},
		{Gamma{400, 1}, true, 1e-12, 275.03213582287108, 1e-14},
		{Lognormal{1, 0.5}, false, 1e-300, 301279254.87747996, 1e-13},
		{Lognormal{1, 0.5}, false, 1e-100, 113179.09793479098, 1e-13},
		{Lognormal{1, 0.5}, false, 1e-17, 189.97578412323134, 1e-13},
		// -log(1-1e-17) = 1e-17: gonum's Weibull.Quantile gives 0 here.
		{Weibull{0.5, 1}, true, 1e-17, 1e-34, 1e-14},
	} {
		got := test.law.InvSurvival(test.p)
		if test.lower {
			got = test.law.Quantile(test.p)
		}
		if !near(got, test.want, test.tolerance) {
			t.Errorf("%s, lower=%v, p=%g: %.17g, want %.17g (%.2g off)", test.law, test.lower, test.p, got, test.want,
				got/test.want-1)
		}
	}
}

// TestAgainstGonum uses gonum in the body of the laws, where it is accurate.
func TestAgainstGonum(t *testing.T) {
	type oracle interface {
		CDF(float64) float64
		Survival(float64) float64
		LogProb(float64) float64
		Mean() float64
		Variance() float64
	}
	for _, test := range []struct {
		law    Law
		oracle oracle
	}{
		{Exponential{Mu: 0.5}, distuv.Exponential{Rate: 0.5}},
		{Pareto{Alpha: 2.5, Xm: 2}, distuv.Pareto{Alpha: 2.5, Xm: 2}},
		{Weibull{Shape: 1.5, Scale: 3}, distuv.Weibull{K: 1.5, Lambda: 3}},
		{Lognormal{Mu: 1, Sigma: 0.5}, distuv.LogNormal{Mu: 1, Sigma: 0.5}},
		{Gamma{Shape: 7.5, Scale: 0.5}, distuv.Gamma{Alpha: 7.5, Beta: 2}},
		{Uniform{Lo: 1, Hi: 4}, distuv.Uniform{Min: 1, Max: 4}},
	} {
		for u := 0.05; u < 1; u += 0.05 {
			x := Sample(test.law, u)
			for _, pair := range [][2]float64{
				{test.law.CDF(x), test.oracle.CDF(x)},
				{test.law.Survival(x), test.oracle.Survival(x)},
				{test.law.(Density).LogPDF(x), test.oracle.LogProb(x)},
			} {
				if !near(pair[0], pair[1], 1e-12) {
					t.Errorf("%s at %g: %.17g, gonum %.17g", test.law, x, pair[0], pair[1])
				}
			}
		}
		if !near(test.law.Mean(), test.oracle.Mean(), 1e-14) || !near(test.law.Variance(), test.oracle.Variance(), 1e-12) {
			t.Errorf("%s: mean %g and variance %g, gonum %g and %g", test.law,
				test.law.Mean(), test.law.Variance(), test.oracle.Mean(), test.oracle.Variance())
		}
	}
}

// TestWeibullVariance is where Γ(1+2/k) - Γ(1+1/k)² cancels; mpmath, 40 digits.
func TestWeibullVariance(t *testing.T) {
	for shape, want := range map[float64]float64{
		100: 0.00016030491620026113, 1e4: 1.6445038762822376e-8, 1e6: 1.6449297637827162e-12,
	} {
		if got := (Weibull{Shape: shape, Scale: 1}).Variance(); !near(got, want, 1e-12) {
			t.Errorf("shape %g: %.17g, want %.17g", shape, got, want)
		}
	}
}

func TestLognormalOf(t *testing.T) {
	l, err := LognormalOf(10, 5)
	if err != nil || !near(l.Mean(), 10, 1e-14) || !near(StdDev(l), 5, 1e-14) {
		t.Errorf("mean %g, sd %g, error %v; want 10, 5", l.Mean(), StdDev(l), err)
	}
}

// TestEmpiricalRatios: the quantile at j/m is the j-th sample for every j and m,
// although j/m*m is often not j in floats.
func TestEmpiricalRatios(t *testing.T) {
	for m := 1; m <= 300; m++ {
		samples := make([]float64, m)
		for i := range samples {
			samples[i] = float64(i + 1)
		}
		l := must(NewEmpirical(samples))
		for j := 1; j <= m; j++ {
			if x := l.Quantile(float64(j) / float64(m)); x != float64(j) {
				t.Fatalf("Quantile(%d/%d) = %g", j, m, x)
			}
			if x := l.InvSurvival(float64(m-j) / float64(m)); x != float64(j) {
				t.Fatalf("InvSurvival(%d/%d) = %g", m-j, m, x)
			}
		}
	}
}

func TestEmpiricalCounts(t *testing.T) {
	samples := []float64{5, 1, 2, 2, 8, 3, 2, 13, 1, 5}
	l := must(NewEmpirical(samples))
	sorted := []float64{1, 1, 2, 2, 2, 3, 5, 5, 8, 13}
	for i, want := range sorted {
		if got := l.Rank(i + 1); got != want {
			t.Errorf("Rank(%d) = %g, want %g", i+1, got, want)
		}
	}
	if samples[0] != 5 || l.Size() != 10 || l.Distinct() != 6 {
		t.Errorf("samples %v, size %d, distinct %d", samples, l.Size(), l.Distinct())
	}
	if v, count, upTo := l.Value(1); v != 2 || count != 3 || upTo != 5 {
		t.Errorf("Value(1) = %g, %d, %d, want 2, 3, 5", v, count, upTo)
	}
	for _, bad := range [][]float64{nil, {1, math.NaN()}, {math.Inf(1)}} {
		if l, err := NewEmpirical(bad); err == nil {
			t.Errorf("NewEmpirical(%v) = %v, want an error", bad, l)
		}
	}
}

// TestFamilies: residuals and minima that stay in a family are the law that
// the definition gives.
func TestFamilies(t *testing.T) {
	const age, n = 0.7, 3
	for _, l := range []Law{
		Exponential{Mu: 0.5}, ShiftedExp{Delta: 1, Mu: 2}, ShiftedExp{Delta: 0.1, Mu: 2}, Pareto{Alpha: 2.5, Xm: 2},
		Weibull{Shape: 0.5, Scale: 3}, HyperExp{P: 0.9, Mu1: 2, Mu2: 0.1}, Uniform{Lo: 0.5, Hi: 4},
		TwoPoint{Lo: 1, Hi: 10, P: 0.125}, TwoPoint{Lo: 0.5, Hi: 10, P: 0.125}, Deterministic{Value: 3},
		must(NewEmpirical([]float64{0.5, 1, 1, 2})),
		must(NewAffine(Weibull{Shape: 2, Scale: 1}, 3, 0.5)), must(NewAffine(TwoPoint{Lo: 1, Hi: 10, P: 0.125}, 0.5, 2)),
	} {
		residual := must(ResidualLife(l, age))
		minimum, maximum := Min(l, n), Max(l, n)
		for x := 0.013; x < 20; x *= 1.37 {
			if got, want := residual.Survival(x), l.Survival(age+x)/l.Survival(age); !near(got, want, 1e-12) {
				t.Errorf("residual of %s at %g survives %g, want %g", l, x, got, want)
			}
			if got, want := minimum.Survival(x), math.Pow(l.Survival(x), n); !near(got, want, 1e-12) {
				t.Errorf("minimum of %s at %g survives %g, want %g", l, x, got, want)
			}
			if got, want := maximum.CDF(x), math.Pow(l.CDF(x), n); !near(got, want, 1e-12) {
				t.Errorf("maximum of %s at %g has CDF %g, want %g", l, x, got, want)
			}
		}
	}
}

func TestConstructorsRefuse(t *testing.T) {
	exp := Exponential{Mu: 1}
	for name, build := range map[string]func() (Law, error){
		"age below 0":          func() (Law, error) { return ResidualLife(exp, -1) },
		"age NaN":              func() (Law, error) { return ResidualLife(exp, math.NaN()) },
		"age beyond":           func() (Law, error) { return ResidualLife(Uniform{Lo: 0, Hi: 1}, 1) },
		"bounds reversed":      func() (Law, error) { return Truncate(exp, 2, 1) },
		"bounds below":         func() (Law, error) { return Truncate(exp, -2, -1) },
		"bounds NaN":           func() (Law, error) { return Truncate(exp, 0, math.NaN()) },
		"scale 0":              func() (Law, error) { return NewAffine(exp, 0, 0) },
		"no parts":             func() (Law, error) { return NewMixture(nil, nil) },
		"weight 0":             func() (Law, error) { return NewMixture([]float64{1, 0}, []Law{exp, exp}) },
		"more weights":         func() (Law, error) { return NewMixture([]float64{1, 1}, []Law{exp}) },
		"truncated empirical":  func() (Law, error) { return Truncate(must(NewEmpirical([]float64{1})), 2, 3) },
		"residual of the last": func() (Law, error) { return ResidualLife(must(NewEmpirical([]float64{1})), 1) },
	} {
		if l, err := build(); err == nil || l != nil {
			t.Errorf("%s: got %v and error %v, want an error", name, l, err)
		}
	}
}
