package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
)

// Timed is a choice with the time by which the job is done with a probability that was asked for.
type Timed struct {
	Choice
	Quantile float64 // seconds
}

// Deadline returns the policies by which a job meets the earliest deadline with probability u: of the choices that cost
// no more than the budget, machine seconds per task, the one of least u-quantile of the latency for each number of
// clones and mode, soonest first. Ties go as in [Optimise]. The quantiles are those of [Exact.LatencyQuantile]. It
// wants 0 < u < 1.
//
// A quantile is a search by bisection, and there are thousands of policies. So one policy of each kind, that of least
// mean, sets a time, one pass over the forks tells P(T < that time) of all others, and only the one that beats it most
// is searched, until none does.
func (e *Exact) Deadline(choices []Choice, budget, u float64) ([]Timed, error) {
	if !(u > 0 && u < 1) {
		return nil, fmt.Errorf("a quantile is between 0 and 1, got %g", u)
	}
	d := &deadline{e: e, u: u}
	for _, c := range choices {
		if c.Cost <= budget*(1+tie) {
			d.enter(c)
		}
	}
	for _, k := range d.kinds {
		if err := d.search(k, least(k.all, func(c Choice) float64 { return c.Latency })); err != nil {
			return nil, err
		}
	}
	for open := d.kinds; len(open) > 0; {
		d.measure(open, 1-tie)
		var beaten []*kind
		for _, k := range open {
			if c, found := d.likeliest(k); found {
				beaten = append(beaten, k)
				if err := d.search(k, c); err != nil {
					return nil, err
				}
			}
		}
		open = beaten
	}
	d.measure(d.kinds, 1) // for ties
	for _, k := range d.kinds {
		if i := slices.IndexFunc(k.all, func(c Choice) bool { return k.within[c.Stragglers] >= u }); i >= 0 {
			k.best.Choice = k.all[i]
		}
	}
	var best []Timed
	for _, k := range d.kinds {
		best = append(best, k.best)
	}
	slices.SortStableFunc(best, func(a, b Timed) int {
		if math.Abs(a.Quantile-b.Quantile) > tie*b.Quantile {
			return compare(a.Quantile, b.Quantile)
		}
		return byTie(a.Choice, b.Choice)
	})
	return best, nil
}

func byTie(a, b Choice) int {
	if a.before(b.Policy) {
		return -1
	}
	if b.before(a.Policy) {
		return 1
	}
	return 0
}

type deadline struct {
	e     *Exact
	u     float64
	kinds []*kind
}

// kind are the policies of one number of clones and mode.
type kind struct {
	clones   int
	original Original
	all      []Choice  // in the order of ties
	within   []float64 // by stragglers: the probability that the job is done by a time
	best     Timed
}

func (d *deadline) enter(c Choice) {
	i := slices.IndexFunc(d.kinds, func(k *kind) bool { return k.clones == c.Clones && k.original == c.Original })
	if i < 0 {
		i = len(d.kinds)
		d.kinds = append(d.kinds, &kind{clones: c.Clones, original: c.Original, within: make([]float64, d.e.tasks+1)})
	}
	d.kinds[i].all = append(d.kinds[i].all, c)
}

// search makes a choice the best of its kind.
func (d *deadline) search(k *kind, c Choice) (err error) {
	k.best.Choice = c
	k.best.Quantile, err = d.e.LatencyQuantile(c.Policy, d.u)
	return err
}

// likeliest returns the choice that is likeliest to be done by the time of the last measure, if with probability u at
// least.
func (d *deadline) likeliest(k *kind) (best Choice, found bool) {
	highest := d.u
	for _, c := range k.all {
		if p := k.within[c.Stragglers]; p >= highest && c.Policy != k.best.Policy {
			best, found, highest = c, true, p
		}
	}
	return best, found
}

// measure fills the probabilities that a job is done by a time, for all policies of several kinds in one pass over the
// forks. The time is the best quantile of the kind, scaled.
func (d *deadline) measure(kinds []*kind, scale float64) {
	e := d.e
	lo, hi := e.tasks, 0
	for _, k := range kinds {
		clear(k.within)
		for _, c := range k.all {
			switch {
			case c.Baseline():
				k.within[c.Stragglers] = laws.Max(e.law, e.tasks).CDF(scale * k.best.Quantile)
			case c.Stragglers == e.tasks:
				k.within[c.Stragglers] = laws.Max(laws.Min(e.law, k.clones+1), e.tasks).CDF(scale * k.best.Quantile)
			default:
				lo, hi = min(lo, c.Stragglers), max(hi, c.Stragglers)
			}
		}
	}
	norm := make([]float64, e.tasks)
	logs := make([]float64, len(kinds)) // log P(the residual of a straggler is over)
	for i := range e.forks.len() {
		at := e.forks.time(i)
		alive := e.forks.alive(i)
		for j, k := range kinds {
			logs[j] = math.Log1p(-e.remains(Policy{Clones: k.clones, Original: k.original}, at, alive, scale*k.best.Quantile))
		}
		e.forks.weigh(i, lo, hi, func(unfinished int, weights []float64) {
			first := max(0, lo-unfinished)
			weights = weights[first:max(first, min(len(weights), hi-unfinished+1))]
			for s, w := range weights {
				norm[unfinished+first+s] += w
			}
			for j, k := range kinds {
				done := 1.0
				if unfinished > 0 {
					done = math.Exp(float64(unfinished) * logs[j])
				}
				if at > scale*k.best.Quantile || done == 0 {
					continue
				}
				into := k.within[unfinished+first:]
				for s, w := range weights {
					into[s] += w * done
				}
			}
		})
	}
	for _, k := range kinds {
		for s := lo; s <= hi && s < e.tasks; s++ {
			if norm[s] > 0 && !(Policy{s, k.clones, k.original}).Baseline() {
				k.within[s] /= norm[s]
			}
		}
	}
}
