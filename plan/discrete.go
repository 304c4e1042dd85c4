package plan

import (
	"math"

	"github.com/tailcut/tailcut/laws"
)

// discrete are the forks of a law that is all atoms, rule B of exact resampling: n values drawn from the law, the fork
// at their k-th smallest v_j, every task equal to v_j finished. With G_j = P(X <= v_j), of the n tasks
//
//	s' ~ Bin(n, 1-G_j) are still running once v_j has passed, and, given s',
//	e  ~ Bin(n-s', P(X = v_j)/G_j) of the others are equal to v_j,
//
// and the k-th smallest is v_j if and only if e > s-s' >= 0.
type discrete struct {
	atoms []laws.Atom
	tasks int
}

func (d *discrete) len() int           { return len(d.atoms) }
func (d *discrete) time(i int) float64 { return d.atoms[i].Value }

func (d *discrete) alive(i int) float64 { return d.atoms[i].Survival }

// nothing is the probability of a fork that is left out: those of one policy are 1 together, and a million left out
// with residuals a million times as long as the others are still less than a float's digits tell.
const nothing = 1e-28

func (d *discrete) weigh(i, lo, hi int, visit func(unfinished int, weights []float64)) {
	a := d.atoms[i]
	if d.far(i, lo, hi) {
		return
	}
	above := binomial(d.tasks, a.Survival, a.CDF, negligible, nil)
	share, rest := a.Mass/a.CDF, 0.0
	if i > 0 {
		rest = d.atoms[i-1].CDF / a.CDF
	}
	var buffer, weights []float64
	for x := above.lo; x <= min(above.hi(), hi); x++ {
		if m := float64(d.tasks-x) * share; float64(x)+m+reach(m*rest) < float64(lo) {
			continue // too few are
		}
		equal := binomial(d.tasks-x, share, rest, negligible, buffer)
		buffer = equal.pmf
		if x+equal.hi()-1 < lo {
			continue
		}
		equal.tail()
		weight := above.pmf[x-above.lo]
		// equal.pmf[δ-equal.lo] is now P(e > δ), and 1 for every δ below equal.lo.
		weights = weights[:0]
		for range equal.lo {
			weights = append(weights, weight)
		}
		for _, p := range equal.pmf[:len(equal.pmf)-1] {
			weights = append(weights, weight*p)
		}
		for len(weights) > 0 && weights[len(weights)-1] < nothing { // they fall
			weights = weights[:len(weights)-1]
		}
		if x+len(weights) > lo {
			visit(x, weights)
		}
	}
}

// far tells that no job comes so far from the mean that it has lo to hi stragglers at the i-th atom.
func (d *discrete) far(i, lo, hi int) bool {
	n, a := float64(d.tasks), d.atoms[i]
	if n*a.Survival-reach(n*a.Survival*a.CDF) > float64(hi) {
		return true // too many are left
	}
	if i == 0 {
		return false
	}
	b := d.atoms[i-1]
	return n*b.Survival+reach(n*b.Survival*b.CDF) < float64(lo) // too few were left before
}

// reach is how far from its mean a binomial number of that variance comes with a probability of 1e-20 or more: by
// Bernstein's inequality P(|X-μ| > t) <= 2 exp(-t²/(2(σ²+t/3))).
func reach(variance float64) float64 { return 32 + 10*math.Sqrt(variance) }

// residuals merges the steps of what is left of an original, at v_m - v_i, with those of a fresh attempt, at v_m.
func (d *discrete) residuals(i int, step func(y, width, old, fresh float64)) {
	if left := d.alive(i); left > 0 {
		d.left(i, left, step)
	}
}

// left lists the steps of residuals where a share left > 0 of the law runs on beyond the i-th fork, of which some may
// end at once.
func (d *discrete) left(i int, left float64, step func(y, width, old, fresh float64)) {
	t := d.atoms[i].Value
	old, fresh := d.atoms[i].Survival/left, 1.0
	y, m, f := 0.0, i+1, 0
	for m < len(d.atoms) {
		ends, freshEnds := d.atoms[m].Value-t, d.atoms[f].Value
		next := min(ends, freshEnds)
		if next > y {
			step(y+(next-y)/2, next-y, old, fresh)
			y = next
		}
		if ends <= next {
			old = d.atoms[m].Survival / left
			m++
		}
		if freshEnds <= next {
			fresh = d.atoms[f].Survival
			f++
		}
	}
}

func (d *discrete) lives(step func(y, width, fresh float64)) {
	fresh, y := 1.0, 0.0
	for _, a := range d.atoms {
		if a.Value > y {
			step(y+(a.Value-y)/2, a.Value-y, fresh)
			y = a.Value
		}
		fresh = a.Survival
	}
}

// orders sums E[X_{k:n}] = v_1 + Σ (v_{j+1}-v_j) P(Bin(n, G_j) < k): within the band of the binomial term by term, and
// beyond it, where the probability is 1, by a running sum.
func (d *discrete) orders() []float64 {
	out := make([]float64, d.tasks+1)
	beyond := make([]float64, d.tasks+2)
	var buffer []float64
	for i, a := range d.atoms[:len(d.atoms)-1] {
		gap := d.atoms[i+1].Value - a.Value
		upTo := binomial(d.tasks, a.CDF, a.Survival, negligible, buffer)
		buffer = upTo.pmf
		var below float64
		for x, p := range upTo.pmf {
			below += p
			if k := upTo.lo + x + 1; k <= d.tasks {
				out[k] += gap * below
			}
		}
		beyond[min(upTo.hi()+2, d.tasks+1)] += gap
	}
	sum := d.atoms[0].Value
	for k := 1; k <= d.tasks; k++ {
		sum += beyond[k]
		out[k] += sum
	}
	return out
}
