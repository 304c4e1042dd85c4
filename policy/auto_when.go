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

// looks has the next look at a stage come at a time.
func (p *auto) looks(st *autoStage, at sched.Time) {
	p.due.Set(int(st.id), kit.Rising[sched.Time]{X: at})
}

// mayClone tells whether a clone of a stage could start, be it instead of another one where no task waits.
func (p *auto) mayClone(v *sched.View, st *autoStage) bool {
	return v.CloneRoom() > 0 || st.says && v.FreeSlots() > 0 && p.order.Waiting() == 0
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
	p.looks(st, max(v.Now()+1, kit.Later(v.Now(), wait)))
}

// goesOn has a stage that reports looked at once more when all clones have started that it wanted, if there is room for
// others: now other tasks are the slowest. Such a look goes through at most eachClone tasks for each of these clones.
func (p *auto) goesOn(v *sched.View, st *autoStage) {
	if st.says && v.CloneRoom() > 0 && p.order.Waiting() == 0 && eachClone*st.next >= int(v.Stage(st.id).Running) {
		p.looks(st, v.Now()+1)
	}
}

const eachClone = 200

// eachCost returns what a winner of a stage has cost so far; while there is none, the mean that was told beforehand, if
// no task waits, which free slots are for; 0 if it is not known.
func (p *auto) eachCost(v *sched.View, st *autoStage) float64 {
	switch {
	case st.past.n > 0:
		return st.cost / float64(st.past.n)
	case p.order.Waiting() == 0 && !st.refuted:
		return v.Stage(st.id).Mean.Seconds()
	}
	return 0
}

// asksAgain is by how many times older an attempt that has asked for a look may ask for another one.
const asksAgain = 1.3

// hears has a stage looked at as soon as a report says that an attempt takes more than a winner costs, or how far one
// of several attempts of a task is: what follows from that does not wait for the next look. The larger the stage, the
// more reports there are first.
func (p *auto) hears(v *sched.View, st *autoStage, a sched.AttemptID) {
	st.heard++
	x, ok := p.trust.filter.of(a)
	usual := p.eachCost(v, st)
	if !ok || usual == 0 || !p.due.Has(int(st.id)) {
		return
	}
	if age := (v.Now() - v.Rows().Started(a)).Seconds(); age > asksAgain*x.asked {
		dear := x.left*math.Exp(-p.trust.errors.mode) > usual
		if dear || v.Task(v.Rows().TaskOf(a)).Live > 1 {
			x.asked, st.asked = age, true
		}
	}
	if !st.asked {
		return
	}
	stage := v.Stage(st.id)
	if _, each := mayCost(&stage); each*float64(st.heard) >= float64(stage.Running) {
		p.looks(st, v.Now())
	}
}

// watch looks at the stages whose turn it is. Those that could not have a clone now have theirs when there is room;
// once a clone has won, those that report anyway, for what had better begin anew.
func (p *auto) watch(v *sched.View) {
	if v.CloneRoom() > 0 {
		for _, s := range p.ripe {
			if p.stages.Has(s) {
				p.stages.Of(s).ripe = false
				p.looks(p.stages.Of(s), v.Now())
			}
		}
		p.ripe = p.ripe[:0]
	}
	for p.due.Len() > 0 && p.due.TopKey().X <= v.Now() {
		st := p.stages.Of(sched.StageID(p.due.Top()))
		stage := v.Stage(st.id)
		if p.mayClone(v, st) || stage.Live > stage.Running || st.says && p.redraw.wins > 0 {
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
