package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// A stage with more tasks than there are slots runs in waves (docs/decisions/0102-shed-runs-jobs-in-waves.md). As long
// as there is one, jobs are divided as by plan.Pool.Waves: each stage has a number of tasks at once and of clones that
// start with each task. What the division leaves goes to tasks that would wait, and then to stages that are low. No
// slots are kept for masters. The stages of the job that have not begun count as plan.Work.Later.

const (
	shedDraws  = 40_000 // see plan.Pool.Draws: a division takes some hundredths of a second
	shedEnough = 10     // durations from which a law is learned for a stage in waves
)

// instant is the law of what needs no clones, and in waves as many slots as others leave.
var instant laws.Law = laws.Deterministic{Value: 1e-3}

// shedWaves is what a shed keeps about stages in waves.
type shedWaves struct {
	waved   bool // the last division was in waves
	blind   bool // a stage is low for want of a law
	hungry  bool // a stage would run more tasks at once if there were slots
	lacks   bool // a clone that is due found no slot
	started []sched.TaskID
	by      []int // buffer of spread
}

// wide tells whether a stage that is not low is to run in waves, if it has more tasks than slots.
func (p *shed) wide(v *sched.View, st *shedStage) bool {
	stage := v.Stage(st.id)
	if v.Job(stage.Job).Deadline == sched.Never {
		return false
	}
	st.blind = p.law == nil && stage.Mean == 0 && stage.Done < shedEnough
	p.blind = p.blind || st.blind
	return !st.blind && st.law.Of(p.law, &stage) != nil
}

// seen tells whether a stage that is low for want of a law may have one now.
func (p *shed) seen(v *sched.View, s sched.StageID) bool {
	return p.blind && p.stages.Has(s) && p.stages.Of(s).blind && v.Stage(s).Done >= shedEnough
}

// inWaves adds what counts in waves to the description of a stage: the stages of the job that have not begun, and the
// time that each attempt takes to launch.
func (p *shed) inWaves(v *sched.View, st *shedStage, w *plan.Work) {
	stage := v.Stage(st.id)
	switch {
	case w.Law == certainly:
		w.Law = instant
		return
	case stage.Pending == 0:
		return
	}
	w.Law = p.launched(w.Law)
	job := v.Job(stage.Job)
	for s := st.id + 1; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		next := v.Stage(s)
		var law kit.StageLaw
		if l := law.Of(p.law, &next); l != nil && next.State == sched.StageBlocked && next.Tasks > 0 {
			w.Later = append(w.Later, plan.Phase{Tasks: int(next.Tasks), Law: p.launched(l)})
		}
	}
}

func (p *shed) launched(l laws.Law) laws.Law {
	if p.Launch == 0 {
		return l
	}
	later, err := laws.NewAffine(l, 1, p.Launch.Seconds())
	if err != nil {
		panic("policy: a launch takes a finite time")
	}
	return later
}

// assign brings a division in waves to the stages in order, and returns the slots that it leaves.
func (p *shed) assign(left int, shares plan.Allocation) int {
	for i, st := range p.order {
		st.rank, st.clones, st.atOnce = shedRuns, max(0, shares.Clones[i]), shares.AtOnce[i]
	}
	p.waits = 0
	return p.spread(left, func(i int) int { return p.works[i].Tasks - p.order[i].atOnce })
}

// spread gives slots that are left to tasks of the stages in order that would wait for others of their stage, first
// where fewest would, and returns what is left then.
func (p *shed) spread(left int, lacks func(i int) int) int {
	p.by, p.hungry = p.by[:0], false
	for i := range p.order {
		if lacks(i) > 0 {
			p.by = append(p.by, i)
		}
	}
	slices.SortFunc(p.by, func(a, b int) int { return cmp.Or(cmp.Compare(lacks(a), lacks(b)), cmp.Compare(a, b)) })
	for _, i := range p.by {
		st := p.order[i]
		more := min(lacks(i), max(0, left)/(st.clones+1))
		p.hungry = p.hungry || more < lacks(i)
		st.atOnce += more
		left -= more * (st.clones + 1)
	}
	return left
}

// ready takes notice of a task that may run now.
func (p *shed) ready(v *sched.View, s sched.StageID) {
	if p.waved && p.stages.Has(s) {
		st := p.stages.Of(s)
		p.hungry = p.hungry || st.rank == shedRuns && p.tasks(v, st) > st.atOnce
	}
}

// regrow spreads slots that have come free since a division in waves, such as those of stages that are low.
func (p *shed) regrow(v *sched.View) {
	left := int(p.pool.Lambda*float64(v.Slots()) + 1e-9)
	p.order = p.order[:0]
	for _, s := range p.open {
		stage := v.Stage(s)
		if stage.State != sched.StageOpen {
			continue
		}
		switch st := p.stages.Of(s); st.rank {
		case shedRuns:
			p.order = append(p.order, st)
			left -= max(min(p.tasks(v, st), st.atOnce)*(st.clones+1), int(stage.Live))
		default:
			left -= int(stage.Live)
		}
	}
	p.spread(left, func(i int) int { return p.tasks(v, p.order[i]) - p.order[i].atOnce })
}

// tasks returns how many tasks of a stage may run or do.
func (p *shed) tasks(v *sched.View, st *shedStage) int {
	stage := v.Stage(st.id)
	return int(stage.Pending + stage.Running)
}

// allAtOnce is the tasks at once of a stage that does not run in waves.
const allAtOnce = math.MaxInt

// complete launches the clones of tasks that have started since the last division in waves, and those for which there
// was no slot.
func (p *shed) complete(v *sched.View, act *sched.Actions) {
	for _, t := range p.started {
		if st := p.stages.Of(v.Task(t).Stage); v.Task(t).State == sched.TaskRunning {
			p.clone(v, act, t, st.clones)
		}
	}
	p.started = p.started[:0]
	if !p.lacks || v.CloneRoom() == 0 {
		return
	}
	p.lacks = false
	for _, s := range p.open {
		if st := p.stages.Of(s); st.rank == shedRuns && v.Stage(s).State == sched.StageOpen {
			p.cloneStage(v, act, st)
		}
	}
}
