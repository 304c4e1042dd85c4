package policy

// Mantri: Ananthanarayanan, Kandula, Greenberg, Stoica, Lu, Saha, Harris, "Reining in the Outliers in Map-Reduce
// Clusters using Mantri", OSDI 2010, section 5.1.
//
//	t_rem     time left of a task: that of its quickest attempt by the linear estimate, as of its last report
//	t_new     duration of another attempt: tnew, see kit.TNew
//	c         attempts of the task that run
//	Delta     period
//	delta     delta: chance that a duplicate saves slots
//	gamma     restarts: how often a task may be killed and started anew
//	rho       rho
//	limit 3   copies
//
//	a free slot goes to a job by order that has fresh tasks or a use for it. For the stage of its next fresh task, and as long as one of these
//	holds there, the task with the largest t_rem first:
//	  t_rem > E[t_new] + Delta                          kill the task's only attempt and start it anew (restart=true)
//	  P(t_rem > t_new (c+1)/c) > delta                  duplicate it
//	then the fresh task. When no fresh task of the job waits:
//	  idle=rho    E[t_rem - t_new] > rho Delta          duplicate
//	  idle=delta  the rule with delta                   duplicate
//	a task gets no further duplicate, nor is it restarted, while one is younger than Delta; once it is not, only the two attempts with the smallest t_rem are kept
//
// Xu et al. (TPDS 2017) compare with the rule with delta alone, whether tasks wait or not: preset mantri-dup.
//
// Readings. tnew=all: the paper takes the rate of processing of all tasks of the phase for t_new, and finished tasks
// alone are the short ones. clones=job: Mantri is a part of the job manager of Dryad, which knows the fresh tasks of
// its own job; clones=cluster applies the rule for idle slots only when no job has a fresh task, and then to the
// stage with the largest t_rem - t_new of all. The paper's pseudocode keeps the two fastest attempts of a task once
// the newest is old enough, so there are three at times: copies=3. copies=2 and restart=false kill nothing.
//
// The chance is taken over what tnew counts: t_rem c/(c+1) is above more than a fraction delta of it. The last
// rule of the paper's figure has the difference the other way round, which cannot be meant. An attempt of which
// nothing is known counts as the slowest; a task of which nothing is known, not even silence, is never a straggler,
// nor is any while nothing is known of t_new. Without input sizes fresh tasks go in order of their numbers. When no
// fresh task waits, the stage with the largest t_rem - t_new goes first. Placement in the network and the protection
// of outputs are other parts of Mantri. The paper's tasks report at all times; here one that stands still has a t_rem
// that grows, see kit.Silence.
//
// Every rule compares the instant at which a task would end with now plus a threshold of its stage, so an order of the
// stage's tasks by that instant answers all. An event costs O(log tasks of the stage + log stages).

