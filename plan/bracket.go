package plan

import (
	"math"
	"sort"

	"github.com/tailcut/tailcut/laws"
)

// Bracket evaluates single forks and time-outs for a sample with more distinct values than can be summed over. It
// rounds every duration down, and up, to one of few values that the sample has, evaluates both samples exactly, and
// so bounds what the sample itself would give.
//
// Let a job of the sample, one of the durations rounded down and one of those rounded up draw the same uniform numbers.
// Rounding keeps the order of tasks, so that all three fork at the same task, at τ- <= τ <= τ+, and
//
//   - with the originals kept every task ends in that order, too: C- <= C <= C+. A task that rounding makes equal to
//     the fork ends with it, where it would have ended later (down) or not later (up). Of the machine time beyond the
//     fork, r+1 times Σ C-τ over the stragglers, the sums differ by at most E[τ+ - τ-] for each straggler.
//   - with the originals killed as many tasks or fewer are killed where durations are rounded down, because more are
//     equal to the fork, and as many or more if of the durations rounded up all stragglers are.
//
// All other terms grow with the durations, and so does all that a time-out does. So the bounds hold for every law, and
// are as near as the values are. A job that is done later has later quantiles, so that these are bounded alike.
type Bracket struct {
	law       *laws.Empirical
	low, high *Exact
	baseline  Outcome
	step      float64
}

// NewBracket rounds a sample to at most most >= 16 values: neighbours that differ by no more than a share of the larger
// or of the median, which is as small as the number allows.
func NewBracket(l *laws.Empirical, tasks, most int) (*Bracket, error) {
	if err := check(l, tasks); err != nil {
		return nil, err
	}
	b := &Bracket{law: l, baseline: Outcome{Latency: laws.Max(l, tasks).Mean(), Cost: l.Mean()}}
	down, up, step := bothWays(l, most)
	b.step = step
	var err error
	if b.low, err = NewExact(down, tasks); err != nil {
		return nil, err
	}
	b.high, err = NewExact(up, tasks)
	return b, err
}

// Step is by how much a duration is rounded at most, as a share of the duration or, if that is less, of the median.
func (b *Bracket) Step() float64 { return b.step }

