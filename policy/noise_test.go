package policy_test

import (
	"context"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// TestNoise: policies know of progress what is reported and nothing else. Those that say they decide by it decide otherwise when reports are wrong, or missing; all
// others do the same whatever is reported.
func TestNoise(t *testing.T) {
	w, err := trace.Synthesize("synth:jobs=30;tasks=40;law=pareto:alpha=1.5,xm=60;arrivals=poisson:rate=0.01;deadline=280s", 1)
	if err != nil {
		t.Fatal(err)
	}
	every := 10 * sched.Second
	for _, e := range policy.Entries() {
		t.Run(e.Name, func(t *testing.T) {
			outcome := func(p sim.Progress) []sim.JobResult {
				x, err := policy.New(e.Name, 1)
				if err != nil {
					t.Fatal(err)
				}
				res, err := sim.Run(context.Background(), w, x, sim.Options{Machines: 60, Limits: sched.NoLimits(), Progress: p, Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				return res.Jobs
			}
			want := outcome(sim.Progress{Exact: true})
			for _, p := range []sim.Progress{{Exact: true, Noise: 1}, {Every: every, Noise: 1}, {}} {
				if same := slices.Equal(want, outcome(p)); same == e.Progress {
					t.Errorf("decides by progress: %v; with %+v the outcome is the same: %v", e.Progress, p, same)
				}
			}
		})
	}
}

// TestUsesProgress: where stages can resume, progress matters to policies that preempt, and with other parameters it does not.
func TestUsesProgress(t *testing.T) {
	w, err := trace.Synthesize("synth:jobs=30;tasks=40;law=pareto:alpha=1.5,xm=60;arrivals=poisson:rate=0.05", 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range w.Stages {
		w.Stages[i].Resumable = true
	}
	for spec, want := range map[string]bool{
		"srew": false, "srew:preempt=true": true, "fork": false, "fork:original=kill": true, "fifo": false, "late": true, "mantri-dup": true,
	} {
		got, err := policy.UsesProgress(spec)
		if err != nil {
			t.Fatal(err)
		}
		var jobs [2][]sim.JobResult
		for i, p := range []sim.Progress{{}, {Exact: true}} {
			x, err := policy.New(spec, 1)
			if err != nil {
				t.Fatal(err)
			}
			res, err := sim.Run(context.Background(), w, x, sim.Options{Machines: 60, Limits: sched.NoLimits(), Progress: p, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			jobs[i] = res.Jobs
		}
		if matters := !slices.Equal(jobs[0], jobs[1]); got != want || matters != want {
			t.Errorf("%s: uses progress: %v, it matters: %v; want %v", spec, got, matters, want)
		}
	}
	if _, err := policy.UsesProgress("fifo:x=1"); err == nil {
		t.Error("no error for a parameter that is not there")
	}
}
