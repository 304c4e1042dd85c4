package laws

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
)

// subject is a law in the battery.
type subject struct {
	name string
	law  Law
	// slack is how far, relative to x, a quantile may be from the exact one:
	// a few units in the last place by default, more where the law is made of
	// special functions.
	slack float64
	// fuzz is the same, absolute: for laws that add or subtract a constant.
	fuzz float64
	// atomic laws have no density, and reach a probability by jumps.
	atomic bool
}

func must[L Law](l L, err error) L {
	if err != nil {
		panic(err)
	}
	return l
}

func subjects() []subject {
	const ulps = 8 * 0x1p-52
	sample := must(NewEmpirical([]float64{5, 1, 2, 2, 8, 3, 2, 13, 1, 5}))
	pareto := Pareto{Alpha: 3, Xm: 2}
	lognormal := Lognormal{Mu: 1, Sigma: 0.5}
	return []subject{
		{name: "exp", law: Exponential{Mu: 0.5}},
		{name: "shiftedexp", law: ShiftedExp{Delta: 1, Mu: 2}, fuzz: ulps},
		{name: "pareto", law: Pareto{Alpha: 2.5, Xm: 2}},
		{name: "pareto infinite variance", law: Pareto{Alpha: 1.5, Xm: 2}},
		{name: "pareto infinite mean", law: Pareto{Alpha: 0.8, Xm: 2}},
		{name: "weibull heavy", law: Weibull{Shape: 0.5, Scale: 3}},
		{name: "weibull wear", law: Weibull{Shape: 4, Scale: 3}},
		{name: "lognormal", law: lognormal, slack: 1e-13},
		{name: "lognormal wide", law: Lognormal{Mu: -2, Sigma: 2}, slack: 1e-13},
		{name: "gamma 0.3", law: Gamma{Shape: 0.3, Scale: 2}, slack: 1e-13},
		{name: "gamma 1", law: Gamma{Shape: 1, Scale: 2}, slack: 1e-13},
		{name: "gamma 7.5", law: Gamma{Shape: 7.5, Scale: 0.1}, slack: 1e-13},
		{name: "gamma 400", law: Gamma{Shape: 400, Scale: 1}, slack: 1e-13},
		{name: "hyperexp", law: HyperExp{P: 0.9, Mu1: 2, Mu2: 0.1}, slack: 1e-14},
		{name: "hyperexp one phase", law: HyperExp{P: 1, Mu1: 2, Mu2: 0.1}, slack: 1e-14},
		{name: "uniform", law: Uniform{Lo: 1, Hi: 4}, fuzz: ulps},
		{name: "deterministic", law: Deterministic{Value: 3}, atomic: true},
		{name: "twopoint", law: TwoPoint{Lo: 1, Hi: 10, P: 0.125}, atomic: true},
		{name: "empirical", law: sample, atomic: true},
		{name: "weighted", law: must(NewWeighted([]float64{0.5, 2, 3, 8}, []float64{1, 0.25, 3, 0.1})), atomic: true},
		{name: "residual weighted", law: must(ResidualLife(must(NewWeighted([]float64{0.5, 2, 3, 8}, []float64{1, 0.25, 3, 0.1})), 1)), atomic: true},
		{name: "kaplan-meier", law: killed(), atomic: true},
		{name: "affine", law: must(NewAffine(Weibull{Shape: 2, Scale: 1}, 3, 0.5)), fuzz: ulps},
		{name: "truncated body", law: must(Truncate(lognormal, 1, 9)), slack: 1e-13},
		{name: "truncated tail", law: must(Truncate(lognormal, 60, 100)), slack: 1e-13},
		{name: "truncated below", law: must(Truncate(pareto, 3, math.Inf(1))), slack: 1e-13},
		{name: "truncated lower tail", law: must(Truncate(lognormal, 0.1, 0.2)), slack: 1e-13},
		{name: "truncated twopoint", law: must(Truncate(TwoPoint{Lo: 1, Hi: 10, P: 0.125}, 1, 5)), atomic: true},
		{name: "residual pareto", law: must(ResidualLife(pareto, 3)), fuzz: ulps, slack: 1e-13},
		{name: "residual lognormal", law: must(ResidualLife(lognormal, 20)), fuzz: 20e-13, slack: 1e-13},
		{name: "residual hyperexp", law: must(ResidualLife(HyperExp{P: 0.9, Mu1: 2, Mu2: 0.1}, 3)), slack: 1e-14},
		{name: "residual empirical", law: must(ResidualLife(sample, 2)), atomic: true},
		{name: "mixture", law: must(NewMixture([]float64{3, 1}, []Law{lognormal, Gamma{Shape: 2, Scale: 9}})), slack: 1e-13},
		{name: "mixture heavy", law: must(NewMixture([]float64{0.9, 0.1}, []Law{Exponential{Mu: 1}, Weibull{Shape: 0.5, Scale: 4}})), slack: 1e-13},
		{name: "mixture of atoms", law: must(NewMixture([]float64{0.5, 0.5}, []Law{Deterministic{Value: 1}, TwoPoint{Lo: 1, Hi: 3, P: 0.5}})), atomic: true},
		{name: "min", law: Min(lognormal, 5), slack: 1e-13},
		{name: "min empirical", law: Min(sample, 3), atomic: true},
		{name: "max", law: Max(lognormal, 50), slack: 1e-13},
		{name: "max pareto", law: Max(pareto, 1000), slack: 1e-13},
		{name: "max empirical", law: Max(sample, 3), atomic: true},
	}
}

