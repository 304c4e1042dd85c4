//go:build unix

package overlap

import (
	"slices"
	"syscall"
	"testing"
)

// One thread at load 0.9; the drawing of jobs is not measured. An operation is a job. CPU time is what counts on a machine with others.
func BenchmarkPolicies(b *testing.B) {
	jobs := slices.Collect(Synthetic(1_000_000, 0.9, 1))
	for _, spec := range []string{"fcfs", "maxsrpt", "splitsrpt", "klps", "wps", "fillsrpt"} {
		p := mustParse(b, spec)
		b.Run(spec, func(b *testing.B) {
			b.ReportAllocs()
			start := cpuSeconds(b)
			count, flow := 0, 0.0
			for left := b.N; left > 0; left -= len(jobs) {
				Run(p, slices.Values(jobs[:min(left, len(jobs))]), func(c Completion) {
					count++
					flow += c.Flow()
				})
			}
			b.ReportMetric(float64(b.N)/(cpuSeconds(b)-start)/1e6, "Mjobs/cpu-s")
			if count != b.N || !(flow > 0) {
				b.Fatalf("%d of %d jobs were done, with a total flow time of %v", count, b.N, flow)
			}
		})
	}
}

func cpuSeconds(b testing.TB) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
