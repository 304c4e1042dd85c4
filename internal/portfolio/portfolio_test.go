package portfolio

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for spec, want := range map[string][]string{
		"auto":                       {"auto"},
		"auto+srew:slot=0s+maxsrpt":  {"auto", "srew:slot=0s", "maxsrpt"},
		"spark:multiplier=1e+3+srpt": {"spark:multiplier=1e+3", "srpt"},
		"srpt/fair+fifo":             {"srpt/fair", "fifo"},
		"flutter+mantri":             {"flutter+mantri"},
		"auto+flutter+mantri:rho=0":  {"auto", "flutter+mantri:rho=0"},
		"spark-geo+late+srpt":        {"spark-geo+late", "srpt"},
		"mantri+flutter":             {"mantri", "flutter"},
		"auto+":                      {"auto+"},
		"":                           {""},
	} {
		if got := Split(spec); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", spec, got, want)
		}
	}
}

// TestVerdict: policies change where that gains enough and with certainty.
func TestVerdict(t *testing.T) {
	now := []float64{100, 110, 90, 105, 95}
	less := func(by float64, noise ...float64) []float64 {
		x := make([]float64, len(now))
		for i := range x {
			x[i] = now[i] - by
			if noise != nil {
				x[i] += noise[i]
			}
		}
		return x
	}
	for _, c := range []struct {
		name   string
		flows  [][]float64
		best   int
		change bool
	}{
		{"the same", [][]float64{now, now}, 0, false},
		{"10 s less in each play", [][]float64{now, less(10)}, 1, true},
		{"too little", [][]float64{now, less(1)}, 1, false},
		{"uncertain", [][]float64{now, less(10, 40, -40, 30, -30, 0)}, 1, false},
		{"longer", [][]float64{now, less(-10)}, 0, false},
		{"the best of two", [][]float64{now, less(10), less(20)}, 2, true},
	} {
		v := verdictOf(c.flows, 3, 0)
		if v.Best != c.best || v.Change != c.change {
			t.Errorf("%s: best %d, change %v: %+v", c.name, v.Best, v.Change, v)
		}
	}
}

// TestRegret: it is what the jobs took under the policy that decided by what they took under a member, less 1.
func TestRegret(t *testing.T) {
	p := &Portfolio{Members: []Member{{Spec: "a"}, {Spec: "b"}}}
	if p.Take(&Verdict{}) || p.Regret(0) != 0 {
		t.Error("nothing was played")
	}
	v := verdictOf([][]float64{{100, 100.5, 99.5}, {80, 80.5, 79.5}}, 2, 0)
	said := p.Say(v)
	if !p.Take(v) || p.Now != 1 || p.Changes != 1 {
		t.Errorf("%+v", p)
	}
	if !strings.HasPrefix(said, "a 100s; b 80s (-20s ± ") {
		t.Errorf("%q", said)
	}
	if p.Take(verdictOf([][]float64{{100, 101, 99}, {100, 101, 99}}, 2, 1)) {
		t.Error("it changes for nothing")
	}
	if a, b := p.Regret(0), p.Regret(1); a != 0 || math.Abs(b-0.125) > 1e-9 {
		t.Errorf("regret %v and %v, want 0 and 0.125", a, b)
	}
}
