package laws

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The interval by hand: of 1, 1, 2, 8 the mean is 3, s² = (4+4+1+25)/3 = 34/3, μ₃ = n/((n-1)(n-2)) Σ(x-3)³ = 4/6 · 108 = 72,
// t(3) = 3.1824463.
func TestSkewInterval(t *testing.T) {
	s := math.Sqrt(34. / 3)
	a := 72 / (6 * 2 * s * s * s)
	const q = 3.1824463053
	g := (math.Cbrt(1+6*a*(-q-a)) - 1) / (2 * a)
	mean, low, high := SkewInterval([]float64{1, 1, 2, 8}, 0.95)
	if math.Abs(mean-3) > 1e-12 || math.Abs(low-(3-q*s/2)) > 1e-8 || math.Abs(high-(3-g*s/2)) > 1e-8 {
		t.Errorf("%v from %v to %v, want 3 from %v to %v", mean, low, high, 3-q*s/2, 3-g*s/2)
	}
	if _, low, high := SkewInterval([]float64{7}, 0.95); !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("one measurement: %v to %v", low, high)
	}
	if _, low, high := SkewInterval([]float64{1, 3}, 0.95); math.Abs(low+high-4) > 1e-12 || !(low < 1) {
		t.Errorf("two measurements: %v to %v", low, high)
	}
	if mean, low, high := SkewInterval([]float64{4, 4, 4}, 0.95); mean != 4 || low != 4 || high != 4 {
		t.Errorf("equal measurements: %v from %v to %v", mean, low, high)
	}
}

// The interval goes with the measurements when these are moved, stretched or turned round, and has Student's in it.
func TestSkewIntervalMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-100, 100), 3, 30).Draw(t, "x")
		if slices.Max(x)-slices.Min(x) < 1e-3 {
			return
		}
		mean, low, high := SkewInterval(x, 0.95)
		student, half := MeanInterval(x, 0.95)
		if mean != student || low > mean-half || high < mean+half {
			t.Fatalf("%v from %v to %v, Student's is ± %v", mean, low, high, half)
		}
		by, factor := rapid.Float64Range(-50, 50).Draw(t, "by"), rapid.SampledFrom([]float64{-3, -1, 0.5, 2}).Draw(t, "factor")
		y := make([]float64, len(x))
		for i := range x {
			y[i] = factor*x[i] + by
		}
		_, l, h := SkewInterval(y, 0.95)
		wantL, wantH := factor*low+by, factor*high+by
		if factor < 0 {
			wantL, wantH = wantH, wantL
		}
		if wide := 1e-6 * (1 + h - l); math.Abs(l-wantL) > wide || math.Abs(h-wantH) > wide {
			t.Fatalf("moved by %v, times %v: %v to %v, want %v to %v", by, factor, l, h, wantL, wantH)
		}
	})
}

// How often the interval of ten has the mean in it: about 93 % where Student's has it in 85 to 90 %. Of a law whose tail falls like x^-2.1 ten are too
// few, which callers warn of by TailExponent.
func TestSkewIntervalCovers(t *testing.T) {
	lognormal, err := Parse("lognormal:mean=1,sd=0.8")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name         string
		draw         func(u float64) float64
		mean         float64
		runs         int
		least, most  float64 // of the interval
		studentsMost float64
	}{
		{"normal", func(u float64) float64 { return math.Sqrt2 * math.Erfinv(2*u-1) }, 0, 10, 0.95, 0.98, 0.955},
		{"exponential", func(u float64) float64 { return -math.Log(u) }, 1, 10, 0.925, 0.96, 0.91},
		{"lognormal", func(u float64) float64 { return Sample(lognormal, u) }, 1, 10, 0.92, 0.97, 0.91},
		{"the slowest of many, α = 4", func(u float64) float64 { return math.Pow(-math.Log(u), -0.25) }, math.Gamma(0.75), 10, 0.91, 0.95, 0.9},
		{"α = 2.1", func(u float64) float64 { return math.Pow(-math.Log(u), -1/2.1) }, math.Gamma(1 - 1/2.1), 10, 0.86, 0.92, 0.82},
		{"α = 2.5, 80", func(u float64) float64 { return math.Pow(-math.Log(u), -1/2.5) }, math.Gamma(1 - 1/2.5), 80, 0.925, 0.96, 0.92},
	} {
		rng := rand.New(rand.NewPCG(3, 4))
		const n = 2000
		hits, students := 0, 0
		x := make([]float64, c.runs)
		for range n {
			for i := range x {
				x[i] = c.draw(rng.Float64())
			}
			mean, low, high := SkewInterval(x, 0.95)
			if low <= c.mean && c.mean <= high {
				hits++
			}
			if _, half := MeanInterval(x, 0.95); math.Abs(mean-c.mean) <= half {
				students++
			}
		}
		if got := float64(hits) / n; got < c.least || got > c.most {
			t.Errorf("%s: covers in %v, want %v to %v", c.name, got, c.least, c.most)
		}
		if got := float64(students) / n; got > c.studentsMost {
			t.Errorf("%s: Student's covers in %v, want at most %v: the correction is not needed", c.name, got, c.studentsMost)
		}
	}
}

// Of ten the interval is from the second to the last but one: 1 - 2·11/1024 = 97.9 %. Of five not even the extremes do: 1 - 2/32 = 93.75 %.
func TestMedianInterval(t *testing.T) {
	median, low, high := MedianInterval([]float64{10, 1, 9, 2, 8, 3, 7, 4, 6, 5}, 0.95)
	if median != 5.5 || low != 2 || high != 9 {
		t.Errorf("%v from %v to %v, want 5.5 from 2 to 9", median, low, high)
	}
	if median, low, high = MedianInterval([]float64{3, 1, 2, 6, 5, 4}, 0.95); median != 3.5 || low != 1 || high != 6 {
		t.Errorf("%v from %v to %v, want 3.5 from 1 to 6", median, low, high)
	}
	for _, x := range [][]float64{nil, {1, 2, 3, 4, 5}} {
		if _, low, high = MedianInterval(x, 0.95); !math.IsNaN(low) || !math.IsNaN(high) {
			t.Errorf("%v: %v to %v", x, low, high)
		}
	}
	// Known for 1,000: from the 469th to the 532nd (Conover's table of the binomial law).
	x := make([]float64, 1000)
	for i := range x {
		x[i] = float64(i + 1)
	}
	if _, low, high = MedianInterval(x, 0.95); low != 469 || high != 532 {
		t.Errorf("of 1000 from %v to %v", low, high)
	}
}

func TestTailExponent(t *testing.T) {
	for spec, want := range map[string][2]float64{
		"pareto:alpha=1.5,xm=10": {1.4999, 1.5001}, "lognormal:mean=1,sd=0.3": {10, 30}, "exp:mean=5": {10, 20}, "uniform:lo=0,hi=2": {1e3, math.Inf(1)},
		"twopoint:lo=1,hi=5,p=0.1": {math.Inf(1), math.Inf(1)}, "det:value=3": {math.Inf(1), math.Inf(1)},
		"truncated:lo=0,hi=100,of=(pareto:alpha=1.5,xm=1)": {100, math.Inf(1)},
	} {
		l, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		if got := TailExponent(l); got < want[0] || got > want[1] {
			t.Errorf("%s: %v, want %v", spec, got, want)
		}
	}
}
