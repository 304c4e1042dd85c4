package plan

import (
	"fmt"
	"math"

	"github.com/tailcut/tailcut/laws"
)

// forks are the times at which a job may fork and what follows, of a law that is all atoms or of a continuous one.
//
// The integrals of the finite-n theory all have one shape. Given that the fork is at the i-th time t and leaves s'
// tasks unfinished, their residuals are independent, and
//
//	E[T | i, s'] = t + ∫ 1-(1-S(y))^s' dy    with S(y) = old(y) fresh(y)^r (keep) or fresh(y)^(r+1) (kill)
//	E[residuals | i, s'] = s' ∫ S(y) dy
//
// where old is the survival of what is left of an original and fresh that of a new attempt. A law of atoms makes the
// integrals finite sums and the fork a finite choice; a continuous one is given nodes and weights of quadrature.
type forks interface {
	// len is the number of fork times.
	len() int
	// time is the i-th fork time t, seconds.
	time(i int) float64
	// alive returns the share of the law that runs on beyond the i-th fork.
	alive(i int) float64
	// weigh tells which policies fork at the i-th time: for every number s' of tasks then unfinished, weights[δ] is the
	// probability, under the policy with s = s'+δ stragglers, that it forks then and leaves s'. It keeps to lo <= s <=
	// hi. The weights are the caller's until it returns.
	weigh(i, lo, hi int, visit func(unfinished int, weights []float64))
	// residuals lists the steps of y from 0 on: its middle, its width, old(y), fresh(y).
	residuals(i int, step func(y, width, old, fresh float64))
	// lives lists the steps of y from 0 on for fresh attempts alone: middle, width, fresh(y).
	lives(step func(y, width, fresh float64))
	// before returns mean and variance of a duration given that it is less than the i-th fork time.
	before(i int) spread
	// done returns E[b] and E[b²] of the number b of durations less than the i-th fork time, given that s = stragglers
	// forks there and leaves so many tasks unfinished.
	done(i, unfinished, stragglers int) (first, second float64)
	// orders returns E[X_{k:n}] for k = 1..n, at index k; index 0 is the start of the job, 0.
	orders() []float64
}

// Exact evaluates the finite-n expectations without asymptotics and without dice.
//
// For a law of atoms, such as a sample, it is exact resampling: n values drawn from the law, a fork at the k-th
// smallest, tasks equal to it finished. All is a finite sum, good to about 1e-12 relative. For a continuous law it is
// quadrature over the time of the fork and over the residual, good to about 1e-9 relative where the law's density is
// smooth on its support; where the mean of the latency barely exists the error grows.
//
// An Exact does not change after its making; any number of goroutines may use it.
type Exact struct {
	law    laws.Law
	tasks  int
	forks  forks
	orders []float64 // [k] E[X_{k:n}]
	upTo   []float64 // [k] E[X_{1:n}] + … + E[X_{k:n}]
}

// NewExact returns the evaluator of a job of that many tasks whose attempts last as l says, in seconds. It is an error
// if l has negative values, or is neither continuous nor all atoms.
func NewExact(l laws.Law, tasks int) (*Exact, error) {
	if err := check(l, tasks); err != nil {
		return nil, err
	}
	e := &Exact{law: l, tasks: tasks}
	if atoms := laws.Atoms(l); atoms != nil {
		e.forks = &discrete{atoms: atoms, tasks: tasks}
		e.order()
		return e, nil
	}
	if d, ok := l.(laws.Density); !ok || math.IsNaN(d.LogPDF(l.Quantile(0.5))) {
		return nil, fmt.Errorf("%s has both atoms and a density; evaluate it by simulation", l)
	}
	e.forks = newContinuous(l, tasks)
	e.order()
	return e, nil
}

// order fills the means of the order statistics and their sums.
func (e *Exact) order() {
	e.orders = e.forks.orders()
	e.upTo = make([]float64, len(e.orders))
	for k := 1; k < len(e.orders); k++ {
		e.upTo[k] = e.upTo[k-1] + e.orders[k]
	}
}

// Tasks returns n.
func (e *Exact) Tasks() int { return e.tasks }

// Law returns the law of one attempt.
func (e *Exact) Law() laws.Law { return e.law }

