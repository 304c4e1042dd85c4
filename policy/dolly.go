package policy

// Dolly: Ananthanarayanan, Ghodsi, Shenker, Stoica, "Effective Straggler Mitigation: Attack of the Clones", NSDI 2013,
// section 3.
//
//	n         Job.Tasks
//	p         chance that a task straggles: share of recent tasks slower than slow (1.5) times the median of their stage; or a number given
//	eps       epsilon: how probable it may be that a job has a straggler
//	c         attempts of every task: the smallest c with 1-(1-p^c)^n <= eps, ceil(ln(1-(1-eps)^(1/n)) / ln p)
//	C, U      View.Slots, Cluster.Live
//	B         budget in use: c for every unfinished task of the jobs that are cloned
//	beta      budget, tau: threshold
//
//	when a job arrives: if c > 1, B + c n <= beta C and U + c n <= tau C, it is cloned: all its tasks get c attempts each, together; B += c n
//	otherwise its tasks get one attempt each, and it is never tried again
//
// whole=stage tries each stage by itself when the first of its tasks waits: n is Stage.Tasks, and c, B and U are of the
// stage. In a job of many stages one after the other the price of the whole job would be in the books while a part of
// it runs. The preset flutter+dolly has this.
//
// formula=shed is the literal form in Alamro et al. ("Shed"), ceil(ln(1-(1-eps)^(1/p)) / ln p) whatever the size of the
// job: preset dolly-shed, which has no budget but the slots.
//
// Readings. Jobs that arrive together are tried in order of their size, and so are stages. The price is c n, not (c-1)
// n, and a task's part of it is given back when its first attempt ends. Later stages of a cloned job have the same c; a
// task that waits for others gets all its attempts at once or, where slots or limits do not allow that, one. So does
// one whose attempts have all been lost. The limits on attempts bound c, and a job that the clone budget has no room
// for is not cloned. p is learnt from the last 1,000 stages that are over, from their tasks with a single attempt, so
// that clones do not hide the stragglers; before that it is prior. Delay assignment, for intermediate data, and the
// speculation under jobs that are not cloned are left out.
//
// An event costs O(log jobs), the end of a stage the sorting of its durations.

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailcut/tailcut/policy/internal/geo"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var dollyEntry = kit.Entry{
	Name:    "dolly",
	Summary: "clone all tasks of small jobs from the start, within a budget",
	Source:  "Ananthanarayanan et al., NSDI 2013, section 3",
	Params: []kit.Param{
		{Name: "epsilon", Kind: kit.Float, Default: "0.05", Min: 1e-9, Max: 0.999999, Help: "accepted probability that a job has a straggler"},
		{Name: "budget", Kind: kit.Float, Default: "0.05", Min: 0, Max: 1, Help: "attempts of cloned jobs, as a fraction of the slots"},
		{Name: "threshold", Kind: kit.Float, Default: "0.8", Min: 0, Max: 1, Help: "fraction of slots in use above which no job is cloned"},
		{Name: "p", Kind: kit.Float, Default: "0", Min: 0, Max: 0.999999, Help: "probability that a task straggles; 0 estimates it from finished tasks"},
		{Name: "prior", Kind: kit.Float, Default: "0.1", Min: 0, Max: 0.999999, Help: "initial value of that estimate"},
		{Name: "slow", Kind: kit.Float, Default: "1.5", Min: 1, Max: 1e6, Help: "a task straggles when it takes this multiple of the median"},
		{Name: "whole", Kind: kit.Choice, Default: "job", Choices: []string{"job", "stage"}, Help: "unit that is cloned as a whole or not at all"},
		{Name: "formula", Kind: kit.Choice, Default: "job", Choices: []string{"job", "shed"}, Help: "whether the number of attempts depends on the size of the job"},
		kit.OrderParam,
		sitesParam("any", "flutter", "iridium"),
	},
	WorkConserving: true,
	New:            newDolly,
}

type dolly struct {
	order kit.Order

	epsilon, budget, threshold float64
	p, slow                    float64 // p is 0 where it is learnt
	shed, stagewise            bool

	arrived []dollyUnit                       // in this call of Advance
	copies  sched.Table[sched.StageID, int32] // c of stages that are cloned
	spent   int                               // B
	seen    stragglers
	stages  kit.PerStage[dollyStage]
}

