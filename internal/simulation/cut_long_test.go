//go:build long

package simulation

import (
	"testing"

	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// TestCutCovers: an M/M/1 queue at load 0.8 begins empty, so that on average its first jobs take less than 5 s, which is
// what a job takes in the steady queue. With 800 repetitions this bias is as large as the interval. The rule takes it
// away, and more of the intervals hold 5 s. It cannot always see the end of the warm-up, and then cuts nothing.
func TestCutCovers(t *testing.T) {
	const (
		spec, truth       = "synth:jobs=1000;tasks=1;law=exp:mean=1;arrivals=poisson:rate=0.8", 5
		experiments, runs = 60, 800
	)
	type seen struct {
		Cut, Held, HeldOfCut int // experiments
		Mean, MeanOfCut      float64
	}
	try := func(cut string) (s seen) {
		for k := range uint64(experiments) {
			r, err := (&Request{
				Workload: synthetic(spec), Machines: 1, Policies: []string{"fifo"}, Runs: runs, Seed: 1000 * k, Cut: cut, Replicate: Both,
				Redraw: func(seed uint64) (*trace.Workload, error) { return trace.Synthesize(spec, seed) },
			}).Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			i := r.Interval(0, sim.MeanFlow)
			held := 0
			if i.Low <= truth && truth <= i.High {
				held = 1
			}
			s.Held += held
			s.Mean += i.Value / experiments
			if r.Cut != nil && r.Cut.Cut != "none" {
				s.Cut++
				s.HeldOfCut += held
				s.MeanOfCut += i.Value
			}
		}
		s.MeanOfCut /= float64(s.Cut)
		return s
	}
	none, auto := try("none"), try(CutAuto)
	t.Logf("nothing cut: %+v; by the rule: %+v", none, auto)
	if none.Mean > 0.99*truth || none.Held > experiments*17/20 {
		t.Errorf("no bias to see: %+v", none)
	}
	if auto.Cut < experiments*3/4 || auto.Mean < 0.995*truth || auto.Mean > 1.005*truth || auto.Held < none.Held+experiments/6 {
		t.Errorf("by the rule: %+v", auto)
	}
}
