package laws

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestStudentQuantile compares with the table in Student's tradition (two-sided 95 %: 12.706, 4.303, 2.262, 1.962)
// and with gonum's law.
func TestStudentQuantile(t *testing.T) {
	for nu, want := range map[float64]float64{1: 12.7062047362, 2: 4.30265272975, 9: 2.26215716285, 999: 1.96234146110} {
		if got := studentQuantile(nu, 0.025); math.Abs(got-want) > 1e-9*want {
			t.Errorf("nu=%v: %v, want %v", nu, got, want)
		}
	}
	for _, nu := range []float64{1, 3, 9.5, 1e4, 1e6} {
		for _, q := range []float64{0.4, 0.05, 0.005, 1e-6} {
			law := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}
			if got := law.Survival(studentQuantile(nu, q)); math.Abs(got-q) > 1e-7*q {
				t.Errorf("nu=%v: survival %v at the quantile of %v", nu, got, q)
			}
		}
	}
}

func TestMeanInterval(t *testing.T) {
	// Mean 3, sample deviation sqrt(2.5), t(4) = 2.776445.
	mean, half := MeanInterval([]float64{1, 2, 3, 4, 5}, 0.95)
	if want := 2.7764451052 * math.Sqrt(2.5/5); mean != 3 || math.Abs(half-want) > 1e-9 {
		t.Errorf("%v ± %v, want 3 ± %v", mean, half, want)
	}
	if mean, half := MeanInterval([]float64{7}, 0.95); mean != 7 || !math.IsNaN(half) {
		t.Errorf("one measurement: %v ± %v", mean, half)
	}
	if mean, half := MeanInterval(nil, 0.95); !math.IsNaN(mean) || !math.IsNaN(half) {
		t.Errorf("none: %v ± %v", mean, half)
	}
	if mean, half := MeanInterval([]float64{4, 4, 4}, 0.95); mean != 4 || half != 0 {
		t.Errorf("equal measurements: %v ± %v", mean, half)
	}
}

// TestMeanIntervalCovers counts how often the interval of four normal measurements has the true mean in it. With a
// normal quantile in place of Student's it would be in 85 % of them.
func TestMeanIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 20_000
	hits := 0
	for range n {
		x := make([]float64, 4)
		for i := range x {
			x[i] = 5 + 2*rng.NormFloat64()
		}
		if mean, half := MeanInterval(x, 0.95); math.Abs(mean-5) <= half {
			hits++
		}
	}
	if got := float64(hits) / n; math.Abs(got-0.95) > 4*math.Sqrt(0.95*0.05/n) {
		t.Errorf("coverage %v, want 0.95", got)
	}
}

// The two-sample interval of (1, 2, 3) and (4, 6): pooled variance (2+2)/3, t(3) = 3.182446. One measurement on a side
// has the variance of the other's.
func TestDifferenceInterval(t *testing.T) {
	d, half := DifferenceInterval([]float64{1, 2, 3}, []float64{4, 6}, 0.95)
	if want := 3.1824463053 * math.Sqrt(4./3*(1./3+1./2)); d != 3 || math.Abs(half-want) > 1e-9 {
		t.Errorf("%v ± %v, want 3 ± %v", d, half, want)
	}
	if d, half := DifferenceInterval([]float64{1, 2, 3}, []float64{5}, 0.95); d != 3 || !(half > 0) {
		t.Errorf("one on a side: %v ± %v", d, half)
	}
	for _, x := range [][]float64{{1}, nil} {
		if _, half := DifferenceInterval(x, []float64{2}, 0.95); !math.IsNaN(half) {
			t.Errorf("%v: half %v", x, half)
		}
	}
}

// Wilson's interval of 8 of 10 is 0.4902 to 0.9433; it never leaves 0 to 1.
func TestShareInterval(t *testing.T) {
	if low, high := ShareInterval(8, 10); math.Abs(low-0.4902) > 1e-4 || math.Abs(high-0.9433) > 1e-4 {
		t.Errorf("%v to %v", low, high)
	}
	for n := 1; n < 50; n++ {
		if low, high := ShareInterval(0, n); low != 0 || !(high < 1) {
			t.Errorf("0 of %d: %v to %v", n, low, high)
		}
		if low, high := ShareInterval(n, n); !(low > 0) || high != 1 {
			t.Errorf("%d of %d: %v to %v", n, n, low, high)
		}
	}
}
