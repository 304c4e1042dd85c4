package policy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// flinkTwin looks at every running task at every multiple of the interval, as the code that flink.go follows does.
type flinkTwin struct {
	naive
	ratio, multiplier           float64
	lowerBound, interval, block sched.Time

	watched map[sched.AttemptID]bool // attempts that run alone and have not been found slow
	slow    []sched.AttemptID        // in the order in which they were found
	blocked map[sched.MachineID]sched.Time
}

func TestFlinkTwin(t *testing.T) {
	checkTwins(t, func(t *rapid.T) (string, sched.Policy) {
		fair := rapid.Bool().Draw(t, "fair")
		x := &flinkTwin{
			naive:      newNaive(fair),
			ratio:      rapid.SampledFrom([]float64{0, 0.3, 0.5, 0.75, 1}).Draw(t, "ratio"),
			multiplier: rapid.SampledFrom([]float64{0, 1, 1.5}).Draw(t, "multiplier"),
			lowerBound: sched.Time(rapid.IntRange(0, 3).Draw(t, "bound")) * sched.Second,
			interval:   sched.Time(rapid.IntRange(1, 3).Draw(t, "interval")) * sched.Second,
			block:      sched.Time(rapid.IntRange(0, 5).Draw(t, "block")) * sched.Second,
			watched:    map[sched.AttemptID]bool{}, blocked: map[sched.MachineID]sched.Time{},
		}
		spec := fmt.Sprintf("flink:ratio=%g,multiplier=%g,lower_bound=%v,interval=%v,block=%v", x.ratio, x.multiplier, x.lowerBound, x.interval, x.block)
		if fair {
			spec += ",order=fair"
		}
		return spec, x
	})
}

func (p *flinkTwin) Observe(v *sched.View, ev *sched.Event) {
	p.naive.Observe(v, ev)
	switch ev.Kind {
	case sched.AttemptFailed, sched.AttemptLost:
		if task := v.Task(ev.Task); task.State == sched.TaskRunning && task.Live == 1 {
			p.watched[p.attempts(v, ev.Task)[0]] = true // the slow ones are in the list, and no others have had a sibling
		}
	}
}

func (p *flinkTwin) Decide(v *sched.View, act *sched.Actions) {
	for {
		t, ok := p.next(v)
		if !ok {
			break
		}
		p.watched[p.start(v, act, t)] = true
	}
	if v.Now()%p.interval == 0 {
		p.check(v)
	}
	p.slow = slices.DeleteFunc(p.slow, func(a sched.AttemptID) bool { return !v.Rows().Alive(a) })
	p.clones(v, act)
	if v.Cluster().Unfinished() > 0 {
		act.WakeAt((v.Now()/p.interval + 1) * p.interval)
	}
}

func (p *flinkTwin) check(v *sched.View) {
	for _, s := range p.stages(v) {
		limit := p.baseline(v, s)
		tasks := p.running(v, s)
		slices.SortFunc(tasks, func(a, b sched.TaskID) int {
			return cmp.Or(cmp.Compare(p.oldest(v, a), p.oldest(v, b)), cmp.Compare(a, b))
		})
		for _, t := range tasks {
			for _, a := range p.attempts(v, t) {
				if at := v.Attempt(a); p.watched[a] && v.Now()-at.Started >= limit {
					delete(p.watched, a)
					p.slow = append(p.slow, a)
					p.blocked[at.Machine] = v.Now() + p.block
				}
			}
		}
	}
}

func (p *flinkTwin) oldest(v *sched.View, t sched.TaskID) sched.Time {
	all := p.attempts(v, t)
	return v.Attempt(all[len(all)-1]).Started
}

// baseline returns the age from which on an attempt of the stage is slow: a multiple of the median of the first ratio n durations.
func (p *flinkTwin) baseline(v *sched.View, s sched.StageID) sched.Time {
	st := v.Stage(s)
	if float64(st.Done)/float64(st.Tasks-st.GivenUp) < p.ratio {
		return sched.Never
	}
	k := int(math.Floor(float64(st.Tasks-st.GivenUp)*p.ratio + 0.5))
	if k == 0 {
		return p.lowerBound
	}
	sorted := slices.Sorted(slices.Values(p.won[s]))
	if k/2 >= len(sorted) {
		return sched.Never
	}
	return max(p.lowerBound, sched.Time(p.multiplier*float64(sorted[k/2])))
}

func (p *flinkTwin) clones(v *sched.View, act *sched.Actions) {
	for len(p.slow) > 0 && v.CloneRoom() > 0 {
		t := v.Attempt(p.slow[0]).Task
		if v.AttemptRoom(t) > 0 {
			blocked := func(m sched.MachineID) bool { return p.blocked[m] > v.Now() }
			free, apart := p.free(v, t)
			all := append(slices.DeleteFunc(apart, blocked), slices.DeleteFunc(free, blocked)...)
			if len(all) == 0 {
				return
			}
			kit.Launch(act, t, all[0], 0, sched.Straggling)
		}
		p.slow = p.slow[1:]
	}
}
