package laws

import (
	"math"
	"testing"
)

// TestTruncatedPareto: the closed form of the mean is what the quadrature says.
func TestTruncatedPareto(t *testing.T) {
	for _, c := range []struct{ alpha, lo, hi float64 }{
		{1.5, 0, 20}, {1.5, 30, math.Inf(1)}, {2.5, 12, 12.001}, {0.5, 0, 1e6}, {0.999999, 11, 400}, {1.000001, 0, 400}, {3, 0, math.Inf(1)}, {7, 100, 1e5},
	} {
		l, err := Truncate(Pareto{Alpha: c.alpha, Xm: 10}, c.lo, c.hi)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := l.Mean(), numericMean(l); math.Abs(got-want) > 1e-8*want {
			t.Errorf("%v: mean %v, by quadrature %v", l, got, want)
		}
	}
	if l, err := Truncate(Pareto{Alpha: 0.5, Xm: 10}, 20, math.Inf(1)); err != nil || !math.IsInf(l.Mean(), 1) {
		t.Errorf("a mean that is infinite: %v, %v", l, err)
	}
}
