package policy

// Chronos: Xu, Alamro, Lan, Subramaniam, "Chronos: A Unifying Optimization Framework for Speculative Execution of
// Deadline-critical MapReduce Jobs", ICDCS 2018.
//
//	D                  time from when a stage may start to the deadline of its job
//	tau_est, tau_kill  detect D, kill D after that
//	r                  clones: the number of clones with the largest net utility lg(R - floor) - price E[machine time], plan.Chronos
//
//	chronos-clone    r+1 attempts of each task at once
//	chronos-restart  at tau_est, r attempts from the beginning beside each straggler
//	chronos-resume   at tau_est, each straggler is killed, and r+1 attempts go on from where it was
//	at tau_kill, of each task only the attempt that will be done first goes on
//
// A straggler is an attempt that at tau_est is seen to end after the deadline, by its speed since the end of its
// launch. The paper reckons from the first report instead, for the same reason.
//
// Readings. A stage is a job here. For r the progress of a straggler at tau_est is taken to be detect, that of an
// attempt that takes until the deadline. What has not begun is no straggler. What has been done by the time of the kill
// is kept, so nothing is extrapolated. A clone for which there is no slot, or that a limit refuses, is left out;
// waiting tasks go first. Jobs without a deadline, or of whose durations nothing is known, get no clones.
//
// The paper looks at tau_est, once. Here a task whose attempts all stand still (kit.Silence), and by what is known then
// end after the deadline, is looked at from tau_est on whenever its stage is, and after the deadline as well: under
// restart and clone it gets r fresh clones, at least one; under resume it is replaced. Attempts that report what is so
// are judged at tau_est alone. silence=false is the paper's rule.
//
// An event costs O(log jobs), tau_est and tau_kill O(attempts of the stage).

import (
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/policy/internal/resume"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var (
	chronosCloneEntry   = chronosEntry(plan.ChronosClone, "all tasks, from the start", "start r clones of every task with it")
	chronosRestartEntry = chronosEntry(plan.ChronosRestart, "tasks that will be late", "start r fresh clones of each task that will miss its deadline")
	chronosResumeEntry  = chronosEntry(plan.ChronosResume, "tasks that will be late", "replace each task that will miss its deadline by r+1 attempts that resume its work")
)

func chronosEntry(strategy plan.Strategy, clones, summary string) kit.Entry {
	return kit.Entry{
		Name:    "chronos-" + strategy.String(),
		Family:  kit.Deadlines,
		Clones:  clones,
		Cost:    "O(log jobs); at the two instants of judgement O(attempts of the stage)",
		Summary: summary,
		Source:  "Xu, Alamro, Lan, Subramaniam, ICDCS 2018",
		Params: []kit.Param{
			{Name: "detect", Kind: kit.Float, Default: "0.3", Min: 0, Max: 0.999, Help: "tau_est, as a fraction of the time to the deadline"},
			{Name: "kill", Kind: kit.Float, Default: "0.6", Min: 0, Max: 1000, Help: "tau_kill, as a fraction of the time to the deadline; not before tau_est"},
			{Name: "clones", Kind: kit.Int, Default: "-1", Min: -1, Max: 1000, Help: "r; -1 chooses it by net utility"},
			{Name: "max_attempts", Kind: kit.Int, Default: "5", Min: 1, Max: 1000, Help: "most attempts of a task, r+1, to choose from"},
			{Name: "price", Kind: kit.Float, Default: "0.0001", Min: 0, Max: 1e9, Help: "of a second of machine time, in the net utility"},
			{Name: "floor", Kind: kit.Float, Default: "0", Min: 0, Max: 1, Help: "PoCD that is worth nothing, in the net utility"},
			{Name: "silence", Kind: kit.Bool, Default: "true", Help: "help tasks that stand still whenever that is seen; the paper does not"},
			kit.LawParam,
			resume.LaunchParam,
			kit.OrderParam,
		},
		Progress:       true,
		WorkConserving: true,
		New:            func(a kit.Args) sched.Policy { return newChronos(strategy, a) },
	}
}

