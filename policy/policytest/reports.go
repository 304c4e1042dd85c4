package policytest

import (
	"context"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// Reports checks that policies know of progress what is reported and nothing else. Those that say they decide by it
// decide otherwise when reports are wrong, or missing; all others do the same whatever is reported.
func Reports(t testing.TB, s *Subject) {
	t.Helper()
	w, err := trace.Synthesize("synth:jobs=30;tasks=40;law=pareto:alpha=1.5,xm=60;arrivals=poisson:rate=0.01;deadline=280s", 1)
	if err != nil {
		t.Fatal(err)
	}
	outcome := func(p sim.Progress) []sim.JobResult {
		res, err := sim.Run(context.Background(), w, s.New(), sim.Options{Machines: 60, Limits: sched.NoLimits(), Progress: p, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		return res.Jobs
	}
	want := outcome(sim.Progress{Exact: true})
	for _, p := range []sim.Progress{{Exact: true, Noise: 1}, {Every: 10 * sched.Second, Noise: 1}, {}} {
		if same := slices.Equal(want, outcome(p)); same == s.Progress {
			t.Errorf("decides by progress: %v; with %+v the outcome is the same: %v", s.Progress, p, same)
		}
	}
}
