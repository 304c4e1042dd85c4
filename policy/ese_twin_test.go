package policy

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// eseTwin has the three steps at the top of ese.go, with everything counted anew in each slot of time. The law of durations is that of the policy, which has tests of its own.
type eseTwin struct {
	naive
	kit.Clock
	sigma, eta, xi, gamma float64
	copies                int

	begun        map[sched.StageID]bool // stages of which a task has been launched
	total, count float64                // durations of all winners, seconds
}

func newESETwin(slot sched.Time, sigma, eta, xi, gamma float64, copies int) *eseTwin {
	return &eseTwin{
		naive: newNaive(false), Clock: kit.Clock{Slot: slot}, sigma: sigma, eta: eta, xi: xi, gamma: gamma, copies: copies, begun: map[sched.StageID]bool{},
	}
}

func TestESETwin(t *testing.T) {
	checkTwins(t, func(t *rapid.T) (string, sched.Policy) {
		x := newESETwin(
			sched.Time(rapid.IntRange(0, 2).Draw(t, "slot"))*sched.Second, rapid.SampledFrom([]float64{0, 0.2, 1.5}).Draw(t, "sigma"),
			rapid.SampledFrom([]float64{0.1, 1, 10}).Draw(t, "eta"), rapid.SampledFrom([]float64{0, 1, 5}).Draw(t, "xi"),
			rapid.SampledFrom([]float64{0, 0.01, 0.3}).Draw(t, "gamma"), rapid.IntRange(1, 5).Draw(t, "copies"),
		)
		return fmt.Sprintf("ese:sigma=%g,eta=%g,xi=%g,gamma=%g,copies=%d,slot=%v", x.sigma, x.eta, x.xi, x.gamma, x.copies, x.Slot), x
	})
}

func (p *eseTwin) Observe(v *sched.View, ev *sched.Event) {
	p.naive.Observe(v, ev)
	if ev.Kind == sched.AttemptDone {
		a := v.Attempt(ev.Attempt)
		if 1-a.From >= 1./64 {
			p.total += (v.Now() - a.Started).Seconds() / (1 - a.From)
			p.count++
		}
	}
}

func (p *eseTwin) Decide(v *sched.View, act *sched.Actions) {
	p.look(v, act)
	if !p.Begins(v, act) {
		return
	}
	p.late(v, act)
	var begun, fresh []sched.StageID
	for _, s := range p.stages(v) {
		switch st := v.Stage(s); {
		case st.Pending == 0:
		case p.begun[s]:
			begun = append(begun, s)
		default:
			fresh = append(fresh, s)
		}
	}
	slices.SortStableFunc(begun, func(a, b sched.StageID) int { return cmp.Compare(p.workload(v, a), p.workload(v, b)) })
	for _, s := range begun {
		p.first(v, act, s)
	}
	order := map[sched.StageID]float64{}
	for _, s := range fresh {
		order[s] = float64(v.Stage(s).Pending) * p.mean(v, s)
	}
	slices.SortStableFunc(fresh, func(a, b sched.StageID) int { return cmp.Compare(order[a], order[b]) })
	free := v.FreeSlots()
	for _, s := range fresh {
		m := int(v.Stage(s).Pending)
		small := float64(m) < p.eta*float64(free)/float64(len(fresh)) && (p.count == 0 || order[s]/float64(m) < p.xi*p.total/p.count)
		c := 1
		if small {
			c = p.best(v, s, m)
		}
		p.first(v, act, s)
		for n := 1; n < c && m <= v.CloneRoom() && v.AttemptRoom(p.running(v, s)[0]) > 0; n++ {
			for _, t := range p.running(v, s) {
				p.clone(v, act, t, sched.Cloning)
			}
		}
	}
}

// late gives tasks with t_rem > sigma E[x] their second attempt.
func (p *eseTwin) late(v *sched.View, act *sched.Actions) {
	var late []eseLate
	for _, s := range p.stages(v) {
		st := v.Stage(s)
		mean, sd, ok := st.Estimate()
		sigma := p.sigma
		if sigma == 0 && ok {
			sigma = kit.FitPareto(mean, sd).StragglerAge()
		}
		for _, t := range p.running(v, s) {
			if end, known := p.end(v, t); ok && known && v.Task(t).Live == 1 && v.AttemptRoom(t) > 0 && end-v.Now() > sched.FromSeconds(sigma*mean) {
				late = append(late, eseLate{end - v.Now(), t})
			}
		}
	}
	slices.SortFunc(late, func(a, b eseLate) int { return cmp.Or(cmp.Compare(b.left, a.left), cmp.Compare(a.task, b.task)) })
	for _, x := range late {
		if v.CloneRoom() > 0 {
			p.clone(v, act, x.task, sched.Straggling)
		}
	}
}

// first gives the waiting tasks of a stage an attempt each while slots are free.
func (p *eseTwin) first(v *sched.View, act *sched.Actions, s sched.StageID) {
	for t := range sched.TaskID(v.Rows().Tasks()) {
		if v.Task(t).Stage == s && v.Task(t).State == sched.TaskPending && v.FreeSlots() > 0 {
			p.start(v, act, t)
			p.begun[s] = true
		}
	}
}

func (p *eseTwin) mean(v *sched.View, s sched.StageID) float64 {
	st := v.Stage(s)
	if mean, _, ok := st.Estimate(); ok {
		return mean
	}
	return 1
}

// workload returns the unfinished work of the job of a stage.
func (p *eseTwin) workload(v *sched.View, s sched.StageID) (work float64) {
	for x := range sched.StageID(v.Rows().Stages()) {
		if st := v.Stage(x); st.Job == v.Stage(s).Job {
			work += float64(st.Unfinished()) * p.mean(v, x)
		}
	}
	return work
}

// best returns the number of attempts with the least cost for a stage of m tasks that has all free slots.
func (p *eseTwin) best(v *sched.View, s sched.StageID, m int) int {
	st := v.Stage(s)
	mean, sd, ok := st.Estimate()
	if !ok {
		mean, sd = 1, 0
	}
	law, c := kit.FitPareto(mean, sd), 1
	for c < p.copies && (c+1)*m <= v.FreeSlots() && law.Cost(c+1, m, p.gamma) < law.Cost(c, m, p.gamma) {
		c++
	}
	return c
}