type chronos struct {
	resume.Resuming
	order        kit.Order
	strategy     plan.Strategy
	detect, kill float64
	clones, most int // clones is -1 where it is chosen
	price, floor float64
	hears        bool // silence
	law          laws.Law
	stages       kit.PerStage[chronosStage]
	due          kit.Heap[kit.Rising[sched.Time]] // stages by tau_est or tau_kill, whichever is next
}

type chronosStage struct {
	clones    int // r
	killAt    sched.Time
	fits      kit.StageLaw
	detecting bool // tau_est is to come
	held      bool // until the job goes on
	looking   bool // tau_est is over: attempts that stand still are judged
}

func newChronos(strategy plan.Strategy, a kit.Args) sched.Policy {
	p := &chronos{
		Resuming: resume.NewResuming(a.Span("launch")), strategy: strategy, order: kit.NewOrder(a), detect: a.Float("detect"), clones: a.Int("clones"), most: a.Int("max_attempts") - 1,
		price: a.Float("price"), floor: a.Float("floor"), hears: a.Bool("silence"), law: a.Law("law"),
	}
	p.kill = max(a.Float("kill"), p.detect)
	return p
}

func (p *chronos) Observe(v *sched.View, ev *sched.Event) {
	p.order.Observe(v, ev)
	p.Quiet.Observe(v, ev)
	switch ev.Kind {
	case sched.StageReady:
		if v.Rows().Visible(ev.Stage) {
			p.stages.Open(ev.Stage)
			p.ready(v, ev.Stage)
		}
	case sched.JobChanged:
		p.each(v, ev.Job, func(s sched.StageID) { p.ready(v, s) })
	case sched.JobContinued:
		p.each(v, ev.Job, func(s sched.StageID) {
			if p.stages.Of(s).held {
				p.stages.Of(s).held = false
				p.due.Set(int(s), kit.Rising[sched.Time]{X: v.Now()})
			}
		})
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.stages.End(v, ev)
		p.due.End(v, ev)
	}
}

// each calls a function for the open stages of a job.
func (p *chronos) each(v *sched.View, j sched.JobID, do func(sched.StageID)) {
	job := v.Job(j)
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		if p.stages.Has(s) {
			do(s)
		}
	}
}

// ready chooses r for a stage that may start, or whose deadline is another.
func (p *chronos) ready(v *sched.View, s sched.StageID) {
	st := p.stages.Of(s)
	*st = chronosStage{}
	p.due.Drop(int(s))
	stage := v.Stage(s)
	deadline := v.Job(stage.Job).Deadline
	left := (deadline - v.Now()).Seconds()
	st.looking = left <= 0
	if deadline == sched.Never || left <= 0 || stage.Tasks == 0 {
		return
	}
	if st.clones = p.clones; st.clones < 0 {
		law := st.fits.Of(p.law, &stage)
		if law == nil {
			st.looking = true // for want of a law there is no tau_est to wait for
			return
		}
		c := plan.Chronos{
			Tasks: int(stage.Tasks), Law: law, Deadline: left, Detect: p.detect * left, Kill: p.kill * left, Progress: p.detect,
		}
		st.clones, _ = c.Best(p.strategy, p.most, p.floor, p.price)
	}
	st.killAt = kit.Later(v.Now(), p.kill*left)
	st.looking = p.strategy == plan.ChronosClone
	if st.detecting = p.strategy != plan.ChronosClone; st.detecting {
		p.due.Set(int(s), kit.Rising[sched.Time]{X: kit.Later(v.Now(), p.detect*left)})
	} else {
		p.due.Set(int(s), kit.Rising[sched.Time]{X: st.killAt})
	}
}

