package plan

import (
	"math"
	"slices"
	"testing"
)

// The deadline's optimum against the quantile of every policy.
func TestDeadlineAgainstAll(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec  string
		tasks int
		u     float64
	}{
		{"empirical:values=(1x3 2x5 3 4x2 8 20 21.5)", 16, 0.9}, {"empirical:values=(1 1.5 1.75 2 2.25 2.5 4 8 20 90)", 12, 0.99},
		{"pareto:alpha=2,xm=2", 12, 0.9}, {"shiftedexp:delta=1,mu=1", 8, 0.5}, {"det:value=3", 4, 0.9},
	} {
		l := law(t, c.spec)
		e := exact(t, l, c.tasks)
		choices := EvaluateAll(e, Policies(c.tasks, 2))
		got, err := e.Deadline(choices, choices[0].Cost, c.u)
		if err != nil {
			t.Fatal(err)
		}
		lowest := math.Inf(1)
		var want Choice
		for _, x := range choices {
			q, err := e.LatencyQuantile(x.Policy, c.u)
			if err != nil {
				t.Fatal(err)
			}
			if x.Cost <= choices[0].Cost*(1+1e-9) && q < lowest*(1-1e-9) {
				lowest, want = q, x
			}
		}
		if got[0].Policy != want.Policy || !near(got[0].Quantile, lowest, 1e-6) {
			t.Errorf("%s: %+v, want %+v at %v", c.spec, got[0], want, lowest)
		}
		if !slices.ContainsFunc(got, func(x Timed) bool { return x.Baseline() }) {
			t.Errorf("%s: no baseline", c.spec)
		}
	}
}

// The deadline of 1,000 samples.
func BenchmarkDeadline(b *testing.B) {
	e := exact(b, heavy(b, 1000), 1000)
	choices := EvaluateAll(e.Grid(4), Policies(1000, 4))
	for b.Loop() {
		best, err := e.Deadline(choices, choices[0].Cost, 0.99)
		if err != nil || best[0].Baseline() {
			b.Fatal("a heavy tail wants clones", err)
		}
	}
}