import (
	"fmt"

	"github.com/tailcut/tailcut/policy/internal/geo"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var mantriEntry = kit.Entry{
	Name:    "mantri",
	Family:  kit.Stragglers,
	Clones:  "tasks with long to go",
	Cost:    "O(log tasks of the stage + log stages)",
	Summary: "restart or duplicate outliers when that saves time and slots",
	Source:  "Ananthanarayanan et al., OSDI 2010, section 5.1",
	Params: []kit.Param{
		{Name: "delta", Kind: kit.Float, Default: "0.25", Min: 0, Max: 1, Help: "chance of saving slots above which a task is duplicated"},
		{Name: "period", Kind: kit.Span, Default: "10s", Min: 0, Max: 1e6, Help: "Delta, the time between reports"},
		{Name: "rho", Kind: kit.Float, Default: "3", Min: 0, Max: 1e6, Help: "periods that a duplicate must gain when no task waits"},
		{Name: "idle", Kind: kit.Choice, Default: "rho", Choices: []string{"rho", "delta"}, Help: "which rule holds when no task waits"},
		{Name: "restart", Kind: kit.Bool, Default: "true", Help: "kill and restart outliers while tasks wait"},
		{Name: "restarts", Kind: kit.Int, Default: "3", Min: 0, Max: 255, Help: "restarts of one task"},
		{Name: "copies", Kind: kit.Int, Default: "3", Min: 1, Max: 3, Help: "attempts of one task running at once; of three the slowest is killed after a period"},
		kit.TNewParam("all"),
		kit.ClonesParam,
		kit.OrderParam,
		sitesParam("any", "flutter", "iridium"),
	},
	Progress:       true,
	WorkConserving: true,
	New:            newMantri,
}

type mantri struct {
	order kit.Order

	rho                     float64
	period                  sched.Time
	idleRho, kills, cluster bool
	restarts                uint8
	copies                  uint16

	ends   kit.Ends
	news   kit.TNew
	stages kit.PerStage[mantriStage]
	// stages by the instant until which a task of theirs is late in the sense of the rule for idle slots
	late  kit.Heap[kit.Falling[sched.Time]]
	idle  kit.Heap[kit.Standing] // jobs with such a stage and no fresh task
	lists kit.Lists
	young kit.List                         // duplicates younger than Delta, by start
	spent sched.Table[sched.TaskID, uint8] // restarts of a task
}

type mantriStage struct {
	id sched.StageID
	// Tasks that may be duplicated, by their numbers in the stage: with one attempt that may be restarted, with one
	// that may not, with more.
	fresh, tired, several kit.Heap[kit.Falling[sched.Time]]
}

func newMantri(a kit.Args) sched.Policy {
	return &mantri{
		order: sited(kit.NewOrder(a), a), rho: a.Float("rho"), period: a.Span("period"), idleRho: a.Choice("idle") == "rho",
		kills: a.Bool("restart"), cluster: a.Choice("clones") == "cluster", restarts: uint8(a.Int("restarts")), copies: uint16(a.Int("copies")),
		news: kit.NewTNewShare(a, a.Float("delta")),
	}
}

func (p *mantri) watching() *geo.SiteWatch { return watchOf(&p.order) }

// Confines tells whether the sites are chosen.
func (p *mantri) Confines() bool { return p.order.Confines() }

func (p *mantri) Observe(v *sched.View, ev *sched.Event) {
	p.order.Observe(v, ev)
	p.ends.Observe(v, ev)
	p.news.Observe(v, ev, &p.ends)
	switch ev.Kind {
	case sched.StageReady:
		st := p.stages.Open(ev.Stage)
		st.id = ev.Stage
		st.fresh.Clear()
		st.tired.Clear()
		st.several.Clear()
	case sched.AttemptDone:
		st := p.stages.Of(ev.Stage)
		p.lists.Remove(ev.Attempt)
		p.place(v, st, ev.Task)
	case sched.AttemptProgress:
		p.place(v, p.stages.Of(ev.Stage), ev.Task)
	case sched.AttemptBegan, sched.AttemptTaken:
		if a := v.Attempt(ev.Attempt); a.Clone && !a.Waiting {
			p.lists.InsertByStart(&p.young, ev.Attempt, ev.Task, a.Started)
		}
		p.place(v, p.stages.Of(ev.Stage), ev.Task)
	case sched.AttemptFailed, sched.AttemptLost:
		p.lists.Remove(ev.Attempt)
		p.place(v, p.stages.Of(ev.Stage), ev.Task)
	case sched.JobPaused, sched.JobContinued:
		kit.Reconsider(v, ev, func(t sched.TaskID) { p.place(v, p.stages.Of(v.Task(t).Stage), t) })
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.late.End(v, ev)
		p.stages.End(v, ev)
	case sched.JobRetired:
		kit.DropTasks(&p.spent, v, ev.Job)
		p.idle.Drop(int(ev.Job))
		return
	case sched.MachineJoined, sched.MachineLost, sched.MachineResized, sched.TimerFired, sched.DataFetched:
		return
	}
	p.touch(v, ev.Job)
}

// touch looks again whether a job has a use for an idle slot.
func (p *mantri) touch(v *sched.View, j sched.JobID) {
	if p.cluster {
		return
	}
	if job := v.Job(j); job.State == sched.JobActive && job.Pending == 0 && p.late.Len() > 0 {
		if _, ok := p.latestOf(&job); ok {
			p.idle.Set(int(j), p.order.Standing(v, j, &job))
			return
		}
	}
	p.idle.Drop(int(j))
}

// latestOf returns the stage of a job that has the latest task by the rule for idle slots.
func (p *mantri) latestOf(job *sched.Job) (latest sched.StageID, ok bool) {
	until := sched.Time(0)
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		if p.late.Has(int(s)) && p.late.Key(int(s)).X > until {
			latest, until, ok = s, p.late.Key(int(s)).X, true
		}
	}
	return latest, ok
}