// killed is the estimate from a sample that ends censored.
func killed() Law {
	p, err := KaplanMeier([]Observation{{1, false}, {2, true}, {3, false}, {5, true}})
	if err != nil {
		panic(err)
	}
	return p.Efron()
}

func battery(t *testing.T, test func(t *testing.T, s subject)) {
	for _, s := range subjects() {
		if s.slack == 0 {
			s.slack = 8 * 0x1p-52
		}
		t.Run(s.name, func(t *testing.T) { test(t, s) })
	}
}

// probabilities reach from 1e-300 to one half, with both sides of decimal ties.
func probabilities() []float64 {
	return []float64{1e-300, 1e-200, 1e-100, 1e-30, 1e-17, 1e-12, 1e-6, 0.001, 0.01, 0.1, 0.125, 0.2, 0.3, 0.4, 0.499, 0.5}
}

// crosses says that the monotone function p, increasing by sign, crosses the
// probability u between x less and x plus the slack.
func (s subject) crosses(p func(float64) float64, sign, x, u float64) bool {
	const tolerance = 1e-12
	d := s.slack*math.Abs(x) + s.fuzz + 1e-307 // what underflows may be 0
	left, right := p(x-d), p(x+d)
	if sign < 0 {
		left, right = right, left
	}
	return left <= u*(1+tolerance) && right >= u*(1-tolerance)
}

func TestBatteryInverse(t *testing.T) {
	battery(t, func(t *testing.T, s subject) {
		upper := s.law.InvSurvival(0)
		for _, u := range probabilities() {
			if x := s.law.Quantile(u); !s.crosses(s.law.CDF, 1, x, u) {
				t.Errorf("Quantile(%g) = %.17g, and CDF of it is %g", u, x, s.law.CDF(x))
			}
			x := s.law.InvSurvival(u)
			if math.IsInf(x, 1) && math.IsInf(upper, 1) {
				continue // beyond the largest float
			}
			if s.law.Survival(x) > u*(1+1e-12) && !s.crosses(s.law.Survival, -1, x, u) ||
				!s.atomic && !s.crosses(s.law.Survival, -1, x, u) {
				t.Errorf("InvSurvival(%g) = %.17g, and Survival of it is %g", u, x, s.law.Survival(x))
			}
			// The same value from the other side, where 1-u is exact enough.
			if u >= 0.001 && !s.atomic {
				if a, b := s.law.Quantile(1-u), x; math.Abs(a-b) > 1e-12*math.Abs(b) {
					t.Errorf("Quantile(1-%g) = %.17g, InvSurvival(%g) = %.17g", u, a, u, b)
				}
			}
		}
	})
}

