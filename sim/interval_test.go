package sim

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/laws"
)

func comparisonOf(tail float64, policies ...[]float64) *Comparison {
	x := Comparison{Runs: len(policies[0]), Tail: tail}
	for p, flows := range policies {
		for k, flow := range flows {
			x.Cells = append(x.Cells, Cell{Policy: p, Run: k, Stats: Stats{MeanFlow: flow}, Paired: Paired{Jobs: 1, MeanFlow: flow, FirstMeanFlow: policies[0][k]}})
		}
	}
	return &x
}

// A policy that takes half as long in each run takes half, whatever the runs; and no ratio is at 0 or below, where the paired difference, which is
// Student's, goes beyond -100 %.
func TestRatio(t *testing.T) {
	first := []float64{100, 120, 90, 2000, 110, 95, 100, 105, 99, 101}
	half, odd := make([]float64, 10), make([]float64, 10)
	for k, v := range first {
		half[k], odd[k] = v/2, 60
	}
	x := comparisonOf(0, first, half, odd)
	if r := x.VersusRatio(1); math.Abs(r.Value-0.5) > 1e-12 || math.Abs(r.High-r.Low) > 1e-9 {
		t.Errorf("half: %+v", r)
	}
	r := x.VersusRatio(2)
	if mean := x.Mean(0, MeanFlow).Mean; math.Abs(r.Value-60/mean) > 1e-12 || r.Low <= 0 || r.Low >= r.Value || r.High <= r.Value {
		t.Errorf("%+v", r)
	}
	if v := x.Versus(2); (v.Difference.Mean-v.Difference.Half)/v.First > -1 {
		t.Error("the difference does not go beyond -100 %, so this test shows nothing")
	}
	if again := x.Ratio(2, 0, MeanFlow); again != r {
		t.Errorf("%+v, want %+v", again, r)
	}
}

// The ratio of y to x is one over the ratio of x to y, its interval too.
func TestRatioTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 20).Draw(t, "n")
		x, y := rapid.SliceOfN(rapid.Float64Range(1, 100), n, n).Draw(t, "x"), rapid.SliceOfN(rapid.Float64Range(1, 100), n, n).Draw(t, "y")
		a, b := ratioOf(x, y, 0), ratioOf(y, x, 0)
		if near := func(p, q float64) bool { return math.Abs(p*q-1) < 1e-6 }; !near(a.Value, b.Value) || !near(a.Low, b.High) || !near(a.High, b.Low) {
			t.Fatalf("%+v and %+v", a, b)
		}
	})
}

func TestDoubt(t *testing.T) {
	calm := []float64{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}
	wild := []float64{10, 11, 12, 13, 14, 15, 16, 17, 18, 90}
	for _, c := range []struct {
		name   string
		tail   float64
		x      []float64
		doubt  Doubt
		enough int
	}{
		{"calm", math.Inf(1), calm, Sound, 0},
		{"not known", 0, calm, Sound, 0},
		{"skewed", math.Inf(1), wild, Skewed, 82}, // 12 times the square of 2.62
		{"equal", math.Inf(1), []float64{3, 3, 3}, Equal, 0},
		{"infinite variance", 1.5, calm, Heavy, 0},
		{"a tail of 2.2", 2.2, calm, Heavy, 320},
		{"a tail of 3", 3, calm, Heavy, 40},
		{"both", 3, wild, Heavy, 82},
		{"a tail that clones cut off", 1.5, []float64{10, 11, 10, 11, 10.5, 10.2}, Sound, 0},
		{"one run", 1.5, []float64{4}, Sound, 0},
	} {
		i := comparisonOf(c.tail, c.x).Interval(0, MeanFlow)
		if i.Doubt != c.doubt || i.Enough != c.enough || i.N != len(c.x) {
			t.Errorf("%s: %+v, want %q and %d", c.name, i, c.doubt, c.enough)
		}
	}
	if m := comparisonOf(1.5, wild).Middle(0, MeanFlow); m.Value != 14.5 || m.Low != 11 || m.High != 18 || m.Doubt != Sound {
		t.Errorf("median %+v", m)
	}
}

// The number of runs that enoughFor gives is one in which the interval of the mean of Fréchet's law covers 93 %, and a quarter of it covers less.
func TestEnough(t *testing.T) {
	covers := func(alpha float64, n, times int) float64 {
		mean, hits := math.Gamma(1-1/alpha), 0
		all := make([]float64, n)
		for k := range times {
			for i := range all {
				all[i] = math.Pow(exponential(draw(7, forService, uint32(k), uint32(i), uint32(n))), -1/alpha)
			}
			if _, low, high := laws.SkewInterval(all, 0.95); low <= mean && mean <= high {
				hits++
			}
		}
		return float64(hits) / float64(times)
	}
	for _, alpha := range []float64{2.3, 2.6, 3.4} {
		n := enoughFor(alpha)
		if got := covers(alpha, n, 2000); got < 0.92 {
			t.Errorf("α = %v: %d runs cover %v", alpha, n, got)
		}
	}
	if got := covers(2.2, 10, 2000); got > 0.92 {
		t.Errorf("α = 2.2: 10 runs cover %v, so the warning is not needed", got)
	}
}

func TestServiceTail(t *testing.T) {
	w := synth(t, "synth:jobs=3;law=pareto:alpha=1.5,xm=10")
	for spec, want := range map[string]float64{"": math.Inf(1), "resample": math.Inf(1), "law": 1.5, "pareto:alpha=2.5,xm=1": 2.5, "sx:slowdown=(pareto:alpha=3,xm=1)": 3,
		"sx": math.Inf(1), "machine": math.Inf(1), "capacity:law=(uniform:lo=0,hi=2)": math.Inf(1), "nonsense": math.Inf(1)} {
		if got := ServiceTail(spec, w); math.Abs(got-want) > 1e-6 {
			t.Errorf("%q: %v, want %v", spec, got, want)
		}
	}
}

// An experiment in parts is the same as at once, and ends by what its intervals are.
func TestJoin(t *testing.T) {
	e := experiment(t)
	e.Runs = 5
	whole, err := e.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var parts *Comparison
	for _, runs := range []int{2, 3} {
		e.Runs = runs
		more, err := e.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		parts = parts.Join(more)
		e.First += runs
	}
	if d := cmp.Diff(whole, parts, cmpopts.IgnoreFields(Cell{}, "Wall")); d != "" {
		t.Error(d)
	}
}

func TestNarrow(t *testing.T) {
	close := []float64{100, 101, 99, 100, 102, 98, 100, 101}
	far := []float64{100, 150, 60, 100, 140, 80, 120, 70}
	if x := comparisonOf(0, close, close); !x.Narrow(0.02) || x.Narrow(0.001) {
		t.Error("runs that differ by 1 % are narrow at 2 %, not at 0.1 %")
	}
	if x := comparisonOf(0, close, far); x.Narrow(0.02) || !x.Narrow(0.5) {
		t.Error("one policy whose runs are far apart is enough")
	}
	wild := []float64{100, 100.1, 99.9, 100, 100.2, 99.8, 100, 100.1, 100, 110}
	if x := comparisonOf(0, wild); x.Narrow(0.5) {
		t.Error("runs that are skewed want more of them, however narrow the interval is")
	}
	if x := comparisonOf(1.5, far); !x.Narrow(0.5) {
		t.Error("without a variance there is no number of runs to wait for")
	}
	for runs, want := range map[int]int{0: 20, 20: 40, 80: 100} {
		if got := NextLook(runs, 100); got != want {
			t.Errorf("after %d runs at %d, want %d", runs, got, want)
		}
	}
}