// dollyUnit is what is cloned as a whole: the stages first to last-1 of a job.
type dollyUnit struct {
	job         sched.JobID
	first, last sched.StageID
	tasks       uint32
}

// dollyStage has the durations of winners that had no clone.
type dollyStage struct {
	durations []sched.Time
	tried     bool // whether it is to be cloned has been decided, or will be in this call
}

func newDolly(a kit.Args) sched.Policy {
	return &dolly{
		order: sited(kit.NewOrder(a), a), epsilon: a.Float("epsilon"), budget: a.Float("budget"), threshold: a.Float("threshold"),
		p: a.Float("p"), slow: a.Float("slow"), shed: a.Choice("formula") == "shed", stagewise: a.Choice("whole") == "stage", seen: stragglers{prior: a.Float("prior")},
	}
}

// dollyCopies returns the smallest number c of attempts with (1-(1-p^c)^n) <= eps, at least 1. n is a real number for
// the sake of formula=shed. The ratio of logarithms is lowered a little, so that one which is whole but for rounding is
// not rounded up.
func dollyCopies(eps, p, n float64) int {
	if p <= 0 || n <= 0 {
		return 1
	}
	straggle := -math.Expm1(math.Log1p(-eps) / n) // 1-(1-eps)^(1/n), of one task
	return max(1, int(math.Ceil(min(math.Log(straggle)/math.Log(p), math.MaxInt32)-1e-9)))
}

func (p *dolly) watching() *geo.SiteWatch { return watchOf(&p.order) }

func (p *dolly) Observe(v *sched.View, ev *sched.Event) {
	p.order.Observe(v, ev)
	switch ev.Kind {
	case sched.JobArrived:
		p.come(v, ev.Job)
	case sched.JobContinued: // it may have arrived paused
		p.come(v, ev.Job)
		job := v.Job(ev.Job)
		for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
			if p.stages.Has(s) {
				p.try(v, s)
			}
		}
	case sched.StageReady:
		st := p.stages.Open(ev.Stage)
		st.durations, st.tried = st.durations[:0], false
		p.try(v, ev.Stage)
	case sched.TaskReady:
		p.try(v, ev.Stage)
	case sched.AttemptDone:
		p.spent -= int(p.copies.Get(ev.Stage))
		if a := v.Attempt(ev.Attempt); v.Task(ev.Task).Launched == 1 && a.From == 0 {
			st := p.stages.Of(ev.Stage)
			st.durations = append(st.durations, v.Now()-a.Started)
		}
	case sched.StageDone:
		p.seen.add(p.stages.Of(ev.Stage).durations, p.slow)
		p.stages.Close(ev.Stage)
		p.repay(v, ev.Stage) // of tasks that the stage does not need
	case sched.JobFailed, sched.JobCancelled:
		p.giveUp(v, ev.Job)
	}
}

// come has it decided whether a job is cloned that is not yet.
func (p *dolly) come(v *sched.View, j sched.JobID) {
	job := v.Job(j)
	if p.stagewise || p.copies.Get(job.FirstStage) > 0 {
		return
	}
	u := dollyUnit{j, job.FirstStage, job.FirstStage + sched.StageID(job.Stages), 0}
	for s := u.first; s < u.last; s++ {
		st := v.Stage(s)
		u.tasks += st.Tasks - st.Done
	}
	p.arrived = append(p.arrived, u)
}

// try has it decided whether a stage is cloned, once one of its tasks waits.
func (p *dolly) try(v *sched.View, s sched.StageID) {
	row := v.Stage(s)
	if st := p.stages.Of(s); p.stagewise && !st.tried && row.Pending > 0 {
		st.tried = true
		p.arrived = append(p.arrived, dollyUnit{row.Job, s, s + 1, row.Tasks - row.Done})
	}
}

// repay gives back what is left of the price of a stage.
func (p *dolly) repay(v *sched.View, s sched.StageID) {
	st := v.Stage(s)
	p.spent -= int(st.Tasks-st.Done) * int(p.copies.Get(s))
	p.copies.Drop(s)
}

