//go:build unix

package sim_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/internal/measure"
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

// measured runs a policy once, as `tailcut simulate` does, and says what it took.
func measured(tb testing.TB, w *trace.Workload, machines int, spec string) measure.Usage {
	return measureWaiting(tb, w, machines, spec, nil)
}

// measureWaiting is measured where attempts wait before they begin.
func measureWaiting(tb testing.TB, w *trace.Workload, machines int, spec string, wait laws.Law) measure.Usage {
	return measure.Run(tb, w, spec, sim.Options{Machines: machines, Limits: sched.DefaultLimits(), Wait: wait})
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
	var sum measure.Usage
	for b.Loop() {
		u := measured(b, w, machines, spec)
		sum.Events += u.Events
		sum.CPU += u.CPU
		sum.Mallocs += u.Mallocs
		sum.Peak = max(sum.Peak, u.Peak)
	}
	b.ReportMetric(float64(sum.CPU.Nanoseconds())/float64(sum.Events), "ns/event")
	b.ReportMetric(float64(sum.Events)/sum.CPU.Seconds()/1e6, "Mevents/s")
	b.ReportMetric(float64(sum.Mallocs)/float64(sum.Events), "allocs/event")
	b.ReportMetric(float64(sum.Peak)/1e6, "MB")
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
				if perEvent := float64(u.Mallocs) / float64(u.Events); perEvent > 0.01 {
					t.Errorf("%s, %d tasks a job, waits %v: %.4f allocations per event (%d in %d), want at most 0.01", spec, tasks, wait, perEvent, u.Mallocs, u.Events)
				}
			}
		}
	}
}
