//go:build long

package sim_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// estimated are jobs of the sizes of Section 5.3 (Lin, Zhang, Wierman, Tan, IFIP Performance 2013) at load 0.75, in minutes of stations of 60 slots, in tasks
// whose durations differ from job to job (lognormal, mean a minute, deviation of the logarithm 0.8) and in a job (0.5). What
// the scheduler is told of a stage's mean is the truth times exp(N(0, wrong²)).
func estimated(jobs int, wrong float64) *trace.Workload {
	const slots = 60
	r, lies := rand.New(rand.NewPCG(5, 1)), rand.New(rand.NewPCG(5, 2))
	lognormal := func(mean, sd float64) float64 { return math.Exp(mean + sd*r.NormFloat64()) }
	w := &trace.Workload{Name: "estimated", Names: []string{""}, Classes: []string{"map", "shuffle"}}
	at := 0.0
	for j := range jobs {
		at += r.ExpFloat64() / 0.75
		x := lognormal(-1.3309, 1.6315)
		y := x * lognormal(-1.2323, 1.5699)
		n := int(min(3000, max(1, math.Round(slots*x/lognormal(-0.32, 0.8)))))
		w.Jobs = append(w.Jobs, trace.JobRow{
			Number: uint32(j), Arrival: sched.FromSeconds(60 * at), FirstStage: uint32(2 * j), Stages: 2, FirstEdge: uint32(j), Edges: 1,
		})
		w.Edges = append(w.Edges, trace.Edge{From: 0, To: 1, Kind: sched.Pointwise})
		for class, size := range []float64{x, y} {
			mean := 60 * slots * size / float64(n)
			w.Stages = append(w.Stages, trace.StageRow{
				FirstTask: uint32(len(w.Durations)), Tasks: uint32(n), Law: -1, Class: sched.Class(class),
				Mean: max(1, sched.FromSeconds(mean*math.Exp(wrong*lies.NormFloat64()))),
			})
			for range n {
				w.Durations = append(w.Durations, sched.FromSeconds(mean*lognormal(-0.125, 0.5)))
			}
		}
	}
	return w
}

// TestEstimates measures what wrong sizes cost the policies that order by them; docs/howto/overlap.md has the table.
func TestEstimates(t *testing.T) {
	flow := func(spec string, w *trace.Workload) float64 {
		p, err := policy.NewPerClass(spec, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		res, err := sim.Run(context.Background(), w, p, sim.Options{Machines: 15, Slots: 4, More: []int{4}, Limits: sched.DefaultLimits()})
		if err != nil {
			t.Fatal(err)
		}
		return res.Stats().MeanFlow
	}
	const jobs = 3000
	exact := estimated(jobs, 0)
	fair := flow("fair", exact)
	t.Logf("fair %.0f s, fifo/fair %.0f s", fair, flow("fifo/fair", exact))
	for _, name := range []string{"maxsrpt", "splitsrpt"} {
		best := flow(name, exact)
		t.Logf("%s %.0f s", name, best)
		for _, size := range []string{"first", "history"} {
			got := flow(name+":size="+size, exact)
			t.Logf("%s, size=%s: %+.1f %%", name, size, 100*(got/best-1))
			if got < 0.99*best || size == "first" && got > 1.1*best {
				t.Errorf("%s, size=%s: mean flow %.1f s, with sizes known %.1f s", name, size, got, best)
			}
		}
		for _, wrong := range []float64{0.5, 1, 2} {
			got := flow(name, estimated(jobs, wrong))
			t.Logf("%s, means wrong by exp(N(0, %g²)): %+.1f %%", name, wrong, 100*(got/best-1))
		}
		if best >= fair {
			t.Errorf("%s: mean flow %.1f s, fair %.1f s", name, best, fair)
		}
	}
}
