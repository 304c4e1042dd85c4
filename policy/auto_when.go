package policy

import (
	"math"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// When auto looks at a stage: every part of its median, when a report asks for it, and when there is room again for a
// clone.

// mayCost returns how many tasks of a stage may run before looks, which go through them, become rarer; and how many
// for each report since the last look, if a report asks for the next one. The nearer the end of the stage is, the more:
// once none of its tasks waits, each that is slow may be the last.
func mayCost(stage *sched.Stage) (tasks, eachReport float64) {
	switch {
	case stage.Pending > stage.Running:
		return 100, 16
	case stage.Pending > 0:
		return 500, 16
	}
	return 2000, 64
}

// schedule notes the next look at a stage, if its scale is known: a part of its median later, or of the time in which
// nothing has happened to it. So a stage of tiny tasks, one of which runs for hours, is looked at some tens of times.
// While tasks wait, looks at a stage that reports nothing come half as often: no slot is idle then, and an age alone
// ends no attempt but a clone.
func (p *auto) schedule(v *sched.View, st *autoStage) {
	stage := v.Stage(st.id)
	typical := st.past.median()
	if typical == 0 {
		typical = stage.Mean.Seconds()
	}
	if typical == 0 {
		typical, _ = p.quiet.Interval(st.id)
	}
	if typical == 0 {
		typical = p.unknown.typical()
	}
	if typical == 0 {
		p.due.Drop(int(st.id))
		return
	}
	many, _ := mayCost(&stage)
	still := (v.Now() - st.told).Seconds()
	wait := p.part * max(typical, still) * max(1, float64(stage.Running)/many)
	if !st.says && p.order.Waiting() > 0 {
		wait *= 2
	}
	p.due.Set(int(st.id), kit.Rising[sched.Time]{X: max(v.Now()+1, kit.Later(v.Now(), wait))})
}

// asksAgain is by how many times older an attempt that has asked for a look may ask for another one.
const asksAgain = 1.3

// hears has a stage looked at as soon as a report says that an attempt takes more than a winner has cost so far, or how
// far one of several attempts of a task is: what follows from that does not wait for the next look. The larger the
// stage, the more reports there are first.
func (p *auto) hears(v *sched.View, st *autoStage, a sched.AttemptID) {
	st.heard++
	x, ok := p.trust.filter.of(a)
	if !ok || st.past.n == 0 || !p.due.Has(int(st.id)) {
		return
	}
	if age := (v.Now() - v.Rows().Started(a)).Seconds(); age > asksAgain*x.asked {
		dear := x.left*math.Exp(-p.trust.errors.mode) > st.cost/float64(st.past.n)
		if dear || v.Task(v.Rows().TaskOf(a)).Live > 1 {
			x.asked, st.asked = age, true
		}
	}
	if !st.asked {
		return
	}
	stage := v.Stage(st.id)
	if _, each := mayCost(&stage); each*float64(st.heard) >= float64(stage.Running) {
		p.due.Set(int(st.id), kit.Rising[sched.Time]{X: v.Now()})
	}
}

// watch looks at the stages whose turn it is. Those that could not have a clone now have theirs when there is room;
// once a clone has won, those that report anyway, for what had better begin anew.
func (p *auto) watch(v *sched.View) {
	room := v.CloneRoom() > 0
	if room {
		for _, s := range p.ripe {
			if p.stages.Has(s) {
				p.stages.Of(s).ripe = false
				p.due.Set(int(s), kit.Rising[sched.Time]{X: v.Now()})
			}
		}
		p.ripe = p.ripe[:0]
	}
	for p.due.Len() > 0 && p.due.TopKey().X <= v.Now() {
		st := p.stages.Of(sched.StageID(p.due.Top()))
		stage := v.Stage(st.id)
		if room || stage.Live > stage.Running || st.says && p.redraw.wins > 0 {
			st.heard, st.asked = 0, false
			p.look(v, st)
			p.schedule(v, st)
		} else {
			p.due.Drop(int(st.id))
			if !st.ripe {
				st.ripe = true
				p.ripe = append(p.ripe, st.id)
			}
		}
	}
}
