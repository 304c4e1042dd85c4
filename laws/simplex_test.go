package laws

import (
	"math"
	"testing"
)

func TestDescend(t *testing.T) {
	for name, c := range map[string]struct {
		f            func(a, b float64) float64
		a, b, within float64
	}{
		"a bowl": {func(a, b float64) float64 { return (a-3)*(a-3) + 2*(b+1)*(b+1) }, 3, -1, 1e-6},
		"Rosenbrock's valley (Computer Journal 3, 1960)": {func(a, b float64) float64 { return 100*(b-a*a)*(b-a*a) + (1-a)*(1-a) }, 1, 1, 1e-5},
		"the edge of what is possible": {func(a, b float64) float64 {
			if a < 0.5 {
				return math.Inf(1)
			}
			return a*a + b*b
		}, 0.5, 0, 0.01},
	} {
		v, ok := descend(c.f, 2, 2)
		if !ok || math.Abs(v.x[0]-c.a) > c.within || math.Abs(v.x[1]-c.b) > c.within || v.f != c.f(v.x[0], v.x[1]) {
			t.Errorf("%s: %v, %v; want %v, %v", name, v, ok, c.a, c.b)
		}
	}
	if _, ok := descend(func(a, b float64) float64 { return math.Inf(1) }, 0, 0); ok {
		t.Error("a minimum where there is nothing")
	}
}
