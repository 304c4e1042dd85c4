package policy

import "testing"

// BenchmarkAdvance is the share of core and policy, and of a minimal driver, in the simulation of 200,000 tasks on 11,000 machines: ns per event
// (fact or timer).
func BenchmarkAdvance(b *testing.B) {
	for _, spec := range []string{"fifo", "fair", "srpt", "spark", "spark:order=fair", "late", "fork", "fork:original=kill",
		"auto", "grass", "hadoop", "hadoop2", "hopper", "flink", "mantri", "mantri-dup", "dolly", "sew", "sca", "ese", "laps", "wlaps", "intermediate-srpt", "capacity"} {
		b.Run(spec, func(b *testing.B) {
			events, clones := 0, 0
			for b.Loop() {
				s := steadyOn(b, spec, 11_000, 20, 50_000, 0)
				for s.Step() {
				}
				events += s.Events
				clones += s.Clones
				if s.Core.View().Cluster().Unfinished() > 0 {
					b.Fatal("not done")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
			b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(clones)/float64(b.N), "clones")
		})
	}
}
