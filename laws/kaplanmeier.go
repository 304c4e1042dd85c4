package laws

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Observation is a duration that was measured, in seconds, or, if Censored, one that was cut off: the attempt was
// killed at Value, and all that is known is that it would have lasted longer.
type Observation struct {
	Value    float64
	Censored bool
}

// Complete returns observations of which none is censored.
func Complete(values []float64) []Observation {
	out := make([]Observation, len(values))
	for i, v := range values {
		out[i].Value = v
	}
	return out
}

// Observe returns the observations of durations that ended and of others that were cut off.
func Observe(ended, cut []float64) []Observation {
	out := Complete(ended)
	for _, v := range cut {
		out = append(out, Observation{Value: v, Censored: true})
	}
	return out
}

// Learn returns the law that Tailcut takes durations to have of which so much was observed: the estimate of Kaplan and
// Meier with the tail of [ProductLimit.Completed]. The errors are those of [KaplanMeier].
func Learn(observations []Observation) (*Weighted, error) {
	estimate, err := KaplanMeier(observations)
	if err != nil {
		return nil, err
	}
	return estimate.Completed(), nil
}

// LearnCounts is Learn of the counts that [KaplanMeierCounts] takes.
func LearnCounts(values []float64, ended, cut []int) *Weighted {
	return KaplanMeierCounts(values, ended, cut).Completed()
}

// ProductLimit is the estimate of Kaplan and Meier ("Nonparametric estimation from incomplete observations", JASA 53,
// 1958) of a law from observations of which some are censored independently of what they would have been:
//
//	S(x) = Π (1 - d_i/n_i)   over the values x_i <= x, d_i of which ended at x_i and n_i were still observed just before
//
// Killing an attempt because its clone won censors it so. Killing it because it was slow does not.
//
// If the largest observation is censored, S does not fall to 0: nothing was seen of the rest, the Defect. No treatment
// of it is right. [ProductLimit.Efron] is the least law that agrees with what was seen, [ProductLimit.Extended] one
// that follows a tail of the caller's, and [ProductLimit.Completed] one whose tail is no longer than what was seen
// vouches for.
type ProductLimit struct {
	values   []float64 // where it falls, increasing
	survival []float64 // from there on
	variance []float64 // Σ d/(n(n-d)), Greenwood's
	last     float64   // the largest observation
	beyond   float64   // Σ (c - u) over the censored observations c beyond the largest complete one u
}

// KaplanMeier returns the estimate. It is an error if no observation is complete, or one is not finite.
func KaplanMeier(observations []Observation) (*ProductLimit, error) {
	sorted, err := sortObservations(observations)
	if err != nil {
		return nil, err
	}
	var values []float64
	var ended, cut []int
	for _, x := range sorted {
		if n := len(values); n == 0 || values[n-1] != x.Value {
			values, ended, cut = append(values, x.Value), append(ended, 0), append(cut, 0)
		}
		if last := len(values) - 1; x.Censored {
			cut[last]++
		} else {
			ended[last]++
		}
	}
	return KaplanMeierCounts(values, ended, cut), nil
}

// KaplanMeierCounts is [KaplanMeier] of ended[i] durations and cut[i] that were cut off at values[i], which are finite
// and strictly increasing. Some must have ended. At the largest value, some must have either ended or been cut off.
func KaplanMeierCounts(values []float64, ended, cut []int) *ProductLimit {
	p := &ProductLimit{last: values[len(values)-1]}
	at := 0 // still observed
	for i := range values {
		at += ended[i] + cut[i]
	}
	S, variance := 1.0, 0.0
	for i, v := range values {
		if ended[i] > 0 {
			S *= float64(at-ended[i]) / float64(at)
			variance += float64(ended[i]) / float64(at) / float64(at-ended[i])
			p.values, p.survival, p.variance = append(p.values, v), append(p.survival, S), append(p.variance, variance)
		}
		at -= ended[i] + cut[i]
	}
	longest := p.values[len(p.values)-1]
	for i := len(values) - 1; values[i] > longest; i-- {
		p.beyond += float64(cut[i]) * (values[i] - longest)
	}
	return p
}

// sortObservations returns them by value.
func sortObservations(observations []Observation) ([]Observation, error) {
	complete := false
	for _, x := range observations {
		if math.IsNaN(x.Value) || math.IsInf(x.Value, 0) {
			return nil, fmt.Errorf("observations must be finite numbers, got %s", number(x.Value))
		}
		complete = complete || !x.Censored
	}
	if !complete {
		return nil, fmt.Errorf("of %d observations none is complete", len(observations))
	}
	sorted := slices.Clone(observations)
	slices.SortStableFunc(sorted, func(a, b Observation) int { return cmp.Compare(a.Value, b.Value) })
	return sorted, nil
}