// giveUp gives back what is left of the price of a job that has ended early.
func (p *dolly) giveUp(v *sched.View, j sched.JobID) {
	job := v.Job(j)
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		p.stages.Close(s)
		p.repay(v, s)
	}
}

func (p *dolly) Decide(v *sched.View, act *sched.Actions) {
	p.admit(v)
	for _, u := range p.arrived {
		for p.copies.Get(u.first) > 0 && p.pending(v, u) > 0 && v.FreeSlots() > 0 {
			t, m, ok := p.order.NextOf(v, u.job)
			if !ok {
				break
			}
			p.launch(v, act, t, m)
		}
	}
	p.arrived = p.arrived[:0]
	for {
		t, m, ok := p.order.Next(v)
		if !ok {
			return
		}
		p.launch(v, act, t, m)
	}
}

// pending counts the tasks that wait in what is cloned as a whole.
func (p *dolly) pending(v *sched.View, u dollyUnit) uint32 {
	if p.stagewise {
		return v.Stage(u.first).Pending
	}
	return v.Job(u.job).Pending
}

// admit decides which of the jobs or stages that have come are cloned, small ones first.
func (p *dolly) admit(v *sched.View) {
	slices.SortFunc(p.arrived, func(a, b dollyUnit) int {
		return cmp.Or(cmp.Compare(a.tasks, b.tasks), cmp.Compare(a.first, b.first))
	})
	chance := p.p
	if chance == 0 {
		chance = p.seen.share()
	}
	slots, used, room := float64(v.Slots()), v.Cluster().Live(), v.CloneRoom()
	for _, u := range p.arrived {
		if v.Job(u.job).State != sched.JobActive || p.pending(v, u) == 0 {
			continue
		}
		n := float64(u.tasks)
		if p.shed {
			n = chance
		}
		c := dollyCopies(p.epsilon, chance, n)
		if t, _ := kit.FirstPending(v, u.job); c > v.AttemptRoom(t) {
			c = v.AttemptRoom(t)
		}
		price, clones := c*int(u.tasks), (c-1)*int(p.pending(v, u))
		if c > 1 && clones <= room && float64(p.spent+price) <= p.budget*slots && float64(used+price) <= p.threshold*slots {
			for s := u.first; s < u.last; s++ {
				*p.copies.At(s) = int32(c)
			}
			p.spent += price
			used += price
			room -= clones
		}
	}
}

// launch starts a task on a machine: with c attempts if it is its first time and there is room for all, else with one.
func (p *dolly) launch(v *sched.View, act *sched.Actions, t sched.TaskID, m sched.MachineID) {
	c := int(p.copies.Get(v.Task(t).Stage))
	if v.Task(t).Launched > 0 || c > p.order.RoomBeside(v, m) || c > v.AttemptRoom(t) {
		c = 1
	}
	p.order.Launch(v, act, t, m)
	if c-1 > v.CloneRoom() {
		return
	}
	for range c - 1 {
		m, _ := p.order.Elsewhere(v, t)
		p.order.Clone(v, act, t, m, sched.Cloning)
	}
}

// stragglers counts the tasks of the last stages that are over, and those of them that straggled.
type stragglers struct {
	prior float64
	last  [1000]struct{ slow, tasks int32 }
	next  int // place in last
	slow  int
	tasks int
}

// add takes in the durations of a stage, which it sorts. A duration above slow times the median, the upper one, is a
// straggler's.
func (s *stragglers) add(durations []sched.Time, slow float64) {
	if len(durations) < 2 {
		return
	}
	slices.Sort(durations)
	limit := slow * float64(durations[len(durations)/2])
	n := len(durations)
	for n > 0 && float64(durations[n-1]) > limit {
		n--
	}
	x := &s.last[s.next]
	s.slow -= int(x.slow)
	s.tasks -= int(x.tasks)
	x.slow, x.tasks = int32(len(durations)-n), int32(len(durations))
	s.slow += int(x.slow)
	s.tasks += int(x.tasks)
	s.next = (s.next + 1) % len(s.last)
}

// share returns the fraction of the tasks that straggled.
func (s *stragglers) share() float64 {
	if s.tasks == 0 {
		return s.prior
	}
	return float64(s.slow) / float64(s.tasks)
}
