package laws

import (
	"math"
	"slices"
	"testing"
)

// The remission times of 21 patients under 6-MP (Freireich et al. 1963; Kalbfleisch and Prentice, table 1.1), with the estimate and standard
// errors that every package prints: 6: 0.857 (0.076), 7: 0.807 (0.087), 10: 0.753 (0.096), 13: 0.690 (0.107),
// 16: 0.627 (0.114), 22: 0.538 (0.128), 23: 0.448 (0.135).
func TestKaplanMeierOnRemissions(t *testing.T) {
	var x []Observation
	for _, v := range []float64{6, 6, 6, 7, 10, 13, 16, 22, 23} {
		x = append(x, Observation{v, false})
	}
	for _, v := range []float64{6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35} {
		x = append(x, Observation{v, true})
	}
	p, err := KaplanMeier(x)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]float64{{6, 0.857, 0.076}, {7, 0.807, 0.087}, {10, 0.753, 0.096}, {13, 0.690, 0.107}, {16, 0.627, 0.114}, {22, 0.538, 0.128}, {23, 0.448, 0.135}, {5.9, 1, 0}, {40, 0.448, 0.135}} {
		if s, e := p.Survival(c[0]); math.Abs(s-c[1]) > 5.1e-4 || math.Abs(e-c[2]) > 5.1e-4 {
			t.Errorf("S(%g) = %.4f (%.4f), want %g (%g)", c[0], s, e, c[1], c[2])
		}
	}
	if d := p.Defect(); math.Abs(d-0.4482) > 1e-4 || p.Last() != 35 {
		t.Errorf("defect %v beyond %v", d, p.Last())
	}
	efron := p.Efron()
	if efron.Quantile(1) != 35 || math.Abs(efron.Survival(34.9)-p.Defect()) > 1e-15 {
		t.Errorf("Efron's law ends at %v with %v", efron.Quantile(1), efron.Survival(34.9))
	}
	tail := Exponential{Mu: 0.1}
	long, err := p.Extended(tail, 400)
	if err != nil {
		t.Fatal(err)
	}
	// the mean of what is put beyond 35 is that of 35 + the tail's residual life
	want := efron.Mean() + p.Defect()*10
	if got := long.Mean(); math.Abs(got-want) > 0.02*want || math.Abs(long.Survival(35)-p.Defect()) > 1e-12 {
		t.Errorf("extended: mean %v, want about %v; beyond 35 %v", got, want, long.Survival(35))
	}
	if _, err := p.Extended(Uniform{Lo: 0, Hi: 30}, 10); err == nil {
		t.Error("a tail that is never so long is accepted")
	}
}

// Without censored observations it is the empirical law; and all of what it cannot do is said.
func TestKaplanMeierOfCompleteSample(t *testing.T) {
	values := []float64{5, 1, 2, 2, 8}
	p, err := KaplanMeier(Complete(values))
	if err != nil {
		t.Fatal(err)
	}
	sample := must(NewEmpirical(values))
	for _, x := range []float64{0, 1, 2, 4, 5, 8, 9} {
		if s, _ := p.Survival(x); math.Abs(s-sample.Survival(x)) > 1e-15 || math.Abs(p.Efron().Survival(x)-s) > 1e-15 {
			t.Errorf("S(%g) = %v, of Efron's law %v, want %v", x, s, p.Efron().Survival(x), sample.Survival(x))
		}
	}
	if p.Defect() != 0 {
		t.Errorf("defect %v", p.Defect())
	}
	for _, bad := range [][]Observation{nil, {{1, true}}, {{math.Inf(1), false}}} {
		if _, err := KaplanMeier(bad); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

// It is consistent: of many observations cut off independently, the survival is the law's.
func TestKaplanMeierIsConsistent(t *testing.T) {
	l := Weibull{Shape: 0.7, Scale: 2}
	values, next := draws(l, 20000, 4)
	p, err := KaplanMeier(censor(values, Exponential{Mu: 0.2}, next))
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []float64{0.9, 0.5, 0.2, 0.1} {
		x := l.InvSurvival(u)
		if s, e := p.Survival(x); math.Abs(s-u) > 5*e || !(e < 0.01) {
			t.Errorf("S(%g) = %v ± %v, want %v", x, s, e, u)
		}
	}
}

// 20 attempts of 5 and 4 that clones cut off at 12. Of the 24 that reached 5, 20 ended there: S = 4/24. Nothing ended in the 4*(12-5) = 28 seconds
// after that, but the tail is taken to be no longer than what was seen: 12 on average beyond 12. One that is cut off at 6 bounds the tail by
// its own second.
func TestCompletedTail(t *testing.T) {
	for _, c := range []struct {
		cut    []float64
		beyond float64
		mean   float64 // of the exponential tail, less what its 16 points lack
	}{
		{[]float64{12, 12, 12, 12}, 12, 5*20./24 + 24*4./24},
		{[]float64{6}, 1, 5*20./21 + 7*1./21},
		{[]float64{5}, 0, 5},
		{[]float64{4}, 0, 5},
	} {
		x := Complete(slices.Repeat([]float64{5}, 20))
		for _, v := range c.cut {
			x = append(x, Observation{v, true})
		}
		p, err := KaplanMeier(x)
		if err != nil {
			t.Fatal(err)
		}
		law := p.Completed()
		if p.Beyond() != c.beyond || law.Mean() > c.mean+1e-9 || law.Mean() < 0.98*c.mean {
			t.Errorf("%v: %v beyond, mean %v, want %v and about %v", c.cut, p.Beyond(), law.Mean(), c.beyond, c.mean)
		}
		if got, _ := p.Survival(5); math.Abs(law.Survival(p.Last())-min(got, p.Defect())) > 1e-12 && c.beyond > 0 {
			t.Errorf("%v: beyond the last %v, want %v", c.cut, law.Survival(p.Last()), p.Defect())
		}
	}
}
