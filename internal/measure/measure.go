// Package measure is for tests: it says what a simulation took.
package measure

import (
	"runtime"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/cputime"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// Usage is what a run took.
type Usage struct {
	Events  int64
	CPU     time.Duration // processor time: other programs on the machine do not count
	Mallocs uint64        // allocations
	Peak    uint64        // bytes obtained from the system, the workload included
	Clones  int
}

// Run runs a policy once with seed 1, which is told all of progress if it uses it, and checks that the work was done.
func Run(tb testing.TB, w *trace.Workload, spec string, o sim.Options) Usage {
	tb.Helper()
	p, err := policy.New(spec, 1)
	if err != nil {
		tb.Fatal(err)
	}
	if o.Progress.Exact, err = policy.UsesProgress(spec); err != nil {
		tb.Fatal(err)
	}
	o.Seed = 1
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := cputime.Used()
	res, err := sim.Run(tb.Context(), w, p, o)
	took := cputime.Used() - start
	if err != nil {
		tb.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	st := res.Stats()
	if len(res.Jobs) != len(w.Jobs) || st.Attempts < w.Tasks() || res.Events < int64(w.Tasks()) {
		tb.Fatalf("%s: %d jobs, %d attempts, %d events: the work was not done", spec, len(res.Jobs), st.Attempts, res.Events)
	}
	return Usage{res.Events, took, after.Mallocs - before.Mallocs, after.Sys - after.HeapReleased, st.Clones}
}