func (p *chronos) Decide(v *sched.View, act *sched.Actions) {
	p.start(v, act)
	for p.due.Len() > 0 && p.due.TopKey().X <= v.Now() {
		s := sched.StageID(p.due.Top())
		if st := p.stages.Of(s); v.Job(v.Stage(s).Job).Paused {
			st.held = true
			p.due.Drop(int(s))
		} else if st.detecting {
			st.detecting, st.looking = false, true
			p.due.Set(int(s), kit.Rising[sched.Time]{X: st.killAt})
			p.speculate(v, act, s, st.clones)
		} else {
			p.due.Drop(int(s))
			p.settle(v, act, s)
		}
	}
	p.Quiet.Look(v, func(s sched.StageID, t sched.TaskID) {
		if st := p.stages.Of(s); st.looking && p.hears {
			p.revive(v, act, s, t, max(1, st.clones))
		}
	})
	p.start(v, act)
	kit.WakeFor(act, &p.due)
	kit.WakeFor(act, &p.Quiet.Due)
}

// start gives free slots to waiting tasks, and under clone their clones with them.
func (p *chronos) start(v *sched.View, act *sched.Actions) {
	for {
		t, m, ok := p.order.Next(v)
		if !ok {
			return
		}
		fresh := v.Task(t).Launched == 0
		p.order.Launch(v, act, t, m)
		if p.strategy == plan.ChronosClone && fresh {
			p.more(v, act, t, p.stages.Of(v.Task(t).Stage).clones, 0, sched.Cloning)
		}
	}
}

// more launches further attempts of a running task as far as there is room that no waiting task needs.
func (p *chronos) more(v *sched.View, act *sched.Actions, t sched.TaskID, n int, from float64, why sched.Reason) {
	for ; n > 0 && v.CloneRoom() > v.Pending() && v.AttemptRoom(t) > 0; n-- {
		m, _ := kit.Elsewhere(v, t)
		kit.Launch(act, t, m, from, why)
	}
}

// speculate does what is done at tau_est.
func (p *chronos) speculate(v *sched.View, act *sched.Actions, s sched.StageID, clones int) {
	for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
		p.help(v, act, s, t, clones)
	}
}

// help gives a task that is seen to end after its deadline the attempts that the strategy has for it.
func (p *chronos) help(v *sched.View, act *sched.Actions, s sched.StageID, t sched.TaskID, clones int) {
	a, row := p.Foremost(v, t)
	end, known := p.End(&row)
	if !known || end <= v.Job(v.Stage(s).Job).Deadline {
		return
	}
	if p.strategy != plan.ChronosResume {
		p.more(v, act, t, clones, 0, sched.Straggling)
		return
	}
	if v.Task(t).Live > 1 || !v.Rows().MayKill(a) {
		return
	}
	if p.Quiet.Silent(v, a) {
		p.Quiet.Strike(t)
	}
	p.Replace(v, act, a)
	p.order.Touch(v, v.Stage(s).Job)
	p.more(v, act, t, clones, v.Task(t).Saved, sched.Straggling)
}

// revive helps a task whose attempts all stand still. Where it may have no more, only the foremost of them goes on,
// since they are in the way of new ones.
func (p *chronos) revive(v *sched.View, act *sched.Actions, s sched.StageID, t sched.TaskID, clones int) {
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		if !p.Quiet.Silent(v, a) {
			return
		}
	}
	room := min(p.most+1-int(v.Task(t).Live), v.AttemptRoom(t))
	if p.strategy == plan.ChronosResume || room <= 0 {
		p.Prune(v, act, t)
	}
	p.help(v, act, s, t, min(clones, max(1, room)))
}

// settle does what is done at tau_kill.
func (p *chronos) settle(v *sched.View, act *sched.Actions, s sched.StageID) {
	for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
		if v.Task(t).Live > 1 {
			resume.KillAllBut(v, act, t, p.First(v, t), sched.Replaced)
		}
	}
}