// place puts a task where it belongs now: into one of its stage's orders or, if it may not be duplicated, into none.
// What is known of t_new may have changed as well.
func (p *mantri) place(v *sched.View, st *mantriStage, t sched.TaskID) {
	task := v.Task(t)
	id := int(t - v.Stage(st.id).First)
	var to *kit.Heap[kit.Falling[sched.Time]]
	end, ok := sched.Time(0), false
	if task.State == sched.TaskRunning && task.Live < p.copies && v.AttemptRoom(t) > 0 && !p.order.Kept(v, t) {
		if newest, _ := v.FirstAttempt(t); p.lists.ListOf(newest) == nil && !v.Rows().Waiting(newest) {
			end, ok = p.ends.Task(v, t)
		}
	}
	if ok {
		switch {
		case task.Live > 1:
			to = &st.several
		case p.kills && p.spent.Get(t) < p.restarts:
			to = &st.fresh
		default:
			to = &st.tired
		}
	}
	for _, h := range [...]*kit.Heap[kit.Falling[sched.Time]]{&st.fresh, &st.tired, &st.several} {
		if h == to {
			h.Set(id, kit.Falling[sched.Time]{X: end})
		} else if h.Has(id) {
			h.Drop(id)
		}
	}
	p.rank(v, st)
}

// rank notes until when a task of the stage is late enough for an idle slot.
func (p *mantri) rank(v *sched.View, st *mantriStage) {
	until, _ := p.latest(v, st, p.idleRho)
	if until <= v.Now() {
		p.late.Drop(int(st.id))
		return
	}
	p.late.Set(int(st.id), kit.Falling[sched.Time]{X: until})
}

// latest returns the task that a rule for duplicates, that with rho or that with delta, prefers, and the instant until
// which the rule holds for it; 0 for none.
func (p *mantri) latest(v *sched.View, st *mantriStage, byRho bool) (until sched.Time, t sched.TaskID) {
	stage := v.Stage(st.id)
	mean, ok := p.news.Mean(st.id, &stage)
	saving := 0.0
	if ok && !byRho {
		saving, ok = p.news.Quantile(st.id, &stage)
	}
	if !ok {
		return 0, 0
	}
	end := sched.Time(0)
	for _, h := range [...]*kit.Heap[kit.Falling[sched.Time]]{&st.fresh, &st.tired, &st.several} {
		if h.Len() == 0 || h.TopKey().X <= end {
			continue
		}
		task := stage.First + sched.TaskID(h.Top())
		limit := mean + p.rho*p.period.Seconds()
		if c := float64(v.Task(task).Live); !byRho {
			limit = saving * (c + 1) / c
		}
		if x := h.TopKey().X - min(sched.FromSeconds(limit), h.TopKey().X); x > v.Now() {
			until, t, end = x, task, h.TopKey().X
		}
	}
	return until, t
}

func (p *mantri) Decide(v *sched.View, act *sched.Actions) {
	p.prune(v, act)
	p.ends.Look(v, act, func(s sched.StageID, t sched.TaskID) {
		p.news.JudgeTask(v, t, &p.ends)
		p.place(v, p.stages.Of(s), t)
		p.touch(v, v.Stage(s).Job)
	})
	for fresh := true; v.FreeSlots() > 0; {
		if p.idle.Len() > 0 && v.CloneRoom() > 0 && !(fresh && p.order.Ahead(&p.idle)) {
			job := v.Job(sched.JobID(p.idle.Top()))
			s, _ := p.latestOf(&job)
			p.speculate(v, act, s)
			continue
		}
		if !fresh {
			break
		}
		fresh = p.fill(v, act)
	}
	for v.Pending() == 0 && p.cluster && p.late.Len() > 0 && v.CloneRoom() > 0 {
		p.speculate(v, act, sched.StageID(p.late.Top()))
	}
	if l := p.lists.First(&p.young); l != nil {
		act.WakeAt(p.grown(l))
	}
}

// fill gives a free slot to the job of the next fresh task: to its stage's latest task, or to the fresh one.
func (p *mantri) fill(v *sched.View, act *sched.Actions) bool {
	t, m, ok := p.order.Next(v)
	if !ok {
		return false
	}
	if st := p.stages.Of(v.Task(t).Stage); !p.restart(v, act, st) && !p.duplicate(v, act, st, false) {
		p.order.Launch(v, act, t, m)
		p.touch(v, v.Rows().JobOf(t))
	}
	return true
}