// Evaluate returns E[T] and E[C] of a [Policy] and of a [Timeout], exactly; of other rules the error is [ErrMethod].
func (e *Exact) Evaluate(rule Rule) (Outcome, error) {
	if t, ok := rule.(Timeout); ok {
		if err := t.Validate(e.tasks); err != nil {
			return Outcome{}, err
		}
		return t.schedule(e.law).outcome(e.tasks), nil
	}
	p, err := single(rule, e.tasks)
	if err != nil {
		return Outcome{}, err
	}
	if p.Baseline() {
		return e.baseline(), nil
	}
	r := e.newSpan(p.Stragglers, p.Stragglers, p.Clones, p.Clones, p.Original == Keep, p.Original == Kill)
	part := r.run(0, e.forks.len(), 1)
	return r.outcome(part, p), nil
}

// baseline is E[X_{n:n}] and E[X].
func (e *Exact) baseline() Outcome {
	return Outcome{Latency: e.orders[e.tasks], Cost: e.law.Mean()}
}

// span is a rectangle of the grid, with what all its forks share.
type span struct {
	e         *Exact
	rLo, rHi  int         // clones
	forkLo    int         // the stragglers of the span that fork after the start, s < n:
	forkHi    int         // forkLo..forkHi, empty if forkLo > forkHi
	keepFrom  int         // the least r with a keep policy that is not the baseline
	keeps     int         // the number of such r, 0 if the span has none that keep
	kill      bool        // whether it has policies that kill
	fresh     [][]float64 // [r-rLo][s-freshFrom] the mean of the largest of s minima of r+1 fresh attempts
	freshFrom int
	freshMean []float64 // [r-rLo] the mean of the minimum of r+1
	finite    []bool    // [r-rLo] whether that mean exists; if not, neither do latency and cost
}

// newSpan prepares the policies s in [sLo, sHi] and r in [rLo, rHi] that keep, that kill, or both.
func (e *Exact) newSpan(sLo, sHi, rLo, rHi int, keep, kill bool) *span {
	r := &span{e: e, rLo: rLo, rHi: rHi, kill: kill, forkLo: sLo, forkHi: min(sHi, e.tasks-1), keepFrom: max(1, rLo)}
	if keep {
		r.keeps = max(0, rHi-r.keepFrom+1)
	}
	for c := rLo; c <= rHi; c++ {
		r.finite = append(r.finite, !math.IsInf(laws.Min(e.law, c+1).Mean(), 1))
	}
	switch {
	case kill:
		r.prepareFresh(1, sHi)
	case sHi == e.tasks: // only a fork at the start asks
		r.prepareFresh(sHi, sHi)
	}
	return r
}

// prepareFresh fills the table of fresh attempts, which depends on no fork, for s from sLo to sHi.
func (r *span) prepareFresh(sLo, sHi int) {
	r.freshFrom = sLo
	all := make([]maxima, r.rHi-r.rLo+1)
	r.freshMean = make([]float64, len(all))
	for c := range all {
		all[c].reset(sLo, sHi)
	}
	r.e.forks.lives(func(_, width, fresh float64) {
		S := power(fresh, r.rLo+1)
		for c := range all {
			all[c].add(width, S)
			r.freshMean[c] += width * S
			S *= fresh
		}
	})
	for c := range all {
		table := make([]float64, sHi-sLo+1)
		for i := range table {
			table[i] = all[c].at(sLo + i)
		}
		r.fresh = append(r.fresh, table)
	}
}

// sums are Σ over forks of weight times something, by stragglers s.
type sums struct {
	norm []float64 // 1
	keep []pair    // by clones from keepFrom, then by s
	kill []pair    // by clones from rLo, then by s
}

// pair holds the largest residual and the sum of the residuals.
type pair struct{ largest, sum float64 }

// run sums over the forks from, from+stride, … below to. Forks may be dealt to several runs and the runs added.
func (r *span) run(from, to, stride int) *sums {
	width := max(0, r.forkHi-r.forkLo+1)
	out := &sums{norm: make([]float64, width), keep: make([]pair, width*r.keeps)}
	if r.kill {
		out.kill = make([]pair, width*(r.rHi-r.rLo+1))
	}
	if width == 0 {
		return out
	}
	old := &residuals{span: r, sums: make([]maxima, r.keeps), mean: make([]float64, r.keeps)}
	for i := from; i < to; i += stride {
		r.add(i, out, old)
	}
	return out
}

