package policy

import (
	"context"
	"testing"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// TestGeocloneTies: who remembers which sites were tied decides as who searches anew for each slot, on as many sites as in
// the paper's largest world. At its beginning nothing is known, and all sites but those with data are tied.
func TestGeocloneTies(t *testing.T) {
	t.Parallel()
	w, err := (&trace.MontageJobs{Jobs: 8, Mix: "facebook", Rate: 0.75, Scale: 19, Seed: 3}).Workload("ties")
	if err != nil {
		t.Fatal(err)
	}
	c, err := sim.LoadCluster("synth:waxman;sites=500;slots=3000;skew=1", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{"geoclone", "geoclone:stop=least,slot=1s", "geoclone:stop=best,copies=3,round=quota"} {
		_, args, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		var orders [3][]sched.Decision
		for i, most := range []int{mostTies, 1000, 0} {
			p := newGeoclone(args).(*geoclone)
			p.mostTies = most
			watch := func(_ *sched.View, _ []sched.Event, ds []sched.Decision) { orders[i] = append(orders[i], ds...) }
			if _, err := sim.Run(context.Background(), w, p, sim.Options{Cluster: c, Limits: sched.NoLimits(), Seed: 1, Watch: watch}); err != nil {
				t.Fatal(err)
			}
		}
		if len(orders[0]) < 3*len(w.Durations) {
			t.Errorf("%s: only %d decisions for %d tasks", spec, len(orders[0]), len(w.Durations))
		}
		for i := range 2 {
			if k := differ(orders[i], orders[2]); k >= 0 {
				t.Errorf("%s: decision %d of %d differs", spec, k, len(orders[2]))
			}
		}
	}
}

// differ returns the index of the first decision that differs, -1 if none does.
func differ(a, b []sched.Decision) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return n
	}
	return -1
}
