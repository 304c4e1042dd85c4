package plan

import (
	"fmt"
	"slices"

	"github.com/tailcut/tailcut/dist"
)

// Resample returns a sample of that size drawn from a sample with replacement: what might as well have been measured,
// if the size is that of the sample. The same seed and number give the same.
func Resample(l *dist.Empirical, size int, seed, number uint64) *dist.Empirical {
	key := scatter(seed) ^ scatter(number+1)
	values := make([]float64, size)
	for i := range values {
		values[i] = dist.Sample(l, uniform(key, 0, i))
	}
	again, err := dist.NewEmpirical(values)
	if err != nil {
		panic(fmt.Sprintf("plan: a sample of finite values: %v", err))
	}
	return again
}

// Gain is what a policy saves of what is done now, as a share of it: 0.25 is a quarter less, and negative is more.
type Gain struct{ Latency, Cost float64 }

// Resampled returns what a policy would save if the durations were the resample of that size and number. What is done
// now, Policy{} for nothing, must be a rule that [Exact] evaluates.
func Resampled(l *dist.Empirical, size, tasks int, now Rule, p Policy, seed, number uint64) (Gain, error) {
	e, err := NewExact(Resample(l, size, seed, number), tasks)
	if err != nil {
		return Gain{}, err
	}
	with, err := e.Evaluate(p)
	if err != nil {
		return Gain{}, err
	}
	base, err := e.Evaluate(now)
	if err != nil {
		return Gain{}, err
	}
	return Gain{saved(base.Latency, with.Latency), saved(base.Cost, with.Cost)}, nil
}

func saved(before, after float64) float64 {
	if before == 0 {
		return 0
	}
	return (before - after) / before
}

// Confidence says how a policy fares on resamples of the durations: the bootstrap's percentile intervals (Efron 1979).
// They say how much the answer hangs on the durations that happened to be measured, and nothing of a future whose law
// is another. They hold the truth less often than on their share of samples where the latency hangs on the largest
// durations, since no resample has a longer task than the sample: of a job of 10 tasks, planned from 200 exponential
// durations, about as often as they should; of one of as many tasks as durations on some 60 %.
type Confidence struct {
	Level     float64 // the share of the resamples that the intervals hold, such as 0.95
	Resamples int
	// Low and High bound what is saved on that share of the resamples, as shares of what is done now.
	Low, High Gain
	// Faster and Cheaper are the shares of resamples on which the policy has less latency, and no more cost.
	Faster, Cheaper float64
}

// NewConfidence sums up the gains on resamples, of which it wants at least one.
func NewConfidence(gains []Gain, level float64) Confidence {
	c := Confidence{Level: level, Resamples: len(gains)}
	var latency, cost []float64
	n := float64(len(gains))
	for _, g := range gains {
		latency, cost = append(latency, g.Latency), append(cost, g.Cost)
		if g.Latency > 0 {
			c.Faster += 1 / n
		}
		if g.Cost >= -tie {
			c.Cheaper += 1 / n
		}
	}
	c.Low.Latency, c.High.Latency = middle(latency, level)
	c.Low.Cost, c.High.Cost = middle(cost, level)
	c.Faster, c.Cheaper = min(1, c.Faster), min(1, c.Cheaper)
	return c
}

// middle returns the bounds of the middle share of the values.
func middle(values []float64, share float64) (low, high float64) {
	slices.Sort(values)
	out := int(float64(len(values))*(1-share)/2 + 1e-9)
	return values[out], values[len(values)-1-out]
}
