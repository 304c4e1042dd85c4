package policy

// ESE, enhanced speculative execution, for heavy load: Xu and Lau, "Optimization for Speculative Execution in a
// MapReduce-like Cluster", INFOCOM 2015.
//
//	N, chi, m_j, E_j  as in sca.go
//	t_rem             time left of an attempt by the linear estimate, as of its last report
//	E[x], sigma       mean of a task's stage; sigma, 0 for the one that the law of the stage asks for
//	eta, xi           eta, xi
//
//	in each slot of time:
//	  1  running tasks with one attempt and t_rem > sigma E[x] get a second, largest t_rem first
//	  2  waiting tasks of stages that have begun get one each, those of the job with the smallest remaining workload first
//	  3  stages of chi in order of m_j E_j: a small one, m_j < eta N/|chi| and E_j < xi times the mean task, gets the number of attempts that is best for it alone,
//	     as in SCA, if there are slots for all of them; the others get one each
//
// sigma* makes a duplicate worth its machine time: the root of w = 2 E[min(w, x)] with w = sigma E[x]. It is 1 + 1/sqrt
// 2 for a Pareto law of index 2.
//
// Readings beside those of sca.go. The mean task is that of all that have finished so far; before one has, every stage
// is short enough. A stage of which the mean is not known has no duplicates. The t_rem of an attempt that stands still
// grows, see kit.Silence.
//
// A slot of time costs O(w log w + d log d) for w stages with waiting tasks and d tasks that are late, and what it
// launches.

