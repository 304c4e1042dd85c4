package sim

import (
	"math"

	"github.com/tailcut/tailcut/laws"
)

// Interval is a figure of a policy over its runs, and where it is with a confidence of 95 %, if Doubt is Sound.
type Interval struct {
	Value     float64
	Low, High float64 // not numbers if there is one run only
	N         int     // runs

	Doubt  Doubt
	Enough int // runs that would do, as far as these runs tell; 0 if no number is known
}

// Doubt is a reason why an interval of so few runs may miss its figure more often than one time in twenty.
type Doubt uint8

// The reasons. Runs that are all equal do not say how often others differ.
const (
	Sound  Doubt = iota
	Skewed       // a few runs show much more than the others
	Heavy        // attempts last by a law whose tail the runs have not seen
	Equal        // all runs show the same
)

// String returns one word or two, "" for Sound.
func (d Doubt) String() string { return [...]string{"", "skewed", "heavy tail", "equal"}[d] }

// Rules of doubt. docs/explain/coverage.md shows how often intervals cover with and without them.
const (
	// times the square of the skewness is how many runs a skewed figure wants; Cochran 1977 has 25 without a correction
	skewedRuns = 12
	tameTail   = 3.5 // tails that fall more steeply are left to the skewness
	tamed      = 0.2 // so little runs deviate from each other, by their mean, where clones cut a heavy tail off
)

// enoughFor returns how many runs the mean of figures wants whose tail has this exponent: so many in which the
// intervals of means of Fréchet's law, that of the slowest of many, cover 93 %. 0 if there is no such number.
func enoughFor(tail float64) int {
	switch {
	case tail <= 2:
		return 0
	case tail <= 2.25:
		return 320
	case tail <= 2.5:
		return 80
	}
	return 40
}

// judge doubts an interval by how the runs deviate from their mean, in shares of it, and by the tail of the attempts.
func (i *Interval) judge(deviations []float64, tail float64) {
	n := len(deviations)
	if n < 2 {
		return
	}
	squares := 0.0
	for _, d := range deviations {
		squares += d * d / float64(n-1)
	}
	g := laws.Skewness(deviations)
	wants := int(math.Ceil(skewedRuns * g * g))
	switch heavy := enoughFor(tail); {
	case i.Low == i.High:
		i.Doubt = Equal
	case tail > 0 && tail < tameTail && squares > tamed*tamed && (heavy == 0 || n < heavy):
		if i.Doubt = Heavy; heavy > 0 {
			i.Enough = max(heavy, wants)
		}
	case wants > n:
		i.Doubt, i.Enough = Skewed, wants
	}
}

// intervalOf estimates the mean of what runs have shown.
func intervalOf(all []float64, tail float64) Interval {
	i := Interval{N: len(all)}
	i.Value, i.Low, i.High = laws.SkewInterval(all, 0.95)
	deviations := make([]float64, len(all))
	for k, v := range all {
		deviations[k] = (v - i.Value) / math.Abs(i.Value)
	}
	i.judge(deviations, tail)
	return i
}

// ratioOf estimates the ratio of the mean of y to the mean of x, measured in pairs. The interval is that of the
// logarithm: its deviation is that of y_k/mean(y) - x_k/mean(x), the first term of its expansion. So it is never at or
// below 0, however far the runs are apart. There is none unless both means are positive.
func ratioOf(x, y []float64, tail float64) Interval {
	i := Interval{N: len(x)}
	first, _ := laws.MeanInterval(x, 0.95)
	second, _ := laws.MeanInterval(y, 0.95)
	if i.Value = second / first; !(first > 0 && second > 0) {
		i.Value, i.Low, i.High = math.NaN(), math.NaN(), math.NaN()
		return i
	}
	deviations := make([]float64, len(x))
	for k := range x {
		deviations[k] = y[k]/second - x[k]/first
	}
	_, low, high := laws.SkewInterval(deviations, 0.95)
	i.Low, i.High = i.Value*math.Exp(low), i.Value*math.Exp(high)
	i.judge(deviations, tail)
	return i
}

// Interval estimates a policy's mean of what a run shows. Where Mean takes the runs to be normal, this allows for
// skewness, and says whether there are enough of them.
func (x *Comparison) Interval(policy int, of func(*Cell) float64) Interval {
	return intervalOf(x.shown(policy, of), x.Tail)
}

// Ratio estimates by what factor a policy's mean of what a run shows exceeds a reference's, from runs that met the same
// luck.
func (x *Comparison) Ratio(policy, reference int, of func(*Cell) float64) Interval {
	return ratioOf(x.shown(reference, of), x.shown(policy, of), x.Tail)
}

// VersusRatio is the ratio of a policy's mean flow time to the first one's, over the jobs that succeeded under both.
func (x *Comparison) VersusRatio(policy int) Interval {
	first, all := x.pairs(policy)
	return ratioOf(first, all, x.Tail)
}

// VersusDifference is the difference, likewise, in seconds.
func (x *Comparison) VersusDifference(policy int) Interval {
	first, all := x.pairs(policy)
	for k := range all {
		all[k] -= first[k]
	}
	return intervalOf(all, x.Tail)
}

// pairs returns the paired mean flow times of the runs in which some job succeeded under both.
func (x *Comparison) pairs(policy int) (first, all []float64) {
	for k := range x.Of(policy) {
		if p := &x.Of(policy)[k].Paired; p.Jobs > 0 {
			first, all = append(first, p.FirstMeanFlow), append(all, p.MeanFlow)
		}
	}
	return first, all
}

// Within tells whether the interval's bounds are that close to the figure, as a share of it, and its runs not skewed
// for their number. An interval whose law has no variance is never sound; there only the bounds count.
func (i *Interval) Within(share float64) bool {
	wide := max(i.High-i.Value, i.Value-i.Low)
	return i.Doubt != Skewed && (i.Doubt != Heavy || i.Enough == 0) && wide <= share*math.Abs(i.Value)
}

// Narrow tells whether the mean flow times of all policies are known within a share of themselves, and their ratios to
// the first within a share of the first.
func (x *Comparison) Narrow(share float64) bool {
	for policy := range len(x.Cells) / x.Runs {
		mean := x.Interval(policy, MeanFlow)
		if !mean.Within(share) {
			return false
		}
		if ratio := x.VersusRatio(policy); policy > 0 && ratio.N > 0 && (!ratio.Within(math.Inf(1)) || max(ratio.High-ratio.Value, ratio.Value-ratio.Low) > share) {
			return false
		}
	}
	return true
}

// FirstLook is how many runs an experiment has before it may stop because its intervals are narrow. Who looks after
// each run stops where chance has made them so, see docs/explain/coverage.md. So one looks again only when the number
// of runs has doubled.
const FirstLook = 20

// NextLook is the number of runs after which to look again, at most so many.
func NextLook(runs, most int) int {
	if runs == 0 {
		return min(FirstLook, most)
	}
	return min(2*runs, most)
}

// Middle is the median over runs of what a run of a policy shows, and the interval of the median run: whatever the law
// of the runs is, it covers at least 95 %. There is none of fewer than 6 runs.
func (x *Comparison) Middle(policy int, of func(*Cell) float64) Interval {
	i := Interval{N: x.Runs}
	i.Value, i.Low, i.High = laws.MedianInterval(x.shown(policy, of), 0.95)
	return i
}

// shown returns what each run of a policy shows.
func (x *Comparison) shown(policy int, of func(*Cell) float64) []float64 {
	all := make([]float64, x.Runs)
	for k := range all {
		all[k] = of(&x.Of(policy)[k])
	}
	return all
}
