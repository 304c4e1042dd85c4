package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailcut/tailcut/dist"
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
	l := dist.Exponential{Mu: 1}
	p := Policy{Stragglers: 2, Clones: 1}
	truth := exact(t, l, 10)
	want := saved(truth.baseline().Latency, evaluate(t, truth, p).Latency)
	held := 0
	for round := range 50 {
		var values []float64
		for i := range 100 {
			values = append(values, dist.Sample(l, uniform(uint64(round), 9, i)))
		}
		var gains []Gain
		for number := range 40 {
			g, err := Resampled(sample(t, values...), 100, 10, Policy{}, p, uint64(round), uint64(number))
			if err != nil {
				t.Fatal(err)
			}
			gains = append(gains, g)
		}
		if c := NewConfidence(gains, 0.95); c.Low.Latency <= want && want <= c.High.Latency {
			held++
		}
	}
	if held < 39 { // of 50; 47.5 less 5 standard deviations and what the bootstrap is known to miss
		t.Errorf("the interval holds the truth on %d of 50 samples", held)
	}
}

func TestResample(t *testing.T) {
	l := sample(t, 1, 2, 3, 4, 5, 6, 7, 8)
	a, b, c := Resample(l, 8, 1, 1), Resample(l, 8, 1, 1), Resample(l, 8, 1, 2)
	if a.String() != b.String() || a.String() == c.String() || a.Size() != 8 {
		t.Errorf("%s, again %s, another %s", a, b, c)
	}
}

// One resample of 1,000 durations.
func BenchmarkResampled(b *testing.B) {
	l := heavy(b, 1000)
	var number uint64
	for b.Loop() {
		g, err := Resampled(l, 1000, 1000, Policy{}, Policy{Stragglers: 80, Clones: 2}, 1, number)
		if err != nil || !(g.Latency > 0) {
			b.Fatal("no gain", g, err)
		}
		number++
	}
}