import (
	"cmp"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var eseEntry = kit.Entry{
	Name:    "ese",
	Family:  kit.Early,
	Clones:  "tasks with much time left; small jobs from the start",
	Cost:    "of a slot of time O(w log w + d log d) for w stages with waiting tasks and d late tasks",
	Summary: "duplicate tasks with much more time left than a mean task, then start small jobs with clones",
	Source:  "Xu and Lau, INFOCOM 2015: ESE",
	Params: []kit.Param{
		{Name: "sigma", Kind: kit.Float, Default: "0", Min: 0, Max: 1e6, Help: "mean durations left beyond which a task gets a duplicate; 0 for the best by the stage's law"},
		{Name: "eta", Kind: kit.Float, Default: "0.1", Min: 0, Max: 1e6, Help: "a small stage has fewer tasks than this fraction of the free slots per waiting stage"},
		{Name: "xi", Kind: kit.Float, Default: "1", Min: 0, Max: 1e6, Help: "and a mean duration below this multiple of the mean task"},
		{Name: "gamma", Kind: kit.Float, Default: "0.01", Max: 1e6, Help: "price of machine time in units of flow time"},
		{Name: "copies", Kind: kit.Int, Default: "8", Min: 1, Max: 1000, Help: "attempts of one task of a small stage"},
		kit.SlotOf("5s", "the paper's slots have no stated length; 5s is that of Xu et al., IEEE TPDS 2017, section 5.3"),
	},
	Progress: true,
	New: func(a kit.Args) sched.Policy {
		return &ese{
			Clock: kit.Clock{Slot: a.Span("slot")}, sigma: a.Float("sigma"), eta: a.Float("eta"), xi: a.Float("xi"),
			gamma: a.Float("gamma"), copies: a.Int("copies"),
		}
	},
}

type ese struct {
	kit.Clock
	sigma, eta, xi, gamma float64
	copies                int

	ends   kit.Ends
	stages kit.PerStage[eseStage]
	// stages by the instant until which a task of theirs has more than sigma E[x] left
	late  kit.Heap[kit.Falling[sched.Time]]
	sum   float64 // of the durations of all winners, seconds
	count float64

	begun, fresh waves     // of this decision
	found        []eseLate // of this decision: tasks that are late
	buf          []int
}

// eseLate is a task that is late, and the time that it has left.
type eseLate struct {
	left sched.Time
	task sched.TaskID
}

type eseStage struct {
	id   sched.StageID
	ends kit.Heap[kit.Falling[sched.Time]] // tasks with one attempt, by their numbers in the stage
	// for which age is its StragglerAge: a search, and the law of a stage seldom changes
	law kit.Pareto
	age float64
}

func (p *ese) Observe(v *sched.View, ev *sched.Event) {
	p.ends.Observe(v, ev)
	switch ev.Kind {
	case sched.StageReady:
		st := p.stages.Open(ev.Stage)
		st.id = ev.Stage
		st.ends.Clear()
	case sched.AttemptDone:
		a := v.Attempt(ev.Attempt)
		if d, ok := sched.Whole(v.Now()-a.Started, a.From); ok {
			p.sum += d
			p.count++
		}
		p.place(v, p.stages.Of(ev.Stage), ev.Task)
	case sched.AttemptProgress, sched.AttemptTaken, sched.AttemptFailed, sched.AttemptLost:
		p.place(v, p.stages.Of(ev.Stage), ev.Task)
	case sched.JobPaused, sched.JobContinued:
		kit.Reconsider(v, ev, func(t sched.TaskID) { p.place(v, p.stages.Of(v.Task(t).Stage), t) })
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		p.late.End(v, ev)
		p.stages.End(v, ev)
	}
}

// place puts a task in the order of its stage if it may get a duplicate.
func (p *ese) place(v *sched.View, st *eseStage, t sched.TaskID) {
	id := int(t - v.Stage(st.id).First)
	if end, ok := p.ends.Task(v, t); ok && v.Task(t).Live == 1 && v.AttemptRoom(t) > 0 {
		st.ends.Set(id, kit.Falling[sched.Time]{X: end})
	} else {
		st.ends.Drop(id)
	}
	p.rank(v, st)
}

// rank notes until when a task of the stage is late.
func (p *ese) rank(v *sched.View, st *eseStage) {
	if limit := p.limit(v, st); st.ends.Len() > 0 && st.ends.TopKey().X > limit {
		p.late.Set(int(st.id), kit.Falling[sched.Time]{X: st.ends.TopKey().X - limit})
	} else {
		p.late.Drop(int(st.id))
	}
}

// limit returns the time left beyond which a task of the stage is late.
func (p *ese) limit(v *sched.View, st *eseStage) sched.Time {
	stage := v.Stage(st.id)
	mean, sd, ok := stage.Estimate()
	switch {
	case !ok:
		return sched.Never
	case p.sigma > 0:
		return sched.FromSeconds(p.sigma * mean)
	default:
		if law := kit.FitPareto(mean, sd); law != st.law {
			st.law, st.age = law, law.StragglerAge()
		}
		return sched.FromSeconds(st.age * mean)
	}
}

func (p *ese) Decide(v *sched.View, act *sched.Actions) {
	p.ends.Look(v, act, func(s sched.StageID, t sched.TaskID) { p.place(v, p.stages.Of(s), t) })
	if !p.Begins(v, act) || v.FreeSlots() == 0 {
		return
	}
	p.duplicate(v, act)
	if v.Pending() == 0 {
		return
	}
	p.begun, p.fresh = gather(v, p.begun[:0], p.fresh[:0])
	for i := range p.begun {
		p.begun[i].start(v, act)
	}
	small := p.eta * float64(v.FreeSlots()) / float64(len(p.fresh))
	for i := range p.fresh {
		x := &p.fresh[i]
		c := 1
		if float64(x.tasks) < small && (p.count == 0 || x.work/float64(x.tasks) < p.xi*p.sum/p.count) {
			c = p.best(x, v.FreeSlots())
		}
		x.start(v, act)
		for x.copies < c && x.tasks <= v.CloneRoom() && p.roomy(v, x) {
			x.again(v, act)
		}
	}
}

// roomy tells whether the limits allow the tasks of a stage that has just started another attempt.
func (p *ese) roomy(v *sched.View, x *wave) bool {
	t, ok := v.RunningTask(x.stage, 0)
	return ok && v.AttemptRoom(t) > 0
}

// best returns the number of attempts of each task that is best for a stage which has so many slots.
func (p *ese) best(x *wave, slots int) int {
	c := 1
	for c < p.copies && (c+1)*x.tasks <= slots && x.law.Cost(c+1, x.tasks, p.gamma) < x.law.Cost(c, x.tasks, p.gamma) {
		c++
	}
	return c
}

// duplicate gives late tasks their second attempt.
func (p *ese) duplicate(v *sched.View, act *sched.Actions) {
	now := v.Now()
	p.found = p.found[:0]
	ids, _, _ := p.late.Within(kit.Falling[sched.Time]{X: now + 1}, p.buf[:0])
	stages := len(ids)
	for _, s := range ids[:stages] {
		st := p.stages.Of(sched.StageID(s))
		ids, _, _ = st.ends.Within(kit.Falling[sched.Time]{X: now + p.limit(v, st) + 1}, ids[:stages])
		for _, n := range ids[stages:] {
			t := v.Stage(st.id).First + sched.TaskID(n)
			p.found = append(p.found, eseLate{st.ends.Key(n).X - now, t})
		}
	}
	p.buf = ids[:0]
	slices.SortFunc(p.found, func(a, b eseLate) int {
		return cmp.Or(cmp.Compare(b.left, a.left), cmp.Compare(a.task, b.task))
	})
	for _, x := range p.found {
		if v.CloneRoom() == 0 {
			return
		}
		if v.AttemptRoom(x.task) > 0 { // as when it was placed
			m, _ := kit.Elsewhere(v, x.task)
			kit.Launch(act, x.task, m, 0, sched.Straggling)
		}
		p.place(v, p.stages.Of(v.Task(x.task).Stage), x.task)
	}
}
