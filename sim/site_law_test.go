package sim

import (
	"math"
	"testing"

	"github.com/tailcut/tailcut/laws"
)

// The law that policies are told sums to 1, ascends, and has the mean of slowdown over speed: exactly where both have values, or what 64 quantiles leave of it.
func TestLawOfASite(t *testing.T) {
	dolly, err := parseSlowdown("dolly")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name         string
		site         Site
		mean, within float64
	}{
		{"table", Site{Slowdown: dolly, Speed: Steady(0.5)}, 2 * 4.691, 1e-9},
		{"none", Site{Speed: Steady(4)}, 0.25, 1e-12},
		{"continuous", Site{Slowdown: laws.Exponential{Mu: 0.5}, Speed: Steady(1)}, 2, 0.02},
		{"speeds", Site{Speed: Speed{Mean: 1, SD: 0.1, Min: 0.2, Max: 3}}, 1.01, 0.01},
	} {
		t.Run(c.name, func(t *testing.T) {
			values, chances := (&Cluster{Sites: []Site{c.site}}).Law(0)
			sum, mean, last := 0.0, 0.0, 0.0
			for i, x := range values {
				if x <= last {
					t.Errorf("value %v follows %v", x, last)
				}
				sum, mean, last = sum+chances[i], mean+chances[i]*x, x
			}
			if math.Abs(sum-1) > 1e-12 || math.Abs(mean/c.mean-1) > c.within {
				t.Errorf("%d values, sum %v, mean %v, want mean %v", len(values), sum, mean, c.mean)
			}
		})
	}
}
