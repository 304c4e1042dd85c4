package laws

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// draws returns n values of a law, and a stream of uniform numbers.
func draws(l Law, n int, seed uint64) ([]float64, func() float64) {
	r := rand.New(rand.NewPCG(seed, 17))
	next := func() float64 { return (float64(r.Uint64()>>12) + 0.5) / (1 << 52) }
	values := make([]float64, n)
	for i := range values {
		values[i] = Sample(l, next())
	}
	return values, next
}

// censor cuts values off at independent times.
func censor(values []float64, by Law, next func() float64) []Observation {
	out := Complete(values)
	for i := range out {
		if c := Sample(by, next()); c < out[i].Value {
			out[i] = Observation{c, true}
		}
	}
	return out
}

func fitted(t *testing.T, family string, observations []Observation) Fitted {
	t.Helper()
	f, err := Fit(family, observations)
	if err != nil {
		t.Fatalf("%s: %v", family, err)
	}
	return f
}

// Every family, complete and with a third of the sample censored: the likelihood has its maximum there, and the law is near the one
// that the sample is from.
func TestFit(t *testing.T) {
	for _, c := range []struct {
		family string
		law    Law
	}{
		{"exp", Exponential{Mu: 0.5}},
		{"shiftedexp", ShiftedExp{Delta: 1, Mu: 0.5}},
		{"pareto", Pareto{Alpha: 2, Xm: 2}},
		{"weibull", Weibull{Shape: 0.6, Scale: 3}},
		{"weibull", Weibull{Shape: 4, Scale: 0.01}},
		{"lognormal", Lognormal{Mu: 1, Sigma: 0.8}},
		{"gamma", Gamma{Shape: 2.5, Scale: 3}},
		{"gamma", Gamma{Shape: 0.4, Scale: 300}},
	} {
		const n = 4000
		values, next := draws(c.law, n, 3)
		kill := Exponential{Mu: 0.4 / c.law.Quantile(0.5)}
		for what, observations := range map[string][]Observation{"complete": Complete(values), "censored": censor(values, kill, next)} {
			f := fitted(t, c.family, observations)
			for _, l := range neighbours(f.Law) {
				if other := logLikelihood(l, observations); other > f.LogLikelihood+1e-7*n {
					t.Errorf("%s %s: likelihood %v of %s, but %v of %s", c.law, what, f.LogLikelihood, f.Law, other, l)
				}
			}
			for _, u := range []float64{0.1, 0.5, 0.9} {
				if a, b := f.Law.Quantile(u), c.law.Quantile(u); math.Abs(a-b) > 0.15*b {
					t.Errorf("%s %s: fitted %s, whose quantile %g is %g, want about %g", c.law, what, f.Law, u, a, b)
				}
			}
			if f.AIC != 2*float64(f.Parameters)-2*f.LogLikelihood {
				t.Errorf("%s: AIC %v", c.law, f.AIC)
			}
		}
	}
}

// neighbours are laws of the same family with parameters a little off, of those that may be.
func neighbours(l Law) []Law {
	var out []Law
	for _, e := range []float64{1 - 1e-3, 1 + 1e-3} {
		switch l := l.(type) {
		case Exponential:
			out = append(out, Exponential{l.Mu * e})
		case ShiftedExp:
			out = append(out, ShiftedExp{l.Delta, l.Mu * e}, ShiftedExp{l.Delta * e, l.Mu})
		case Pareto:
			out = append(out, Pareto{l.Alpha * e, l.Xm}, Pareto{l.Alpha, l.Xm * e})
		case Weibull:
			out = append(out, Weibull{l.Shape * e, l.Scale}, Weibull{l.Shape, l.Scale * e})
		case Lognormal:
			out = append(out, Lognormal{l.Mu * e, l.Sigma}, Lognormal{l.Mu, l.Sigma * e})
		case Gamma:
			out = append(out, Gamma{l.Shape * e, l.Scale}, Gamma{l.Shape, l.Scale * e})
		}
	}
	return out
}

// The right family has the least AIC of a large sample; exp and its generalisations may tie.
func TestFitAllFindsTheFamily(t *testing.T) {
	for want, l := range map[string]Law{
		"pareto": Pareto{Alpha: 2, Xm: 2}, "weibull": Weibull{Shape: 0.5, Scale: 3}, "lognormal": Lognormal{Mu: 1, Sigma: 1.2},
		"gamma": Gamma{Shape: 3, Scale: 2}, "shiftedexp": ShiftedExp{Delta: 3, Mu: 1},
	} {
		values, _ := draws(l, 3000, 5)
		all := FitAll(Complete(values))
		if len(all) != 6 || all[0].family.name != want || all[0].AIC > all[5].AIC {
			t.Errorf("%s: %d fits, the best %s, want %s", l, len(all), all[0].Law, want)
		}
	}
}