// add adds one fork.
func (r *span) add(i int, out *sums, old *residuals) {
	old.clear()
	r.e.forks.weigh(i, r.forkLo, r.forkHi, old.note)
	if len(old.rows) == 0 {
		return
	}
	if r.keeps > 0 {
		old.fill(i)
	}
	width := len(out.norm)
	for _, row := range old.rows {
		at := row.unfinished + row.skip - r.forkLo
		for d, w := range row.weights {
			out.norm[at+d] += w
		}
		n := float64(row.unfinished)
		for c := range old.sums {
			largest, mean := old.sums[c].at(row.unfinished), n*old.mean[c]
			into := out.keep[c*width+at:]
			for d, w := range row.weights {
				into[d].largest += w * largest
				into[d].sum += w * mean
			}
		}
		for c := range len(out.kill) / width {
			largest, mean := 0.0, n*r.freshMean[c]
			if row.unfinished >= r.freshFrom {
				largest = r.fresh[c][row.unfinished-r.freshFrom]
			}
			into := out.kill[c*width+at:]
			for d, w := range row.weights {
				into[d].largest += w * largest
				into[d].sum += w * mean
			}
		}
	}
}

// residuals is what add needs of one fork: the rows of weights, and the sums over the residuals of kept originals.
type residuals struct {
	span   *span
	rows   []row
	blocks [][]float64 // that the rows' weights are in; a few samples and many tasks have 10^8 of them
	filled int         // blocks before it are full
	sums   []maxima    // by clones from keepFrom
	mean   []float64   // ∫S, by clones from keepFrom
}

// row is a run of weights for a number of unfinished tasks: those of s = unfinished+skip and up.
type row struct {
	unfinished, skip int
	weights          []float64
}

// blockWeights is how many weights get their memory at once, at least. One slice that grows would be copied again and
// again, a copy of a second at a time, which nothing can interrupt.
const blockWeights = 1 << 16

func (x *residuals) clear() {
	x.rows, x.filled = x.rows[:0], 0
	for i := range x.blocks {
		x.blocks[i] = x.blocks[i][:0]
	}
}

// keep copies weights into a block.
func (x *residuals) keep(weights []float64) []float64 {
	for ; x.filled < len(x.blocks); x.filled++ {
		if b := x.blocks[x.filled]; cap(b)-len(b) >= len(weights) {
			break
		}
	}
	if x.filled == len(x.blocks) {
		x.blocks = append(x.blocks, make([]float64, 0, max(blockWeights, len(weights))))
	}
	b := &x.blocks[x.filled]
	from := len(*b)
	*b = append(*b, weights...)
	return (*b)[from:]
}

// note keeps the weights of the policies of the span.
func (x *residuals) note(unfinished int, weights []float64) {
	skip := max(0, x.span.forkLo-unfinished)
	end := min(len(weights), x.span.forkHi-unfinished+1)
	if skip >= end {
		return
	}
	x.rows = append(x.rows, row{unfinished, skip, x.keep(weights[skip:end])})
}

// fill sums over the steps of the residual at the i-th fork.
func (x *residuals) fill(i int) {
	lo, hi := x.rows[0].unfinished, x.rows[0].unfinished
	for _, row := range x.rows {
		lo, hi = min(lo, row.unfinished), max(hi, row.unfinished)
	}
	for c := range x.sums {
		x.sums[c].reset(lo, hi)
		x.mean[c] = 0
	}
	x.span.e.forks.residuals(i, func(_, width, old, fresh float64) {
		S := old * power(fresh, x.span.keepFrom)
		for c := range x.sums {
			x.sums[c].add(width, S)
			x.mean[c] += width * S
			S *= fresh
		}
	})
}

// outcome turns the sums of all forks into E[T] and E[C] of a policy of the span that is not the baseline.
func (r *span) outcome(all *sums, p Policy) Outcome {
	if !r.finite[p.Clones-r.rLo] {
		return Outcome{Latency: math.Inf(1), Cost: math.Inf(1)}
	}
	t := r.terms(all, p)
	return Outcome{Latency: t.fork + t.largest, Cost: t.first + float64(p.Clones+1)/float64(r.e.tasks)*t.sum}
}

// terms returns what the figures of a policy are made of.
func (r *span) terms(all *sums, p Policy) terms {
	n, s, c := r.e.tasks, p.Stragglers, p.Clones-r.rLo
	if s == n { // the fork is at the start: keep and kill are the same
		return terms{largest: r.fresh[c][n-r.freshFrom], sum: float64(n) * r.freshMean[c]}
	}
	at, width := s-r.forkLo, len(all.norm)
	t := terms{fork: r.e.orders[n-s]}
	t.first = (r.e.upTo[n-s] + float64(s)*t.fork) / float64(n)
	var x pair
	if p.Original == Keep {
		x = all.keep[(p.Clones-r.keepFrom)*width+at]
	} else {
		x = all.kill[c*width+at]
		t.fresh, t.freshMean = r.fresh[c][s-r.freshFrom], r.freshMean[c]
	}
	t.largest, t.sum = x.largest/all.norm[at], x.sum/all.norm[at]
	return t
}