func TestBatteryComplement(t *testing.T) {
	battery(t, func(t *testing.T, s subject) {
		for _, x := range grid(s.law) {
			f, q := s.law.CDF(x), s.law.Survival(x)
			if improper(f) || improper(q) || math.Abs(f+q-1) > 1e-14 {
				t.Errorf("CDF(%g) = %g and Survival = %g: sum 1%+g", x, f, q, f+q-1)
			}
		}
	})
}

func TestBatteryMonotone(t *testing.T) {
	battery(t, func(t *testing.T, s subject) {
		xs := grid(s.law)
		for i := 1; i < len(xs); i++ {
			a, b := xs[i-1], xs[i]
			if fa, fb := s.law.CDF(a), s.law.CDF(b); fa > fb*(1+1e-13) {
				t.Errorf("CDF(%g) = %g > CDF(%g) = %g", a, fa, b, fb)
			}
			if sa, sb := s.law.Survival(a), s.law.Survival(b); sb > sa*(1+1e-13) {
				t.Errorf("Survival(%g) = %g < Survival(%g) = %g", a, sa, b, sb)
			}
		}
		last := s.law.Quantile(0)
		for u := 0x1p-10; u < 1; u += 0x1p-10 {
			x := Sample(s.law, u)
			if x < last*(1-1e-13) {
				t.Errorf("Sample(%g) = %.17g is below its predecessor %.17g", u, x, last)
			}
			last = x
		}
	})
}

// grid returns increasing values from below the support to deep in the tail.
func grid(l Law) []float64 {
	xs := []float64{math.Inf(-1), -1, 0, math.Nextafter(l.Quantile(0), math.Inf(-1)), l.Quantile(0), math.Inf(1)}
	for _, u := range probabilities() {
		xs = append(xs, l.Quantile(u), l.InvSurvival(u))
	}
	slices.Sort(xs)
	return slices.Compact(xs)
}

func TestBatterySpecialCases(t *testing.T) {
	battery(t, func(t *testing.T, s subject) {
		l, nan := s.law, math.NaN()
		for _, u := range []float64{-1, -1e-300, 1.0000001, 2, math.Inf(1), math.Inf(-1), nan} {
			if x := l.Quantile(u); !math.IsNaN(x) {
				t.Errorf("Quantile(%g) = %g, want NaN", u, x)
			}
			if x := l.InvSurvival(u); !math.IsNaN(x) {
				t.Errorf("InvSurvival(%g) = %g, want NaN", u, x)
			}
		}
		if f, q := l.CDF(nan), l.Survival(nan); !math.IsNaN(f) || !math.IsNaN(q) {
			t.Errorf("CDF(NaN) = %g, Survival(NaN) = %g, want NaN", f, q)
		}
		if f, q := l.CDF(math.Inf(1)), l.Survival(math.Inf(1)); f != 1 || q != 0 {
			t.Errorf("CDF(+Inf) = %g, Survival(+Inf) = %g, want 1, 0", f, q)
		}
		if f, q := l.CDF(math.Inf(-1)), l.Survival(math.Inf(-1)); f != 0 || q != 1 {
			t.Errorf("CDF(-Inf) = %g, Survival(-Inf) = %g, want 0, 1", f, q)
		}
		lower, upper := l.Quantile(0), l.Quantile(1)
		if a := l.InvSurvival(1); a != lower {
			t.Errorf("InvSurvival(1) = %g, Quantile(0) = %g", a, lower)
		}
		if b := l.InvSurvival(0); b != upper {
			t.Errorf("InvSurvival(0) = %g, Quantile(1) = %g", b, upper)
		}
		below := lower - 1
		if f, q := l.CDF(below), l.Survival(below); f != 0 || q != 1 {
			t.Errorf("below the support: CDF(%g) = %g, Survival = %g", below, f, q)
		}
		if d, ok := l.(Density); ok && !s.atomic {
			if p := d.LogPDF(below); !math.IsInf(p, -1) {
				t.Errorf("LogPDF(%g) = %g below the support, want -Inf", below, p)
			}
			if p := d.LogPDF(math.Inf(1)); !math.IsInf(p, -1) {
				t.Errorf("LogPDF(+Inf) = %g, want -Inf", p)
			}
			if p := d.LogPDF(nan); !math.IsNaN(p) {
				t.Errorf("LogPDF(NaN) = %g, want NaN", p)
			}
		}
	})
}

