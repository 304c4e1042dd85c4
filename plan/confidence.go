package plan

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/tailcut/tailcut/laws"
)

// Observed is what was seen of the attempts of a stage: how long those took that ended, and when others were cut off.
type Observed struct {
	values     []float64 // increasing
	ended, cut []int     // by values
	upTo       []int     // sums: ended at values[0], cut off there, ended at values[1], ...
}

// NewObserved returns what was seen, in seconds, in any order. Of more than most >= 3 distinct values others are
// rounded as [Rounded] does. It is an error if no attempt ended, or a value is not finite.
func NewObserved(ended, cut []float64, most int) (*Observed, error) {
	if len(ended) == 0 {
		return nil, fmt.Errorf("no attempt ended")
	}
	all, err := laws.NewEmpirical(slices.Concat(ended, cut))
	if err != nil {
		return nil, err
	}
	rounded := Rounded(all, most)
	o := &Observed{}
	sortedEnded, sortedCut := slices.Sorted(slices.Values(ended)), slices.Sorted(slices.Values(cut))
	until := func(sorted *[]float64, most float64) (n int) { // takes those up to a value
		for n < len(*sorted) && (*sorted)[n] <= most {
			n++
		}
		*sorted = (*sorted)[n:]
		return n
	}
	total := 0
	for i := range rounded.Distinct() {
		v, _, upTo := rounded.Value(i)
		o.values = append(o.values, v)
		e, c := until(&sortedEnded, all.Rank(upTo)), until(&sortedCut, all.Rank(upTo))
		o.ended, o.cut, o.upTo = append(o.ended, e), append(o.cut, c), append(o.upTo, total+e, total+e+c)
		total += e + c
	}
	return o, nil
}

// oneByOne is up to how many attempts a resample draws each by itself; of more it draws how many there are of each
// value.
const oneByOne = 20_000

// Resample returns the law of a duration by as many attempts drawn from those seen with replacement: what might as well
// have been seen. Where some were cut off it draws pairs of a time and whether the attempt ended then, and estimates
// the law from them as [laws.KaplanMeier] does (Efron, "Censored data and the bootstrap", JASA 76, 1981), completed
// by [laws.ProductLimit.Completed]. Draws of which no attempt ended are made again. The same seed and number give the
// same.
func (o *Observed) Resample(seed, number uint64) laws.Law {
	counts := make([]int, len(o.upTo))
	for again := 0; ; again++ {
		o.draw(scatter(seed)^scatter(number+1), again, counts)
		var values []float64
		var ended, cut []int
		someEnded, someCut := false, false
		for i, v := range o.values {
			if e, c := counts[2*i], counts[2*i+1]; e+c > 0 {
				values, ended, cut = append(values, v), append(ended, e), append(cut, c)
				someEnded, someCut = someEnded || e > 0, someCut || c > 0
			}
		}
		switch {
		case !someEnded:
			continue
		case someCut:
			return laws.LearnCounts(values, ended, cut)
		}
		return counted(values, ended)
	}
}

// draw fills how many there are of each.
func (o *Observed) draw(key uint64, again int, counts []int) {
	clear(counts)
	size := o.upTo[len(o.upTo)-1]
	if size <= oneByOne {
		for i := range size {
			rank := int(math.Ceil(uniform(key, again, i) * float64(size)))
			counts[sort.SearchInts(o.upTo, max(1, rank))]++
		}
		return
	}
	var buffer []float64
	left, before := size, 0
	for i, upTo := range o.upTo {
		if upTo > before {
			p := float64(upTo-before) / float64(size-before)
			b := binomial(left, p, float64(size-upTo)/float64(size-before), untiedTail, buffer)
			buffer = b.pmf
			u, x := uniform(key, again, i), 0
			for x < len(b.pmf)-1 && u > b.pmf[x] {
				u -= b.pmf[x]
				x++
			}
			counts[i] = b.lo + x
			left -= counts[i]
		}
		before = upTo
	}
}

// Gain is what a policy saves of what is done now, as a share of it: 0.25 is a quarter less, and negative is more.
type Gain struct{ Latency, Cost float64 }

// GainOf returns what a policy would save of a job. What is done now, Policy{} for nothing, must be a rule that [Exact]
// evaluates.
func GainOf(e *Exact, now Rule, p Policy) (Gain, error) {
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
