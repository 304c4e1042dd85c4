package overlap

import (
	"slices"
	"testing"
)

// One thread at load 0.9; the drawing of jobs is not measured. An operation is a job.
func BenchmarkPolicies(b *testing.B) {
	jobs := slices.Collect(Synthetic(1_000_000, 0.9, 1))
	for _, spec := range battery {
		p := mustParse(b, spec)
		if p.Literal {
			continue // unstable: its queue grows
		}
		b.Run(spec, func(b *testing.B) {
			b.ReportAllocs()
			var s Summary
			for left := b.N; left > 0; left -= len(jobs) {
				Run(p, slices.Values(jobs[:min(left, len(jobs))]), s.Add)
			}
			if s.Jobs() != int64(b.N) || !(s.MeanSlowdown() >= 1-1e-9) {
				b.Fatalf("%d of %d jobs were done, with a mean slowdown of %v", s.Jobs(), b.N, s.MeanSlowdown())
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mjobs/s")
		})
	}
}