// speculate gives a free slot to the latest task of a stage by the rule for idle slots, if it still holds.
func (p *mantri) speculate(v *sched.View, act *sched.Actions, s sched.StageID) {
	st := p.stages.Of(s)
	if p.duplicate(v, act, st, p.idleRho) {
		return
	}
	if p.rank(v, st); p.order.Placing() != nil {
		p.late.Drop(int(s)) // the site has no room: at the next report of the stage there may be
	}
	p.touch(v, v.Stage(s).Job)
}

// grown returns the instant at which a duplicate is old enough.
func (p *mantri) grown(l *kit.Link) sched.Time {
	return l.Started + min(p.period, sched.Never-l.Started)
}

// prune keeps the two quickest attempts of tasks whose last duplicate has become old enough.
func (p *mantri) prune(v *sched.View, act *sched.Actions) {
	for l := p.lists.First(&p.young); l != nil && p.grown(l) <= v.Now(); l = p.lists.First(&p.young) {
		t := l.Task
		p.lists.Unlink(l)
		for v.Task(t).Live > 2 {
			a := p.slowest(v, t)
			if !v.Rows().MayKill(a) {
				break
			}
			p.lists.Remove(a)
			p.ends.Forget(a)
			kill(act, a, sched.Replaced)
		}
		p.order.Touch(v, v.Rows().JobOf(t))
		p.place(v, p.stages.Of(v.Task(t).Stage), t)
		p.touch(v, v.Rows().JobOf(t))
	}
}

// slowest returns the attempt of a task that would end last, the youngest of equals.
func (p *mantri) slowest(v *sched.View, t sched.TaskID) (slowest sched.AttemptID) {
	last := sched.Time(-1)
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		end, known := p.ends.Of(a)
		if !known {
			end = sched.Never
		}
		if end > last {
			slowest, last = a, end
		}
	}
	return slowest
}

// restart kills the only attempt of the stage's latest task and starts it anew in a free slot if that ends more than
// Delta earlier.
func (p *mantri) restart(v *sched.View, act *sched.Actions, st *mantriStage) bool {
	stage := v.Stage(st.id)
	mean, ok := p.news.Mean(st.id, &stage)
	if !ok || st.fresh.Len() == 0 || st.fresh.TopKey().X <= kit.Later(kit.Later(v.Now(), mean), p.period.Seconds()) {
		return false
	}
	t := stage.First + sched.TaskID(st.fresh.Top())
	m, ok := p.order.Elsewhere(v, t)
	a, _ := v.FirstAttempt(t)
	if !ok || !v.Rows().MayKill(a) {
		return false
	}
	p.ends.Forget(a)
	p.lists.Remove(a)
	kill(act, a, sched.Replaced)
	kit.Launch(act, t, m, v.Task(t).Saved, sched.Straggling)
	*p.spent.At(t)++
	p.order.Touch(v, stage.Job)
	p.place(v, st, t)
	p.touch(v, stage.Job)
	return true
}

// duplicate starts another attempt of the stage's latest task if a rule says so, that with rho or that with delta.
func (p *mantri) duplicate(v *sched.View, act *sched.Actions, st *mantriStage, byRho bool) bool {
	until, t := p.latest(v, st, byRho)
	if until <= v.Now() || v.CloneRoom() == 0 {
		return false
	}
	if v.AttemptRoom(t) == 0 { // its job had room when it was placed
		p.place(v, st, t)
		return false
	}
	m, ok := p.order.Elsewhere(v, t)
	if !ok {
		return false
	}
	if a := p.order.Clone(v, act, t, m, sched.Straggling); !v.Rows().Waiting(a) {
		p.lists.Append(&p.young, a, t, v.Now())
	}
	p.place(v, st, t)
	p.touch(v, v.Stage(st.id).Job)
	return true
}

// kill gives an order that the view allows.
func kill(act *sched.Actions, a sched.AttemptID, why sched.Reason) {
	if err := act.Kill(a, why); err != nil {
		panic(fmt.Sprintf("policy: kill attempt %d (%v): %v", a, why, err))
	}
}
