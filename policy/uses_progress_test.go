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
		"srew": false, "srew:preempt=true": true, "srew:preempt=clones": true, "fork": false, "fork:original=kill": true, "fifo": false, "late": true, "mantri-dup": true,
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