func TestFitRefuses(t *testing.T) {
	for _, c := range []struct {
		family string
		x      []Observation
	}{
		{"cauchy", Complete([]float64{1, 2})}, {"exp", nil}, {"exp", Complete([]float64{1, math.NaN()})}, {"exp", Complete([]float64{2, 2})},
		{"exp", []Observation{{1, true}, {2, true}}}, {"exp", Complete([]float64{-1, 2})}, {"weibull", Complete([]float64{0, 1, 2})},
		{"pareto", Complete([]float64{0, 1, 2})}, {"gamma", []Observation{{1, false}, {2, true}}},
	} {
		if f, err := Fit(c.family, c.x); err == nil {
			t.Errorf("%s of %v: %s", c.family, c.x, f.Law)
		}
	}
}

// The probabilities account for the fit: published critical values at 5 % for fitted laws have a probability of about 0.05. Stephens (1974)
// for n = 50: exponential (D - 0.2/n)(√n + 0.26 + 0.5/√n) = 1.094 and A²(1 + 0.6/n) = 1.321; normal, here lognormal,
// D(√n - 0.01 + 0.85/√n) = 0.895 and A²(1 + 0.75/n + 2.25/n²) = 0.752.
func TestGoodnessAgainstTables(t *testing.T) {
	const n, rounds = 50, 3000
	root := math.Sqrt(n)
	for _, c := range []struct {
		family string
		law    Law
		ks, ad float64
	}{
		{"exp", Exponential{Mu: 2}, 1.094/(root+0.26+0.5/root) + 0.2/n, 1.321 / (1 + 0.6/n)},
		{"lognormal", Lognormal{Mu: 1, Sigma: 0.5}, 0.895 / (root - 0.01 + 0.85/root), 0.752 / (1 + 0.75/n + 2.25/(n*n))},
	} {
		var ks, ad int
		for i := range rounds {
			values, _ := draws(c.law, n, uint64(i))
			f := fitted(t, c.family, Complete(values))
			if KolmogorovSmirnov(values, f.Law) >= c.ks {
				ks++
			}
			if f.andersonDarling(values) >= c.ad {
				ad++
			}
		}
		// 0.05 ± five standard errors of 0.004
		if p := float64(ks) / rounds; math.Abs(p-0.05) > 0.02 {
			t.Errorf("%s: P(D >= %g) = %g, want 0.05", c.family, c.ks, p)
		}
		if p := float64(ad) / rounds; math.Abs(p-0.05) > 0.02 {
			t.Errorf("%s: P(A² >= %g) = %g, want 0.05", c.family, c.ad, p)
		}
	}
}

// The right law is rarely refuted, a wrong one always.
func TestGoodness(t *testing.T) {
	for _, l := range []Law{Pareto{Alpha: 2, Xm: 2}, ShiftedExp{Delta: 1, Mu: 1}, Weibull{Shape: 0.5, Scale: 3}, Gamma{Shape: 3, Scale: 2}} {
		values, next := draws(l, 200, 23)
		all := FitAll(Complete(values))
		right := slices.IndexFunc(all, func(f Fitted) bool { return l.String()[:3] == f.family.name[:3] })
		if g := all[right].Test(values, 99, next); !(g.KolmogorovSmirnovP > 0.01 && g.AndersonDarlingP > 0.01) {
			t.Errorf("%s: %+v", l, g)
		}
		if g := all[len(all)-1].Test(values, 99, next); !(g.KolmogorovSmirnovP < 0.05 && g.AndersonDarlingP < 0.05) {
			t.Errorf("%s by %s: %+v", l, all[len(all)-1].Law, g)
		}
	}
}

// By hand: values 0.25 and 0.75 of a uniform law.
func TestDistancesByHand(t *testing.T) {
	l := Uniform{Lo: 0, Hi: 1}
	if d := KolmogorovSmirnov([]float64{0.75, 0.25}, l); d != 0.25 {
		t.Errorf("D = %v, want 0.25", d)
	}
	// -2 - (1(log .25 + log .25) + 3(log .75 + log .75))/2
	want := -2 - (math.Log(0.25) + 3*math.Log(0.75))
	if a := AndersonDarling([]float64{0.75, 0.25}, l); math.Abs(a-want) > 1e-14 {
		t.Errorf("A² = %v, want %v", a, want)
	}
	if a := AndersonDarling([]float64{0, 0.25}, l); !math.IsInf(a, 1) {
		t.Errorf("A² with a value at the end: %v", a)
	}
}
