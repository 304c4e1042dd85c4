package plan

import (
	"testing"

	"github.com/tailcut/tailcut/laws"
)

// The verdicts of the laws are those of errata section 3.
func TestLemma1OfLaws(t *testing.T) {
	for _, c := range []struct {
		spec string
		want Verdict
	}{
		{"shiftedexp:delta=1,mu=1", PreferKeep},
		{"exp:mu=2", Equal},
		{"weibull:shape=0.7,scale=3", PreferKill},
		{"weibull:shape=1.5,scale=3", PreferKeep},
		{"hyperexp:p=0.1,mu1=0.1,mu2=2", PreferKill},
		{"uniform:lo=1,hi=3", PreferKeep},
		{"pareto:alpha=2,xm=2", Inconclusive},
		{"lognormal:mu=0,sigma=1", Inconclusive},
		{"det:value=3", PreferKeep},
	} {
		l := law(t, c.spec)
		for _, s := range []int{5, 20, 50} {
			if got := Lemma1(l, 100, s); got != c.want {
				t.Errorf("Lemma1(%s, 100, %d) = %v, want %v", c.spec, s, got, c.want)
			}
		}
		if got := Lemma1(l, 100, 100); got != Equal {
			t.Errorf("Lemma1(%s) of a fork at the start = %v, want equal", c.spec, got)
		}
	}
}

func TestLemma1OfSamples(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples []float64
		s       int
		want    Verdict
	}{
		// Q = 3: #(>3+x) = 1 below x = 1, 4·1 against 1·#(>x) = 4, and 0 beyond.
		{"a ladder", []float64{1, 2, 3, 4}, 1, PreferKeep},
		// Q = 1: 10·1 against 1·10 on [0,1), 10·1 against 1·1 beyond, then 0 against 1 on [99,100).
		{"one straggler", []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 100}, 1, Inconclusive},
		// Q = 0: 4·2 against 2·2 below 3 and nothing beyond. A fresh attempt may take no time at all.
		{"half zeros", []float64{0, 0, 3, 3}, 2, PreferKill},
		{"all the same", []float64{2, 2, 2}, 1, PreferKeep},
	} {
		if got := Lemma1(sample(t, c.samples...), len(c.samples), c.s); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A law of atoms that is no sample is compared as if it were one.
func TestLemma1OfAtoms(t *testing.T) {
	for s := 1; s < 10; s++ {
		got := Lemma1(law(t, "twopoint:lo=1,hi=100,p=0.2"), 10, s)
		want := Lemma1(sample(t, 1, 1, 1, 1, 100), 10, s)
		if got != want {
			t.Errorf("s=%d: %v, as a sample %v", s, got, want)
		}
	}
}

func law(t testing.TB, spec string) laws.Law {
	t.Helper()
	l, err := laws.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func sample(t testing.TB, values ...float64) *laws.Empirical {
	t.Helper()
	l, err := laws.NewEmpirical(values)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
