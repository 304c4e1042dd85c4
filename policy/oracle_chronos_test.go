package policy

import (
	"slices"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

var (
	chronosCloneOracle = slowChronosOf(plan.ChronosClone,
		"chronos-clone", "chronos-clone:clones=3,kill=2", "chronos-clone:law=(pareto:alpha=1.5,xm=8),order=fair", "chronos-clone:clones=2,silence=false,order=srpt,kill=0.7",
	)
	chronosRestartOracle = slowChronosOf(plan.ChronosRestart,
		"chronos-restart:detect=0.1", "chronos-restart:clones=4,kill=1.5,detect=0.05", "chronos-restart:law=(pareto:alpha=1.2,xm=20),launch=2s",
		"chronos-restart:clones=2,silence=false,order=srpt,detect=0.1", "chronos-restart:clones=3,detect=0,max_attempts=3",
	)
	chronosResumeOracle = slowChronosOf(plan.ChronosResume,
		"chronos-resume:detect=0.1", "chronos-resume:clones=2,kill=1,detect=0.05", "chronos-resume:law=(pareto:alpha=1.2,xm=20),launch=2s",
		"chronos-resume:clones=1,silence=false,order=srpt,detect=0.2", "chronos-resume:clones=0,max_attempts=2,kill=3",
	)
)

func slowChronosOf(s plan.Strategy, specs ...string) oracle {
	return oracle{name: "chronos-" + s.String(), specs: specs, fate: longer, slow: func(a kit.Args) sched.Policy {
		return &slowChronos{
			slowly: newSlowly(a), progress: newProgress(a.Span("launch")), strategy: s, detect: a.Float("detect"), kill: max(a.Float("kill"), a.Float("detect")),
			clones: a.Int("clones"), most: a.Int("max_attempts"), price: a.Float("price"), floor: a.Float("floor"), silence: a.Bool("silence"),
			law: a.Law("law"), stages: map[sched.StageID]*slowChronosStage{},
		}
	}}
}

// longer has more tasks be late.
func longer(f *policytest.Fate) { f.Lasts *= 3 }

// slowChronos is section 26 of the digest. r is of plan.Chronos, which has tests of its own.
type slowChronos struct {
	slowly
	progress
	strategy     plan.Strategy
	detect, kill float64
	clones, most int
	price, floor float64
	silence      bool
	law          laws.Law
	stages       map[sched.StageID]*slowChronosStage
}

// slowChronosStage is a stage with its r; of the instants those that are over are Never.
type slowChronosStage struct {
	r                  int
	estimateAt, killAt sched.Time
	late               bool // it is time to help tasks that stand still
}

func (p *slowChronos) Observe(v *sched.View, ev *sched.Event) {
	p.slowly.Observe(v, ev)
	p.quiet.Observe(v, ev)
	if ev.Kind == sched.StageReady {
		p.stages[ev.Stage] = p.begin(v, ev.Stage)
	}
}

func (p *slowChronos) begin(v *sched.View, s sched.StageID) *slowChronosStage {
	x := &slowChronosStage{estimateAt: sched.Never, killAt: sched.Never}
	stage := v.Stage(s)
	deadline := v.Job(stage.Job).Deadline
	d := (deadline - v.Now()).Seconds()
	if deadline == sched.Never || d <= 0 || stage.Tasks == 0 {
		x.late = d <= 0
		return x
	}
	x.r = p.clones
	if x.r < 0 {
		law := new(kit.StageLaw).Of(p.law, &stage)
		if law == nil {
			return &slowChronosStage{estimateAt: sched.Never, killAt: sched.Never, late: true}
		}
		c := plan.Chronos{Tasks: int(stage.Tasks), Law: law, Deadline: d, Detect: p.detect * d, Kill: p.kill * d, Progress: p.detect}
		x.r, _ = c.Best(p.strategy, p.most-1, p.floor, p.price)
	}
	x.killAt = kit.Later(v.Now(), p.kill*d)
	if x.late = p.strategy == plan.ChronosClone; !x.late {
		x.estimateAt = kit.Later(v.Now(), p.detect*d)
	}
	return x
}

func (p *slowChronos) Decide(v *sched.View, act *sched.Actions) {
	p.fill(v, act)
	var open []sched.StageID
	for s := range p.stages {
		if v.Stage(s).State == sched.StageOpen && v.Job(v.Stage(s).Job).State == sched.JobActive {
			open = append(open, s)
		}
	}
	slices.Sort(open)
	for _, s := range open {
		x := p.stages[s]
		if x.estimateAt <= v.Now() {
			x.estimateAt, x.late = sched.Never, true
			for _, t := range runningOf(v, inStage(v, s)) {
				p.straggler(v, act, t, x.r)
			}
		}
		if x.killAt <= v.Now() {
			x.killAt = sched.Never
			for _, t := range runningOf(v, inStage(v, s)) {
				keepOnly(v, act, t, p.soonest(v, t))
			}
		}
	}
	p.quiet.Look(v, func(s sched.StageID, t sched.TaskID) {
		if x := p.stages[s]; x.late && p.silence {
			p.revive(v, act, t, max(1, x.r))
		}
	})
	p.fill(v, act)
	for _, s := range open {
		act.WakeAt(min(p.stages[s].estimateAt, p.stages[s].killAt))
	}
	kit.WakeFor(act, &p.quiet.Due)
}

// fill gives free slots to tasks that wait; under Clone r more start with each that has never run.
func (p *slowChronos) fill(v *sched.View, act *sched.Actions) {
	for v.FreeSlots() > 0 {
		i := slices.IndexFunc(p.jobs(v), func(j sched.JobID) bool { _, waits := pendingOf(v, j); return waits })
		if i < 0 {
			return
		}
		t, _ := pendingOf(v, p.jobs(v)[i])
		fresh := v.Task(t).Launched == 0
		p.start(v, act, t)
		if p.strategy == plan.ChronosClone && fresh {
			p.more(v, act, t, p.stages[v.Task(t).Stage].r, 0, sched.Cloning)
		}
	}
}

func (p *slowChronos) more(v *sched.View, act *sched.Actions, t sched.TaskID, n int, from float64, why sched.Reason) {
	for range n {
		if v.CloneRoom() > v.Pending() && v.AttemptRoom(t) > 0 {
			m, _ := apart(v, t)
			kit.Launch(act, t, m, from, why)
		}
	}
}

// straggler helps a task that will be late.
func (p *slowChronos) straggler(v *sched.View, act *sched.Actions, t sched.TaskID, r int) {
	a := p.ahead(v, t)
	if end, known := p.end(v, a); !known || end <= v.Job(v.Rows().JobOf(t)).Deadline {
		return
	}
	if p.strategy != plan.ChronosResume {
		p.more(v, act, t, r, 0, sched.Straggling)
		return
	}
	if len(attemptsOf(v, t)) > 1 || !v.Rows().MayKill(a) {
		return
	}
	if p.quiet.Silent(v, a) {
		p.quiet.Strike(t)
	}
	m, free := apart(v, t)
	if !free {
		m = v.Attempt(a).Machine
	}
	kit.Kill(act, a, sched.Replaced)
	kit.Launch(act, t, m, v.Task(t).Saved, sched.Straggling)
	p.more(v, act, t, r, v.Task(t).Saved, sched.Straggling)
}

// revive helps a task of which nothing moves.
func (p *slowChronos) revive(v *sched.View, act *sched.Actions, t sched.TaskID, r int) {
	all := attemptsOf(v, t)
	if slices.ContainsFunc(all, func(a sched.AttemptID) bool { return !p.quiet.Silent(v, a) }) {
		return
	}
	room := min(p.most-len(all), v.AttemptRoom(t))
	if p.strategy == plan.ChronosResume || room <= 0 {
		p.prune(v, act, t)
	}
	p.straggler(v, act, t, min(r, max(1, room)))
}
