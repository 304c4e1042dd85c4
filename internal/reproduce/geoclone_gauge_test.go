package reproduce

import (
	"context"
	"math"
	"testing"

	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// TestGauge checks what the gauge has seen against the simulator's own books, for a policy that clones and one that kills.
func TestGauge(t *testing.T) {
	for _, spec := range []string{"geoclone:copies=3", "flutter+mantri"} {
		run := waxman(&Options{Seed: 1}, "a few jobs", "facebook", 5, 1, 0.1, 100, 1, []string{spec})
		w, err := run.workload(0)
		if err != nil {
			t.Fatal(err)
		}
		c, err := run.cluster()
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.New(spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		sites := len(c.Sites)
		g := &gauge{Policy: p, to: sched.Never, prices: make([]float64, sites*sites)}
		for i := range g.prices {
			g.prices[i] = 0.02
		}
		res, err := sim.Run(context.Background(), w, g, sim.Options{Cluster: c, Limits: sched.NoLimits(), Progress: sim.Progress{Exact: true}, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		st := res.Stats()
		mean, most := g.used()
		if math.Abs(mean-st.Utilisation) > 1e-6 || most < mean || most > 1 {
			t.Errorf("%s: slots used %v, want %v; at most %v", spec, mean, st.Utilisation, most)
		}
		tasks, launched, raced := 0, 0, 0
		for n, times := range g.launched {
			tasks, launched = tasks+times, launched+n*times
		}
		for n, times := range g.racing {
			raced += n * times
		}
		if tasks != len(w.Durations) || launched != st.Attempts || raced > launched || raced <= tasks {
			t.Errorf("%s: %d tasks with %d attempts, of which %d raced; want %d and %d", spec, tasks, launched, raced, len(w.Durations), st.Attempts)
		}
		if g.moved <= 0 || math.Abs(g.cost-g.moved/1e9*0.02) > 1e-9*g.cost {
			t.Errorf("%s: %v bytes for $%v at 2 cents per GB", spec, g.moved, g.cost)
		}
	}
}

// TestTallied: of 1, 1, 2, 5 the median is 1, three quarters are up to 2.
func TestTallied(t *testing.T) {
	var a, b tallied
	for _, n := range []int{1, 5} {
		a.add(n)
	}
	for _, n := range []int{2, 1} {
		b.add(n)
	}
	a.merge(b)
	if a.quantile(0.5) != 1 || a.quantile(0.75) != 2 || a.quantile(1) != 5 || (tallied{}).quantile(0.5) != 0 {
		t.Errorf("%v: quartiles %v and %v, largest %v", a, a.quantile(0.5), a.quantile(0.75), a.quantile(1))
	}
}