// bothWays rounds a sample to the least and to the largest value of each cell.
func bothWays(l *laws.Empirical, most int) (down, up *laws.Empirical, step float64) {
	median := max(l.Quantile(0.5), math.SmallestNonzeroFloat64)
	value := func(i int) float64 { v, _, _ := l.Value(i); return v }
	d := l.Distinct()
	end := func(from int, step float64) int { // of the cell that begins there
		last := value(from) + step*max(value(from), median)
		return from + sort.Search(d-from, func(i int) bool { return value(from+i) > last })
	}
	fits := func(step float64) bool {
		n := 0
		for i := 0; i < d && n <= most; n++ {
			i = max(i+1, end(i, step))
		}
		return n <= most
	}
	lo, hi := 0.0, 1.0/16
	for !fits(hi) && hi < 1e300 {
		lo, hi = hi, 2*hi
	}
	for range 20 {
		if mid := (lo + hi) / 2; fits(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	var least, largest []float64
	var counts []int
	for i, before := 0, 0; i < d; {
		next := max(i+1, end(i, hi))
		_, _, upTo := l.Value(next - 1)
		least, largest, counts = append(least, value(i)), append(largest, value(next-1)), append(counts, upTo-before)
		i, before = next, upTo
	}
	return counted(least, counts), counted(largest, counts), hi
}

// counted is the law of values that come from one.
func counted(values []float64, counts []int) *laws.Empirical {
	l, err := laws.NewEmpiricalCounts(values, counts)
	if err != nil {
		panic("plan: values of a sample: " + err.Error())
	}
	return l
}

// Evaluate returns the middle between the bounds; of the baseline the figures of the sample. The error is [ErrMethod]
// of rules that are no single fork and no [Timeout].
func (b *Bracket) Evaluate(r Rule) (Outcome, error) {
	low, high, err := b.Bounds(r)
	if err != nil {
		return Outcome{}, err
	}
	return Between(low, high), nil
}

// Between is the middle between two bounds.
func Between(low, high Outcome) Outcome {
	return Outcome{Latency: middling(low.Latency, high.Latency), Cost: middling(low.Cost, high.Cost)}
}

// middling is the middle of two figures, of which both may be infinite.
func middling(low, high float64) float64 {
	if low == high || math.IsInf(low, 1) {
		return low
	}
	return low + (high-low)/2
}

// Assess returns the middles between the bounds, and with them the bounds of the quantile. The probability u is between
// 0 and 1, or 0 for none. The standard deviations, of which no bounds are known, are NaN. The error is that of
// Evaluate.
func (b *Bracket) Assess(r Rule, u float64) (Assessment, error) {
	a := Assessment{Exact: true, LatencyDeviation: math.NaN(), CostDeviation: math.NaN(),
		Quantile: math.NaN(), QuantileLow: math.NaN(), QuantileHigh: math.NaN()}
	if err := checkQuantile(u); err != nil {
		return a, err
	}
	var err error
	if a.Outcome, err = b.Evaluate(r); err != nil || u == 0 {
		return a, err
	}
	a.QuantileLow, a.QuantileHigh, err = b.QuantileBounds(r, u)
	a.Quantile = middling(a.QuantileLow, a.QuantileHigh)
	return a, err
}

// Bounds returns figures between which those of the sample lie, of the baseline these themselves. The error is that of
// Evaluate.
func (b *Bracket) Bounds(r Rule) (low, high Outcome, err error) {
	if t, ok := r.(Timeout); ok {
		if low, err = b.low.Evaluate(t); err != nil {
			return low, high, err
		}
		high, err = b.high.Evaluate(t)
		return low, high, err
	}
	p, err := single(r, b.low.tasks)
	if err != nil {
		return low, high, err
	}
	if p.Baseline() {
		return b.baseline, b.baseline, nil
	}
	l, h := b.low.terms(p), b.high.terms(p)
	n, s := float64(b.low.tasks), float64(p.Stragglers)
	share := float64(p.Clones+1) / n
	low.Latency, high.Latency = l.fork+l.largest, h.fork+h.largest
	low.Cost, high.Cost = l.first+share*l.sum, h.first+share*h.sum
	switch {
	case p.Stragglers == b.low.tasks: // the fork is at the start
	case p.Original == Keep:
		apart := s * (h.fork - l.fork)
		low.Cost = l.first + share*max(0, l.sum-apart)
		high.Cost = h.first + share*(h.sum+apart)
	default:
		high.Latency = h.fork + h.fresh
		high.Cost = h.first + share*s*h.freshMean
	}
	return low, high, nil
}

// QuantileBounds returns times between which the u-quantile of the latency is, seconds, for 0 < u < 1; of the baseline
// that of the sample twice. The error is that of Evaluate.
func (b *Bracket) QuantileBounds(r Rule, u float64) (low, high float64, err error) {
	if t, ok := r.(Timeout); ok {
		if err := t.Validate(b.low.tasks); err != nil {
			return 0, 0, err
		}
		return t.schedule(b.low.law).latencyQuantile(b.low.tasks, u), t.schedule(b.high.law).latencyQuantile(b.low.tasks, u), nil
	}
	p, err := single(r, b.low.tasks)
	if err != nil {
		return 0, 0, err
	}
	if p.Baseline() {
		at := laws.Max(b.law, b.low.tasks).Quantile(u)
		return at, at, nil
	}
	if low, err = b.low.LatencyQuantile(p, u); err != nil {
		return 0, 0, err
	}
	if p.Original == Keep || p.Stragglers == b.low.tasks {
		high, err = b.high.LatencyQuantile(p, u)
		return low, high, err
	}
	o := b.high.occasions(p)
	for i := range o.all { // all stragglers are killed, whatever is equal to the fork
		o.all[i].unfinished = p.Stragglers
	}
	return low, o.quantile(p, u), nil
}

// terms are what the figures of a policy are made of.
type terms struct {
	fork         float64 // E[τ]
	first        float64 // machine time until then, per task
	largest, sum float64 // E[max] and E[Σ] of what is left of the unfinished tasks
	// of fresh attempts for all stragglers, r+1 each, whatever is equal to the fork: E[max], and E of one; where the
	// originals are killed
	fresh, freshMean float64
}

// terms evaluates a policy that is not the baseline.
func (e *Exact) terms(p Policy) terms {
	r := e.newSpan(p.Stragglers, p.Stragglers, p.Clones, p.Clones, p.Original == Keep, p.Original == Kill)
	return r.terms(r.run(0, e.forks.len(), 1), p)
}
