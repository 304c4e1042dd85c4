package policy

import (
	"fmt"
	"math"
	"testing"

	"github.com/tailcut/tailcut/internal/cputime"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy/policytest"
)

// BenchmarkAutoBySpark is the processor time of an event under auto, divided by that under spark: both in turns in the
// same worlds, as other programs slow down whatever runs meanwhile. By is the geometric mean of the turns' ratios, and
// 95% the factor up to which it is known (from -benchtime 3x on); ns are processor time per event under auto.
func BenchmarkAutoBySpark(b *testing.B) {
	for _, w := range []struct {
		name                  string
		machines, jobs, tasks int
	}{{"many", 11_000, 4, 50_000}, {"few", 40, 500, 40}} {
		for _, reports := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/reports=%t", w.name, reports), func(b *testing.B) {
				perEvent := func(spec string) float64 {
					p, err := New(spec, 1)
					if err != nil {
						b.Fatal(err)
					}
					s := policytest.NewSteady(b, p, reports, w.machines, w.jobs, w.tasks, 0)
					from := cputime.Used()
					for s.Step() {
					}
					return float64(cputime.Used()-from) / float64(s.Events)
				}
				perEvent("spark")    // grows the heap
				var ratios []float64 // logarithms
				auto := 0.0
				for b.Loop() {
					spark := perEvent("spark")
					ns := perEvent("auto")
					ratios, auto = append(ratios, math.Log(ns/spark)), auto+ns
				}
				mean, half := laws.MeanInterval(ratios, 0.95)
				b.ReportMetric(math.Exp(mean), "by")
				if len(ratios) > 1 {
					b.ReportMetric(math.Exp(half), "95%")
				}
				b.ReportMetric(auto/float64(len(ratios)), "ns")
			})
		}
	}
}