// Survival returns the estimate of P(X > x) and its standard error (Greenwood 1926). Beyond the largest observation, if
// that is censored, the estimate is an upper bound.
func (p *ProductLimit) Survival(x float64) (estimate, standardError float64) {
	i := sort.Search(len(p.values), func(i int) bool { return p.values[i] > x })
	if i == 0 {
		return 1, 0
	}
	S := p.survival[i-1]
	if S == 0 {
		return 0, 0
	}
	return S, S * math.Sqrt(p.variance[i-1])
}

// Defect returns the probability of which nothing was seen but that it lies beyond the largest observation; 0 if that
// is complete.
func (p *ProductLimit) Defect() float64 { return p.survival[len(p.survival)-1] }

// Last returns the largest observation, seconds.
func (p *ProductLimit) Last() float64 { return p.last }

// Efron returns the estimate with its defect put on the largest observation (Efron 1967). It understates: of all laws
// that agree with what was seen, none is smaller.
func (p *ProductLimit) Efron() *Weighted {
	values, weights := p.steps()
	if d := p.Defect(); d > 0 {
		if last := len(values) - 1; values[last] == p.last {
			weights[last] += d
		} else {
			values, weights = append(values, p.last), append(weights, d)
		}
	}
	return mustWeighted(values, weights)
}

// Extended returns the estimate with its defect spread over the quantiles of tail beyond the largest observation: a law
// that was fitted to the same observations, say. points >= 1 is on how many values; each stands for the middle of an
// equal share. It is an error if tail cannot be that long.
func (p *ProductLimit) Extended(tail Law, points int) (*Weighted, error) {
	values, weights := p.steps()
	d := p.Defect()
	if d == 0 {
		return mustWeighted(values, weights), nil
	}
	rest := tail.Survival(p.last)
	if !(rest > 0) || points < 1 {
		return nil, fmt.Errorf("%s is never longer than the largest observation %s", tail, number(p.last))
	}
	for i := range points {
		v := tail.InvSurvival(rest * (1 - (float64(i)+0.5)/float64(points)))
		if v <= values[len(values)-1] { // atoms, or neighbours that rounding made equal
			weights[len(weights)-1] += d / float64(points)
			continue
		}
		values, weights = append(values, v), append(weights, d/float64(points))
	}
	return NewWeighted(values, weights)
}

// Beyond returns how much longer than the largest observation, on average, [ProductLimit.Completed] takes the defect to
// be: the time that all censored observations together lasted beyond the largest complete one, but no more than the
// largest observation itself. 0 if there is no defect.
//
// It is the mean residual life of an exponential tail, its rate estimated from that time on test as if one of them had
// ended when it was cut off. With a shorter mean, one would have ended before with a probability above 1 - 1/e. The
// bound keeps many that were cut off early from vouching for a tail that is far longer than anything that was seen.
func (p *ProductLimit) Beyond() float64 { return min(p.beyond, p.last) }

// completedPoints is how many values stand for the tail of a law that is completed.
const completedPoints = 16

// Completed returns the estimate with its defect spread beyond the largest observation as an exponential tail of mean
// [ProductLimit.Beyond], after Brown, Hollander and Korwar ("Nonparametric tests of independence for censored data",
// 1974), who take such a tail but another rate. Without a defect, or if nothing lasted beyond the largest complete
// observation, it is Efron's.
func (p *ProductLimit) Completed() *Weighted {
	if !(p.Defect() > 0 && p.Beyond() > 1e-9*p.last) { // nor if the values could not be told apart
		return p.Efron()
	}
	values, weights := p.steps()
	for i := range completedPoints { // each is the middle of an equal share
		v := p.last - p.Beyond()*math.Log1p(-(float64(i)+0.5)/completedPoints)
		values, weights = append(values, v), append(weights, p.Defect()/completedPoints)
	}
	return mustWeighted(values, weights)
}

// steps are the values and what the survival falls by there.
func (p *ProductLimit) steps() (values, weights []float64) {
	above := 1.0
	for _, S := range p.survival {
		weights = append(weights, above-S)
		above = S
	}
	return slices.Clone(p.values), weights
}

func mustWeighted(values, weights []float64) *Weighted {
	l, err := NewWeighted(values, weights)
	if err != nil {
		panic("laws: an estimate is a law: " + err.Error())
	}
	return l
}
