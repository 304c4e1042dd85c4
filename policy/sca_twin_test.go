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

// scaTwin is the box at the top of sca.go, with everything counted and every gain weighed anew for each attempt. The laws of durations are those of the policy, which have
// tests of their own.
type scaTwin struct {
	naive
	kit.Clock
	gamma  float64
	copies int
	own    bool
}

func drawSCATwin(t *rapid.T) (string, sched.Policy) {
	x := &scaTwin{
		naive:  newNaive(false),
		Clock:  kit.Clock{Slot: sched.Time(rapid.IntRange(0, 2).Draw(t, "slot")) * sched.Second},
		gamma:  rapid.SampledFrom([]float64{0, 0.01, 0.3}).Draw(t, "gamma"),
		copies: rapid.IntRange(1, 5).Draw(t, "copies"),
		own:    rapid.Bool().Draw(t, "own"),
	}
	law := "pareto"
	if x.own {
		law = "own"
	}
	return fmt.Sprintf("sca:gamma=%g,copies=%d,slot=%v,law=%s", x.gamma, x.copies, x.Slot, law), x
}

func TestSCATwin(t *testing.T) { checkTwins(t, drawSCATwin) }

func (p *scaTwin) Decide(v *sched.View, act *sched.Actions) {
	if !p.Begins(v, act) {
		return
	}
	var begun, fresh []sched.StageID
	key := map[sched.StageID]float64{}
	for _, s := range p.stages(v) {
		switch st := v.Stage(s); {
		case st.Pending == 0:
		case p.launched(v, s):
			begun = append(begun, s)
			for x := range sched.StageID(v.Rows().Stages()) {
				if other := v.Stage(x); other.Job == st.Job {
					mean, _ := p.moments(v, x)
					key[s] += float64(other.Unfinished()) * mean
				}
			}
		default:
			fresh = append(fresh, s)
			mean, _ := p.moments(v, s)
			key[s] = float64(st.Pending) * mean
		}
	}
	for _, list := range [][]sched.StageID{begun, fresh} {
		slices.SortStableFunc(list, func(a, b sched.StageID) int { return cmp.Compare(key[a], key[b]) })
	}
	p.one(v, act, begun)
	total, free := 0, v.FreeSlots()
	tasks, copies := map[sched.StageID]int{}, map[sched.StageID]int{}
	for _, s := range fresh {
		tasks[s], copies[s] = int(v.Stage(s).Pending), 1
		total += tasks[s]
	}
	p.one(v, act, fresh)
	for total < free {
		best, most := sched.StageID(0), 0.0
		for _, s := range fresh {
			gain := (p.cost(v, s, copies[s], tasks[s]) - p.cost(v, s, copies[s]+1, tasks[s])) / float64(tasks[s])
			if copies[s] < p.copies && tasks[s] <= v.CloneRoom() && v.AttemptRoom(p.running(v, s)[0]) > 0 && gain > most {
				best, most = s, gain
			}
		}
		if most == 0 {
			return
		}
		for _, t := range p.running(v, best) {
			p.clone(v, act, t, sched.Cloning)
		}
		copies[best]++
	}
}

// one gives the waiting tasks of stages an attempt each while slots are free.
func (p *scaTwin) one(v *sched.View, act *sched.Actions, stages []sched.StageID) {
	for _, s := range stages {
		for t := range sched.TaskID(v.Rows().Tasks()) {
			if v.Task(t).Stage == s && v.Task(t).State == sched.TaskPending && v.FreeSlots() > 0 {
				p.start(v, act, t)
			}
		}
	}
}

func (p *scaTwin) launched(v *sched.View, s sched.StageID) bool {
	for t := range sched.TaskID(v.Rows().Tasks()) {
		if v.Task(t).Stage == s && v.Task(t).Launched > 0 {
			return true
		}
	}
	st := v.Stage(s)
	return st.Running+st.Done > 0
}

func (p *scaTwin) moments(v *sched.View, s sched.StageID) (mean, sd float64) {
	st := v.Stage(s)
	mean, sd, ok := st.Estimate()
	if !ok {
		return 1, 0
	}
	return mean, sd
}

func (p *scaTwin) cost(v *sched.View, s sched.StageID, copies, tasks int) float64 {
	var law kit.Empirical
	for _, d := range v.Sample(s) {
		law = append(law, d.Seconds())
	}
	if slices.Sort(law); p.own && len(law) > 0 {
		return law.Cost(copies, tasks, p.gamma)
	}
	mean, sd := p.moments(v, s)
	return kit.FitPareto(mean, sd).Cost(copies, tasks, p.gamma)
}