// TestBatteryDensity differences the CDF, or the survival above the median, over
// a step at which truncation and rounding errors are both below 1e-6.
func TestBatteryDensity(t *testing.T) {
	battery(t, func(t *testing.T, s subject) {
		d, ok := s.law.(Density)
		if s.atomic {
			if ok && !math.IsNaN(d.LogPDF(s.law.Quantile(0.5))) {
				t.Error("a law with atoms has a density")
			}
			return
		}
		if !ok {
			t.Fatal("no density")
		}
		for _, u := range []float64{1e-9, 0.001, 0.1, 0.5, 0.9, 0.999, 1 - 1e-9} {
			x := Sample(s.law, u)
			h := 1e-4 * min(x-s.law.Quantile(0), s.law.InvSurvival(0)-x)
			if math.IsInf(h, 0) || h > 1e-4*x {
				h = 1e-4 * x
			}
			if h < 1e-9*x || h < 1e8*s.fuzz {
				continue // too near an end to difference
			}
			// The tail falls by a factor over 1/hazard: stay well inside that.
			hazard := math.Exp(d.LogPDF(x)) / min(s.law.CDF(x), s.law.Survival(x))
			h = min(h, 1e-3/hazard)
			rise := func(h float64) float64 {
				if u <= 0.5 {
					return (s.law.CDF(x+h) - s.law.CDF(x-h)) / (2 * h)
				}
				return (s.law.Survival(x-h) - s.law.Survival(x+h)) / (2 * h)
			}
			want := (4*rise(h/2) - rise(h)) / 3
			if got := math.Exp(d.LogPDF(x)); math.Abs(got-want) > 1e-6*want {
				t.Errorf("density at %g (u=%g) is %.10g, the CDF's slope %.10g", x, u, got, want)
			}
		}
	})
}

// TestBatteryMoments compares with gonum's Gauss-Legendre rule on pieces of
// the logarithm of the probability, an independent way to the same integral
// that sees survivals down to 1e-280.
func TestBatteryMoments(t *testing.T) {
	battery(t, func(t *testing.T, s subject) {
		if s.atomic {
			t.Skip("see TestAtomicMoments")
		}
		integral := func(g func(float64) float64) float64 {
			var sum float64
			edge := math.Log(0.5)
			for lo := edge; lo > -640; {
				width := 0.25 + 0.1*(edge-lo)
				hi := lo
				lo -= width
				sum += quad.Fixed(func(lq float64) float64 {
					q := math.Exp(lq)
					return q * (g(s.law.Quantile(q)) + g(s.law.InvSurvival(q)))
				}, lo, hi, 20, quad.Legendre{}, 0)
			}
			return sum
		}
		mean := s.law.Mean()
		if math.IsInf(mean, 1) != (s.name == "pareto infinite mean") {
			t.Fatalf("mean is %g", mean)
		}
		if math.IsInf(mean, 1) {
			if !math.IsInf(s.law.Variance(), 1) {
				t.Errorf("mean is +Inf, variance %g", s.law.Variance())
			}
			return
		}
		if want := integral(func(x float64) float64 { return x }); math.Abs(mean-want) > 1e-10*math.Abs(want) {
			t.Errorf("mean %.15g, quadrature %.15g", mean, want)
		}
		variance := s.law.Variance()
		if math.IsInf(variance, 1) != (s.name == "pareto infinite variance") {
			t.Fatalf("variance is %g", variance)
		}
		if math.IsInf(variance, 1) {
			return
		}
		want := integral(func(x float64) float64 { return (x - mean) * (x - mean) })
		if math.Abs(variance-want) > 1e-9*want {
			t.Errorf("variance %.15g, quadrature %.15g", variance, want)
		}
		if sd := StdDev(s.law); math.Abs(sd*sd-variance) > 1e-14*variance {
			t.Errorf("standard deviation %g, variance %g", sd, variance)
		}
	})
}

