package policy

import (
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// slowWaves is what slowShed knows of stages with more tasks than slots. How slots are divided then is plan.Joint's to
// say; what follows from that is restated.
type slowWaves struct {
	waves          bool // the last division was one with such a stage
	blind          map[sched.StageID]bool
	atOnce, clones map[sched.StageID]int // of that division, with what was added since
	lacks          bool                  // a clone found no slot
	begun          []sched.TaskID        // since that division, or since their clones were looked at
}

// mayWave tells whether a stage has a deadline and a law. A law of its own counts from ten durations on.
func (p *slowShed) mayWave(v *sched.View, s sched.StageID) bool {
	if p.deadline(v, s) == sched.Never {
		return false
	}
	p.blind[s] = p.law == nil && v.Stage(s).Mean == 0 && v.Stage(s).Done < 10
	return !p.blind[s] && p.lawOf(v, s) != nil
}

// room tells whether another task of a stage may run.
func (p *slowShed) room(v *sched.View, s sched.StageID) bool {
	return !p.waves || p.behind[s] || int(v.Stage(s).Running) < p.atOnce[s]
}

func (p *slowShed) lacksStarts(v *sched.View, s sched.StageID) bool {
	return v.Stage(s).Pending > 0 && p.room(v, s)
}

// anyLacks tells whether a stage has tasks beyond those that it may run at once.
func (p *slowShed) anyLacks(v *sched.View) bool {
	return slices.ContainsFunc(p.jobs, func(s sched.StageID) bool { return p.running[s] && p.atOnce[s] < p.tasks(v, s) })
}

func (p *slowShed) serveBehind(v *sched.View, act *sched.Actions) {
	if !p.anyWaits() && !(p.waves && p.anyLacks(v)) {
		p.serve(v, act, p.behind)
	}
}

// divideWaves divides the slots where a stage has more tasks than there are.
func (p *slowShed) divideWaves(v *sched.View, act *sched.Actions) {
	taken := 0
	var all []sched.StageID
	for _, running := range []bool{true, false} {
		for _, s := range p.jobs {
			if p.behind[s] && running {
				taken += int(v.Stage(s).Running)
			} else if !p.behind[s] && p.running[s] == running {
				all = append(all, s)
			}
		}
	}
	works := p.told(v, all, false)
	whole := p.share(v) - taken
	lowly := 0
	for _, s := range p.jobs {
		if p.behind[s] {
			lowly += int(v.Stage(s).Pending)
		}
	}
	left := max(0, whole)
	for i := range works {
		left -= works[i].Tasks
	}
	taken += max(0, min(lowly, left))
	for i, s := range all {
		if works[i].Law == certainly {
			works[i].Law = instant
		}
		if works[i].Law == instant || v.Stage(s).Pending == 0 {
			continue
		}
		works[i].Law = p.startedBy(works[i].Law)
		job := v.Job(v.Stage(s).Job)
		for k := range job.Stages {
			next := job.FirstStage + sched.StageID(k)
			st := v.Stage(next)
			if l := new(kit.StageLaw).Of(p.law, &st); next > s && st.State == sched.StageBlocked && l != nil && st.Tasks > 0 {
				works[i].Later = append(works[i].Later, plan.Phase{Tasks: int(st.Tasks), Law: p.startedBy(l)})
			}
		}
	}
	pool := plan.Pool{Slots: v.Slots(), Lambda: p.lambda, MaxAttempts: p.attempts, Taken: taken, Waves: true, Draws: shedDraws}
	if l := v.Cluster().Limits().Attempts; l > 0 {
		pool.MaxAttempts = min(p.attempts, l)
	}
	u := plan.Utility(p.alpha)
	if math.IsInf(p.alpha, 1) {
		u = plan.UtilityMaxMin
	}
	shares := new(plan.Joint).Optimise(pool, u, works)
	p.clones = map[sched.StageID]int{}
	for i, s := range all {
		p.running[s] = true
		p.clones[s], p.atOnce[s] = max(0, shares.Clones[i]), shares.AtOnce[i]
	}
	spare := p.add(v, all, max(0, pool.Usable()-shares.Used))
	p.prune(v, act, p.clones, spare)
	p.serve(v, act, p.running)
	p.serveBehind(v, act)
	p.begun, p.lacks = nil, false
	p.clone(v, act, all, p.clones)
	p.help(v, act)
}

// startedBy adds the time to launch to a law.
func (p *slowShed) startedBy(l laws.Law) laws.Law {
	if p.launch == 0 {
		return l
	}
	l, err := laws.NewAffine(l, 1, p.launch.Seconds())
	if err != nil {
		panic(err)
	}
	return l
}

// add lets more tasks run at once in the slots that are left, first those of the stage that lacks fewest.
func (p *slowShed) add(v *sched.View, all []sched.StageID, left int) int {
	lacks := func(s sched.StageID) int { return p.tasks(v, s) - p.atOnce[s] }
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b sched.StageID) int { return lacks(a) - lacks(b) })
	for _, s := range all {
		for each := p.clones[s] + 1; lacks(s) > 0 && left >= each; left -= each {
			p.atOnce[s]++
		}
	}
	return left
}

// grow adds what has come free since the division.
func (p *slowShed) grow(v *sched.View) {
	left := p.share(v)
	var all []sched.StageID
	for _, s := range p.jobs {
		if p.running[s] {
			all = append(all, s)
			left -= max(min(p.tasks(v, s), p.atOnce[s])*(p.clones[s]+1), int(v.Stage(s).Live))
		} else {
			left -= int(v.Stage(s).Live)
		}
	}
	p.add(v, all, left)
}

// cloneWaves gives tasks that have begun since the division their clones, and those for which there was no slot.
func (p *slowShed) cloneWaves(v *sched.View, act *sched.Actions) {
	for _, t := range p.begun {
		if s := v.Task(t).Stage; v.Task(t).State == sched.TaskRunning && p.running[s] {
			p.cloneTask(v, act, t, p.clones[s])
		}
	}
	p.begun = nil
	if !p.lacks || v.CloneRoom() == 0 {
		return
	}
	p.lacks = false
	var all []sched.StageID
	for _, s := range p.jobs {
		if p.running[s] {
			all = append(all, s)
		}
	}
	p.clone(v, act, all, p.clones)
}
