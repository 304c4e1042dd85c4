package policy

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// dollyTwin has the rules at the top of dolly.go. It counts the budget in use, and who straggled, anew whenever it asks.
type dollyTwin struct {
	naive
	under     *mantriTwin // nil for none
	stagewise bool
	p         float64 // 0 to learn
	epsilon   float64
	budget    float64
	threshold float64

	arrived []dollyUnit
	tried   map[sched.StageID]bool
	copies  map[sched.StageID]int
	lasted  map[sched.StageID][]float64 // of tasks whose stragglers no clone hid
	over    []sched.StageID             // stages that have ended, in order
}

func drawDolly(t *rapid.T) (string, sched.Policy) {
	x := &dollyTwin{
		naive: newNaive(rapid.Bool().Draw(t, "fair")), stagewise: rapid.Bool().Draw(t, "stagewise"), p: rapid.SampledFrom([]float64{0, 0.1, 0.4}).Draw(t, "p"),
		epsilon: rapid.SampledFrom([]float64{0.01, 0.05, 0.4}).Draw(t, "epsilon"), budget: rapid.SampledFrom([]float64{0, 0.05, 0.3, 1}).Draw(t, "budget"),
		threshold: rapid.SampledFrom([]float64{0.5, 0.8, 1}).Draw(t, "threshold"),
		tried:     map[sched.StageID]bool{}, copies: map[sched.StageID]int{}, lasted: map[sched.StageID][]float64{},
	}
	spec := fmt.Sprintf("dolly:p=%g,epsilon=%g,budget=%g,threshold=%g", x.p, x.epsilon, x.budget, x.threshold)
	if x.stagewise {
		spec += ",whole=stage"
	}
	if x.fair {
		spec += ",order=fair"
	}
	if !rapid.Bool().Draw(t, "mantri") {
		return spec + ",under=none", x
	}
	x.under = &mantriTwin{naive: newNaive(x.fair), delta: 0.25, rho: 3, period: 10 * sched.Second, byRho: true, restarts: 3, copies: 3, tries: map[sched.TaskID]int{}, lead: x}
	x.under.tnew = "all"
	return spec + ",under=mantri", x
}

// Bounds let default limits follow the budget, as they do for the policy.
func (p *dollyTwin) Bounds() sched.Bounds {
	return sched.Bounds{Attempts: sched.Unlimited, Clones: p.budget}
}

func (p *dollyTwin) Observe(v *sched.View, ev *sched.Event) {
	if p.naive.Observe(v, ev); p.under != nil {
		p.under.Observe(v, ev)
	}
	switch ev.Kind {
	case sched.JobArrived:
		if job := v.Job(ev.Job); !p.stagewise {
			p.arrived = append(p.arrived, dollyUnit{ev.Job, job.FirstStage, job.FirstStage + sched.StageID(job.Stages), job.Tasks})
		}
	case sched.StageReady, sched.TaskReady:
		if st := v.Stage(ev.Stage); p.stagewise && st.Pending > 0 && !p.tried[ev.Stage] {
			p.tried[ev.Stage] = true
			p.arrived = append(p.arrived, dollyUnit{ev.Job, ev.Stage, ev.Stage + 1, st.Tasks - st.Done})
		}
	case sched.AttemptDone:
		p.measure(v, ev)
	case sched.StageDone:
		p.over = append(p.over, ev.Stage)
	}
}

func (p *dollyTwin) measure(v *sched.View, ev *sched.Event) {
	began := v.Attempt(ev.Attempt).Started
	for _, a := range p.attempts(v, ev.Task) {
		began = min(began, v.Attempt(a).Started)
	}
	if v.Task(ev.Task).Launched == 1 || p.under != nil && p.copies[ev.Stage] == 0 {
		p.lasted[ev.Stage] = append(p.lasted[ev.Stage], float64(v.Now()-began))
	}
}

// chance returns the share of stragglers among the tasks of the last thousand stages.
func (p *dollyTwin) chance() float64 {
	slow, all := 0, 0
	if p.p > 0 {
		return p.p
	}
	for _, s := range p.over[max(0, len(p.over)-1000):] {
		d := slices.Sorted(slices.Values(p.lasted[s]))
		if len(d) < 2 {
			continue
		}
		all += len(d)
		for _, x := range d {
			if x > 1.5*d[len(d)/2] {
				slow++
			}
		}
	}
	if all == 0 {
		return 0.1
	}
	return float64(slow) / float64(all)
}

// inUse returns the budget in use.
func (p *dollyTwin) inUse(v *sched.View) (n int) {
	for s, c := range p.copies {
		if st := v.Stage(s); st.State < sched.StageClosed && v.Job(st.Job).State == sched.JobActive {
			n += c * int(st.Tasks-st.Done)
		}
	}
	return n
}

// wanted returns the smallest c with 1-(1-p^c)^n <= epsilon.
func (p *dollyTwin) wanted(n int) (c int) {
	chance := p.chance()
	for c = 1; chance > 0 && -math.Expm1(float64(n)*math.Log1p(-math.Pow(chance, float64(c)))) > p.epsilon*(1+1e-9); c++ {
	}
	return c
}

func (p *dollyTwin) Decide(v *sched.View, act *sched.Actions) {
	slices.SortFunc(p.arrived, func(a, b dollyUnit) int {
		return cmp.Or(cmp.Compare(a.tasks, b.tasks), cmp.Compare(a.first, b.first))
	})
	used, room := v.Cluster().Live(), v.CloneRoom()
	for _, u := range p.arrived {
		pending := 0
		for s := u.first; s < u.last; s++ {
			pending += int(v.Stage(s).Pending)
		}
		if pending == 0 {
			continue
		}
		t, _ := kit.FirstPending(v, u.job)
		c := min(p.wanted(int(u.tasks)), v.AttemptRoom(t))
		price := c * int(u.tasks)
		if c > 1 && (c-1)*pending <= room && float64(p.inUse(v)+price) <= p.budget*float64(v.Slots()) && float64(used+price) <= p.threshold*float64(v.Slots()) {
			for s := u.first; s < u.last; s++ {
				p.copies[s] = c
			}
			used, room = used+price, room-(c-1)*pending
		}
	}
	for _, u := range p.arrived {
		for v.FreeSlots() > 0 && p.copies[u.first] > 0 {
			t, ok := kit.FirstPending(v, u.job)
			if s := v.Task(t).Stage; !ok || p.stagewise && (s != u.first || v.Stage(u.first).Pending == 0) {
				break
			}
			p.launch(v, act, t)
		}
	}
	p.arrived = nil
	if p.under != nil {
		p.under.Decide(v, act)
		return
	}
	for t, ok := p.next(v); ok; t, ok = p.next(v) {
		p.launch(v, act, t)
	}
}

// launch starts a task with all its attempts, or one if there is no room for all.
func (p *dollyTwin) launch(v *sched.View, act *sched.Actions, t sched.TaskID) {
	c := p.copies[v.Task(t).Stage]
	if v.Task(t).Launched > 0 || c > v.FreeSlots() || c > v.AttemptRoom(t) {
		c = 1
	}
	p.start(v, act, t)
	if c-1 > v.CloneRoom() {
		return
	}
	for range c - 1 {
		p.clone(v, act, t, sched.Cloning)
	}
}
