package policy

import (
	"context"
	"math"
	"testing"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// TestPlacedData: what it gains to move inputs beforehand in the twelve worlds of TestSharedLinks: the geometric mean of the ratio of completion times, before over after, with its 95 % interval by Student's t. The bounds are far from what was measured.
func TestPlacedData(t *testing.T) {
	const worlds, student = 12, 2.201 // 11 degrees of freedom
	for _, x := range []struct {
		spec  string
		lag   sched.Time
		least float64
	}{
		{"iridium", 60 * sched.Second, 0.9}, {"iridium", 300 * sched.Second, 1}, {"iridium", 600 * sched.Second, 1.5}, {"iridium", 3600 * sched.Second, 1.5},
		{"iridium:truth=true", 60 * sched.Second, 0.9}, {"iridium:truth=true", 300 * sched.Second, 1}, {"iridium:truth=true", 600 * sched.Second, 1.3}, {"iridium:truth=true", 3600 * sched.Second, 1.3},
		{"flutter:truth=true", 600 * sched.Second, 1.3},
		{"geoclone:copies=1,truth=true", 600 * sched.Second, 1},
	} {
		var sum, squares, share float64
		least, most, slower := math.Inf(1), 0.0, 0
		for seed := range uint64(worlds) {
			c, w := sharedWorld(t, seed)
			placed, p, err := c.PlaceData(w, x.lag)
			if err != nil {
				t.Fatal(err)
			}
			ratio := completion(t, x.spec, c, w, seed) / completion(t, x.spec, c, placed, seed)
			sum, squares = sum+math.Log(ratio), squares+math.Log(ratio)*math.Log(ratio)
			least, most = min(least, ratio), max(most, ratio)
			share += float64(p.Bytes) / 1e8 / float64(w.StagesOf(0)[0].Tasks) / worlds
			if ratio < 1 {
				slower++
			}
		}
		mean := sum / worlds
		half := student * math.Sqrt((squares/worlds-mean*mean)/(worlds-1))
		t.Logf("%s, lag %v: %.2f (%.2f to %.2f), worlds from %.2f to %.2f, slower in %d; %.0f %% of the inputs moved",
			x.spec, x.lag, math.Exp(mean), math.Exp(mean-half), math.Exp(mean+half), least, most, slower, 100*share)
		if math.Exp(mean) < x.least {
			t.Errorf("%s, lag %v: %.2f times as fast, want %v at least", x.spec, x.lag, math.Exp(mean), x.least)
		}
	}
}

// completion returns the seconds that the only job takes.
func completion(tb testing.TB, spec string, c *sim.Cluster, w *trace.Workload, seed uint64) float64 {
	tb.Helper()
	p, err := New(spec, 1)
	if err != nil {
		tb.Fatal(err)
	}
	Tell(p, c.Law)
	res, err := sim.Run(context.Background(), w, p, sim.Options{Cluster: c, Limits: sched.NoLimits(), Seed: seed})
	if err != nil {
		tb.Fatal(err)
	}
	return res.Jobs[0].Completion.Seconds()
}
