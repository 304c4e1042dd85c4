//go:build unix

package sim_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// workload makes jobs of equal size with heavy tails, arriving fast enough to keep 80 % of the machines busy.
func workload(tb testing.TB, jobs, tasks, machines int) *trace.Workload {
	tb.Helper()
	rate := 0.8 * float64(machines) / (30 * float64(tasks)) // mean duration 30 s
	w, err := trace.Synthesize(fmt.Sprintf("synth:jobs=%d;tasks=%d;law=pareto:alpha=1.5,xm=10;arrivals=poisson:rate=%g", jobs, tasks, rate), 1)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// usage is what a run took.
type usage struct {
	events  int64
	cpu     time.Duration // processor time: other programs on the machine do not count
	mallocs uint64        // allocations
	peak    uint64        // bytes obtained from the system, the workload included
}

// measure runs a policy once, as `tailcut simulate` does, and says what it took.
func measure(tb testing.TB, w *trace.Workload, machines int, spec string) usage {
	return measureWaiting(tb, w, machines, spec, nil)
}

// measureWaiting is measure where attempts wait before they begin.
func measureWaiting(tb testing.TB, w *trace.Workload, machines int, spec string, wait laws.Law) usage {
	tb.Helper()
	p, err := policy.New(spec, 1)
	if err != nil {
		tb.Fatal(err)
	}
	progress, err := policy.UsesProgress(spec)
	if err != nil {
		tb.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	o := sim.Options{Machines: machines, Limits: sched.DefaultLimits(), Seed: 1, Progress: sim.Progress{Exact: progress}, Wait: wait}
	start := processorTime(tb)
	res, err := sim.Run(context.Background(), w, p, o)
	took := processorTime(tb) - start
	if err != nil {
		tb.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if st := res.Stats(); len(res.Jobs) != len(w.Jobs) || st.Attempts < w.Tasks() || res.Events < int64(w.Tasks()) {
		tb.Fatalf("%d jobs, %d attempts, %d events: the work was not done", len(res.Jobs), st.Attempts, res.Events)
	}
	return usage{res.Events, took, after.Mallocs - before.Mallocs, after.Sys - after.HeapReleased}
}

// processorTime returns what the process has used, in user and system mode, on all processors.
func processorTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// known returns those of the policies that the registry has.
func known(specs ...string) []string {
	return slices.DeleteFunc(specs, func(spec string) bool {
		_, err := policy.Find(spec)
		return err != nil
	})
}

// benchmarked are the policies that the benchmarks run.
func benchmarked() []string { return known("fifo", "spark", "srew", "fork", "late") }

// BenchmarkMillionTasks is the target: at least a million events a second on one core, no allocation per event, less than 200 MB.
func BenchmarkMillionTasks(b *testing.B) {
	for _, spec := range benchmarked() {
		b.Run(spec, func(b *testing.B) { benchmark(b, 11_000, spec) })
	}
}

// BenchmarkMachines shows how the cost of an event grows with the cluster; the work per machine is the same.
func BenchmarkMachines(b *testing.B) {
	for _, spec := range benchmarked() {
		for _, machines := range []int{1_000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/machines=%d", spec, machines), func(b *testing.B) { benchmark(b, machines, spec) })
		}
	}
}

func benchmark(b *testing.B, machines int, spec string) {
	w := workload(b, 10_000, 100, machines)
	var sum usage
	for b.Loop() {
		u := measure(b, w, machines, spec)
		sum.events += u.events
		sum.cpu += u.cpu
		sum.mallocs += u.mallocs
		sum.peak = max(sum.peak, u.peak)
	}
	b.ReportMetric(float64(sum.cpu.Nanoseconds())/float64(sum.events), "ns/event")
	b.ReportMetric(float64(sum.events)/sum.cpu.Seconds()/1e6, "Mevents/s")
	b.ReportMetric(float64(sum.mallocs)/float64(sum.events), "allocs/event")
	b.ReportMetric(float64(sum.peak)/1e6, "MB")
}

// TestNoAllocationPerEvent counts over a whole run, growth of tables included.
func TestNoAllocationPerEvent(t *testing.T) {
	if sim.Checked {
		t.Skip("the core checks itself after every step in this build, which allocates")
	}
	for _, tasks := range []int{1, 100} {
		w := workload(t, 200_000/tasks, tasks, 1_000)
		for _, spec := range known("fifo", "spark", "srew") {
			for _, wait := range []laws.Law{nil, laws.Uniform{Lo: 0, Hi: 9}} {
				u := measureWaiting(t, w, 1_000, spec, wait)
				if perEvent := float64(u.mallocs) / float64(u.events); perEvent > 0.01 {
					t.Errorf("%s, %d tasks a job, waits %v: %.4f allocations per event (%d in %d), want at most 0.01", spec, tasks, wait, perEvent, u.mallocs, u.events)
				}
			}
		}
	}
}
