package policy

import (
	"testing"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// TestAutoRedrawsInOverload: where more jobs come than slots can serve as tasks last, and a second attempt draws a new duration
// of a heavy tail, auto redraws what lasts long: it takes far less machine time than without, and jobs wait less.
func TestAutoRedrawsInOverload(t *testing.T) {
	w, err := trace.Synthesize("synth:jobs=100;tasks=uniform:lo=5,hi=40;law=pareto:alpha=1.7,xm=60;arrivals=poisson:rate=0.0167", 5)
	if err != nil {
		t.Fatal(err)
	}
	var flow, machine [2]float64
	for run := range 3 {
		for i, spec := range []string{"srpt", "auto"} {
			p, err := New(spec, 1)
			if err != nil {
				t.Fatal(err)
			}
			res, err := sim.Run(t.Context(), w, p, sim.Options{Machines: 30, Slots: 1, Limits: sched.DefaultLimits(), Model: sim.StatedLaw, Seed: uint64(run), Progress: sim.Progress{Every: 7 * sched.Second}})
			if err != nil {
				t.Fatal(err)
			}
			for j := range res.Jobs {
				flow[i] += (res.Jobs[j].Completion - res.Jobs[j].Arrival).Seconds()
				machine[i] += (res.Jobs[j].Fruitful + res.Jobs[j].Fruitless).Seconds()
			}
		}
	}
	t.Logf("flow time %.3f, machine time %.3f of srpt's", flow[1]/flow[0], machine[1]/machine[0])
	if flow[1] > 0.42*flow[0] || machine[1] > 0.75*machine[0] {
		t.Errorf("flow time %.3f, machine time %.3f of srpt's", flow[1]/flow[0], machine[1]/machine[0])
	}
}
