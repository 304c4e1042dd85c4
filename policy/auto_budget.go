package policy

import (
	"math"

	"github.com/tailcut/tailcut/sched"
)

// Bounds are the budget. Where slots are idle, a tenth of the tasks that run is too little for many stragglers at once.
func (p *auto) Bounds() sched.Bounds { return sched.Bounds{Clones: p.budget} }

// betterBy is how many times as much as an attempt a clone is worth that takes its place in the budget: looks differ.
const betterBy = 10

// instead returns what an attempt has to be worth so that no clone takes its place in the budget.
func (p *auto) instead(v *sched.View) float64 {
	st, w := p.wanted(v)
	if w == nil || !st.says {
		return 0
	}
	if _, ok := p.order.Elsewhere(v, w.task); !ok {
		return 0
	}
	return min(w.bid, math.MaxFloat64) / betterBy
}

// known tells whether enough is known of an attempt for a clone to take its place in the budget. Ages alone say too
// little: its stage has to report, and if it is no clone, another attempt of its task has to be quicker by report.
func (p *auto) known(v *sched.View, a sched.AttemptID) bool {
	return p.stages.Of(v.Task(v.Rows().TaskOf(a)).Stage).says && (v.Attempt(a).Clone || p.overtaken(v, a))
}

// overtaken tells whether another attempt of its task will be done before an attempt, by what both have reported.
func (p *auto) overtaken(v *sched.View, a sched.AttemptID) bool {
	ends := func(x sched.AttemptID) (sched.Time, bool) {
		row := v.Attempt(x)
		left, _, ok := p.trust.filter.left(x, &row)
		return row.ProgressAt + sched.FromSeconds(left), ok
	}
	own, told := ends(a)
	for x, ok := v.FirstAttempt(v.Rows().TaskOf(a)); ok && told; x, ok = v.NextAttempt(x) {
		if end, ok := ends(x); ok && end < own {
			return true
		}
	}
	return false
}
