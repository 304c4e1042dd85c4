package laws

import (
	"math"
	"testing"
)

// By hand: of 1, e, e², e³ the two largest over e: 1/α = (2+1)/2 - 0... with X_(3) = e.
func TestHillByHand(t *testing.T) {
	points := Hill([]float64{math.E, 1, math.Exp(3), math.Exp(2)})
	want := []float64{1, 1 / 1.5, 0.5}
	if len(points) != 3 {
		t.Fatalf("%d points", len(points))
	}
	for i, p := range points {
		if p.Tail != i+1 || math.Abs(p.Alpha-want[i]) > 1e-12 || !(p.Low < p.Alpha && p.Alpha < p.High) {
			t.Errorf("%+v, want α = %v", p, want[i])
		}
	}
}

func TestTailIndex(t *testing.T) {
	for _, alpha := range []float64{0.8, 1.5, 3} {
		values, _ := draws(Pareto{Alpha: alpha, Xm: 2}, 5000, 6)
		h, d, err := TailIndex(values)
		if err != nil || !(h.Low*0.93 < alpha && alpha < h.High*1.07) || !(d < 0.05) {
			t.Errorf("α = %v: %+v at distance %v (%v)", alpha, h, d, err)
		}
		// the interval of the whole sample holds α, by the law of large numbers
		if all := Hill(values); !(all[4998].Low < alpha && alpha < all[4998].High) {
			t.Errorf("α = %v: %+v", alpha, all[4998])
		}
	}
	for _, bad := range [][]float64{nil, {1, 2, 3}, make([]float64, 50)} {
		if h, _, err := TailIndex(bad); err == nil {
			t.Errorf("%v has index %+v", bad, h)
		}
	}
	if points := Hill([]float64{2, 2, 2, 1, 0, -1}); len(points) != 1 || points[0].Tail != 3 {
		t.Errorf("ties and what is not positive: %+v", points)
	}
}
