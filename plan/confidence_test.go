package plan

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/laws"
)

func TestNewConfidence(t *testing.T) {
	var gains []Gain
	for i := range 100 { // latency -0.05 .. 0.94, cost -0.9 .. 0.09
		gains = append(gains, Gain{float64(i-5) / 100, float64(i-90) / 100})
	}
	got := NewConfidence(gains, 0.9)
	want := Confidence{Level: 0.9, Resamples: 100, Low: Gain{0, -0.85}, High: Gain{0.89, 0.04}, Faster: 0.94, Cheaper: 0.1}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return near(a, b, 1e-9) || a == b })); diff != "" {
		t.Error(diff)
	}
}

// The interval of 95 % holds the truth about as often where the job is small beside the sample.
func TestConfidenceHoldsTheTruth(t *testing.T) {
	t.Parallel()
	l := laws.Exponential{Mu: 1}
	p := Policy{Stragglers: 2, Clones: 1}
	truth := exact(t, l, 10)
	want := saved(truth.baseline().Latency, evaluate(t, truth, p).Latency)
	held := 0
	for round := range 50 {
		var values []float64
		for i := range 100 {
			values = append(values, laws.Sample(l, uniform(uint64(round), 9, i)))
		}
		var gains []Gain
		for number := range 40 {
			gains = append(gains, resampled(t, values, nil, 10, p, uint64(round), uint64(number)))
		}
		if c := NewConfidence(gains, 0.95); c.Low.Latency <= want && want <= c.High.Latency {
			held++
		}
	}
	if held < 39 { // of 50; 47.5 less 5 standard deviations and what the bootstrap is known to miss
		t.Errorf("the interval holds the truth on %d of 50 samples", held)
	}
}

// resampled is what a policy saves on one resample.
func resampled(t testing.TB, ended, cut []float64, tasks int, p Policy, seed, number uint64) Gain {
	t.Helper()
	o, err := NewObserved(ended, cut, 5000)
	if err != nil {
		t.Fatal(err)
	}
	g, err := GainOf(exact(t, o.Resample(seed, number), tasks), Policy{}, p)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The same where a third of the attempts are cut off at times of their own; without those that were, it would hold the
// truth far less often.
func TestConfidenceOfCutAttemptsHoldsTheTruth(t *testing.T) {
	t.Parallel()
	l := laws.Exponential{Mu: 1}
	p := Policy{Stragglers: 2, Clones: 1}
	truth := exact(t, l, 10)
	want := truth.baseline().Latency - evaluate(t, truth, p).Latency // seconds: the share that is saved does not change with the scale
	held, blind := 0, 0
	for round := range 50 {
		var ended, cut []float64
		for i := range 150 {
			x, c := laws.Sample(l, uniform(uint64(round), 9, i)), 2*laws.Sample(l, uniform(uint64(round), 10, i))
			if x <= c {
				ended = append(ended, x)
			} else {
				cut = append(cut, c)
			}
		}
		holds := func(cut []float64) bool {
			o, err := NewObserved(ended, cut, 5000)
			if err != nil {
				t.Fatal(err)
			}
			var gains []Gain
			for number := range 40 {
				e := exact(t, o.Resample(uint64(round), uint64(number)), 10)
				gains = append(gains, Gain{Latency: e.baseline().Latency - evaluate(t, e, p).Latency})
			}
			c := NewConfidence(gains, 0.95)
			return c.Low.Latency <= want && want <= c.High.Latency
		}
		if holds(cut) {
			held++
		}
		if holds(nil) {
			blind++
		}
	}
	if held < 34 || blind > held-10 { // of 400 rounds of 200 resamples 286 hold it, and 159
		t.Errorf("the interval holds the truth on %d of 50 samples, on %d without those that were cut off", held, blind)
	}
}

func TestResample(t *testing.T) {
	o, err := NewObserved([]float64{8, 7, 6, 5, 4, 3, 2, 1}, nil, 100)
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := o.Resample(1, 1), o.Resample(1, 1), o.Resample(1, 2)
	if a.String() != b.String() || a.String() == c.String() || a.(*laws.Empirical).Size() != 8 {
		t.Errorf("%s, again %s, another %s", a, b, c)
	}
	if _, err := NewObserved(nil, []float64{1}, 100); err == nil {
		t.Error("nothing ended, and there is a law")
	}
	// A single attempt that ended among many that did not: draws without it are made again.
	o, err = NewObserved([]float64{1}, []float64{2, 2, 2, 2, 2, 2, 2, 2, 2}, 100)
	if err != nil {
		t.Fatal(err)
	}
	for number := range uint64(20) {
		if m := o.Resample(1, number).Mean(); !(m > 1) {
			t.Errorf("resample %d has the mean %v", number, m)
		}
	}
}

// Of many attempts the numbers of each value are drawn, with the same spread as one by one.
func TestResampleOfMany(t *testing.T) {
	t.Parallel()
	const size = 2 * oneByOne
	var ended []float64
	for i := range size {
		ended = append(ended, float64(i%100))
	}
	o, err := NewObserved(ended, nil, 100)
	if err != nil {
		t.Fatal(err)
	}
	var means, first tally
	for number := range uint64(200) {
		l := o.Resample(7, number).(*laws.Empirical)
		if l.Size() != size {
			t.Fatalf("%d attempts", l.Size())
		}
		means.add(l.Mean())
		_, n, _ := l.Value(0)
		first.add(float64(n))
	}
	wantSpread := math.Sqrt((100*100 - 1.) / 12 / size)
	if !near(means.mean, 49.5, 0.002) || !near(math.Sqrt(means.variance()), wantSpread, 0.25) || !near(math.Sqrt(first.variance()), math.Sqrt(size*0.01*0.99), 0.25) {
		t.Errorf("the means are %v ± %v, want ± %v; the first values %v ± %v", means.mean, math.Sqrt(means.variance()), wantSpread, first.mean, math.Sqrt(first.variance()))
	}
}

// One resample of 1,000 durations.
func BenchmarkResampled(b *testing.B) {
	l := heavy(b, 1000)
	var values []float64
	for i := range l.Size() {
		values = append(values, l.Rank(i+1))
	}
	var number uint64
	for b.Loop() {
		if g := resampled(b, values, nil, 1000, Policy{Stragglers: 80, Clones: 2}, 1, number); !(g.Latency > 0) {
			b.Fatal("no gain", g)
		}
		number++
	}
}