// TestBatteryAtomicMoments sums over steps of the CDF found by walking the
// quantiles.
func TestBatteryAtomicMoments(t *testing.T) {
	battery(t, func(t *testing.T, s subject) {
		if !s.atomic {
			t.Skip("see TestBatteryMoments")
		}
		var mean, square float64
		last := 0.0
		for x := s.law.Quantile(0); ; x = s.law.Quantile(min(1, last*(1+1e-12))) {
			f := s.law.CDF(x)
			mean += x * (f - last)
			square += x * x * (f - last)
			last = f
			if f >= 1 {
				break
			}
		}
		if got := s.law.Mean(); math.Abs(got-mean) > 1e-10*mean {
			t.Errorf("mean %.15g, sum %.15g", got, mean)
		}
		want := square - mean*mean
		if got := s.law.Variance(); math.Abs(got-want) > 1e-9*square {
			t.Errorf("variance %.15g, sum %.15g", got, want)
		}
	})
}

// TestBatterySample is the Kolmogorov-Smirnov test of 20,000 draws with a fixed
// seed at level 1e-4: sqrt(n) D < 2.225, since 2 exp(-2·2.225²) = 1e-4. For laws with
// atoms the test is conservative.
func TestBatterySample(t *testing.T) {
	battery(t, func(t *testing.T, s subject) {
		const n = 20000
		r := rand.New(rand.NewPCG(7, 11))
		xs := make([]float64, n)
		for i := range xs {
			u := (float64(r.Uint64()>>12) + 0.5) / (1 << 52)
			xs[i] = Sample(s.law, u)
		}
		slices.Sort(xs)
		var d float64
		for i := 0; i < n; {
			j := i
			for j < n && xs[j] == xs[i] {
				j++
			}
			below := s.law.CDF(math.Nextafter(xs[i], math.Inf(-1)))
			if !s.atomic {
				below = s.law.CDF(xs[i])
			}
			d = max(d, math.Abs(s.law.CDF(xs[i])-float64(j)/n), math.Abs(below-float64(i)/n))
			i = j
		}
		if k := d * math.Sqrt(n); k > 2.225 {
			t.Errorf("Kolmogorov-Smirnov statistic %g", k)
		}
	})
}

func TestBatterySpec(t *testing.T) {
	battery(t, func(t *testing.T, s subject) {
		text := s.law.String()
		l, err := Parse(text)
		if err != nil {
			t.Fatalf("Parse(%q): %v", text, err)
		}
		if again := l.String(); again != text {
			t.Errorf("%q reads back as %q", text, again)
		}
		for _, u := range probabilities() {
			if a, b := Sample(s.law, u), Sample(l, u); a != b {
				t.Errorf("%s: Sample(%g) is %g, of the original %g", text, u, b, a)
			}
		}
	})
}

func TestSampleAllocatesNothing(t *testing.T) {
	battery(t, func(t *testing.T, s subject) {
		u := 0.0
		if n := testing.AllocsPerRun(100, func() { u += 0.009; Sample(s.law, u) }); n != 0 {
			t.Errorf("%g allocations a draw", n)
		}
	})
}

func BenchmarkSample(b *testing.B) {
	for _, s := range subjects() {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			var sum float64
			u := 0.5
			for b.Loop() {
				u += 0x1.3c6ef372fe95p-1 // the golden ratio visits [0, 1) evenly
				if u >= 1 {
					u--
				}
				sum += Sample(s.law, u+0x1p-60)
			}
			if !(sum > 0) {
				b.Fatal("nothing was drawn")
			}
		})
	}
}
