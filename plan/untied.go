package plan

import (
	"fmt"

	"github.com/tailcut/tailcut/laws"
)

// untied are the forks of a sample without ties of which only a rounded version is at hand: tasks whose durations were
// rounded to the same value end in an order, and half of the value's mass is before the fork among them. So the fork
// leaves as many tasks as there are stragglers, which [discrete] must sum over, and a grid takes the square root of the
// time. It is for searching; what is found is evaluated between bounds by [Bracket].
type untied struct{ *discrete }

// untiedTail is where the tails of binomial laws are cut: far below what rounding the sample does to them.
const untiedTail = 1e-12

// NewNear returns an evaluator of a job whose attempts last as a sample without ties does that l is a rounded version
// of, in seconds. It is good to about the rounding squared, with no bound. It is an error if l has negative values or
// is not all atoms.
func NewNear(l laws.Law, tasks int) (*Exact, error) {
	if err := check(l, tasks); err != nil {
		return nil, err
	}
	atoms := laws.Atoms(l)
	if atoms == nil {
		return nil, fmt.Errorf("%s is no sample", l)
	}
	e := &Exact{law: l, tasks: tasks, forks: untied{&discrete{atoms: atoms, tasks: tasks}}}
	e.order()
	return e, nil
}

// alive counts half of the tasks that were rounded to the time of the fork as running.
func (u untied) alive(i int) float64 { return u.atoms[i].Survival + u.atoms[i].Mass/2 }

// weigh visits every s = unfinished with the probability that the fork has the i-th value: that at most s durations are
// above it, and more than s above the value before.
func (u untied) weigh(i, lo, hi int, visit func(unfinished int, weights []float64)) {
	if u.far(i, lo, hi) {
		return
	}
	a := u.atoms[i]
	above := binomial(u.tasks, a.Survival, a.CDF, untiedTail, nil)
	before := band{lo: u.tasks, pmf: []float64{1}}
	if i > 0 {
		b := u.atoms[i-1]
		before = binomial(u.tasks, b.Survival, b.CDF, untiedTail, nil)
	}
	weight := make([]float64, 1)
	var upTo, upToBefore float64
	for s := above.lo; s <= min(before.hi()-1, hi); s++ {
		if at := s - above.lo; at < len(above.pmf) {
			upTo += above.pmf[at]
		}
		if at := s - before.lo; at >= 0 {
			upToBefore += before.pmf[at]
		}
		if weight[0] = upTo - upToBefore; s >= lo && weight[0] > 0 {
			visit(s, weight)
		}
	}
}

func (u untied) residuals(i int, step func(y, width, old, fresh float64)) {
	u.left(i, u.alive(i), step)
}
