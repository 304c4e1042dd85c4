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
// under=late, the default, and under=mantri are what stragglers of jobs that are not cloned get: the paper adds cloning
// to clusters that speculate so, LATE's on Hadoop, and keeps that for the jobs that are not cloned. The policy
// underneath sees no task of a cloned job and counts none of its clones. under=none leaves stragglers alone: the
// presets, whose authors do not mention it.
//
// formula=shed is the literal form in Alamro et al. ("Shed"), ceil(ln(1-(1-eps)^(1/p)) / ln p) whatever the size of the
// job: preset dolly-shed, which has no budget but the slots.
//
// Readings. Jobs that arrive together are tried in order of their size, and so are stages. The price is c n, not (c-1)
// n, and a task's part of it is given back when its first attempt ends. Later stages of a cloned job have the same c; a
// task that waits for others gets all its attempts at once or, where slots or limits do not allow that, one. So does
// one whose attempts have all been lost. The limits on attempts bound c, and a job that the clone budget has no room
// for is not cloned; both are counted. p is learnt from the last 1,000 stages that are over, from their tasks with a
// single attempt, so that clones do not hide the stragglers; before that it is prior. A task that was speculated counts
// for as long as the oldest attempt that still ran. Delay assignment, for intermediate data, is left out.
//
// The default limits on clones follow budget, and the cap of LATE underneath; see sched.Bounded.
//
// An event costs O(log jobs), the end of a stage the sorting of its durations.

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/policy/internal/geo"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var dollyEntry = kit.Entry{
	Name:    "dolly",
	Family:  kit.Early,
	Clones:  "all tasks of small jobs, from the start",
	Cost:    "O(log jobs); the end of a stage the sorting of its durations",
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
		{Name: "under", Kind: kit.Choice, Default: "late", Choices: []string{"late", "mantri", "none"}, Help: "what clones the stragglers of jobs that are not cloned from the start"},
		{Name: "min_age", Kind: kit.Span, Default: "60s", Help: "with under=late, younger attempts are never cloned"},
		kit.OrderParam,
		sitesParam("any", "flutter", "iridium"),
	},
	ProgressIf:     func(a kit.Args) bool { return a.Choice("under") != "none" },
	WorkConserving: true,
	New:            newDolly,
}

type dolly struct {
	order *kit.Order   // of its own, or that of the policy underneath
	under sched.Policy // nil for none

	epsilon, budget, threshold float64
	p, slow                    float64 // p is 0 where it is learnt
	shed, stagewise            bool

	arrived []dollyUnit                       // in this call of Advance
	copies  sched.Table[sched.StageID, int32] // c of stages that are cloned
	extra   sched.Table[sched.StageID, int32] // and how many clones of theirs run
	running int                               // the sum of extra
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
	p := &dolly{
		epsilon: a.Float("epsilon"), budget: a.Float("budget"), threshold: a.Float("threshold"),
		p: a.Float("p"), slow: a.Float("slow"), shed: a.Choice("formula") == "shed", stagewise: a.Choice("whole") == "stage", seen: stragglers{prior: a.Float("prior")},
	}
	order := sited(kit.NewOrder(a), a)
	switch p.order = &order; a.Choice("under") {
	case "late":
		under := newLate(settings(lateEntry, "min_age="+a.Get("min_age"))).(*late)
		p.under, p.order, under.order = under, &under.order, order
	case "mantri":
		under := newMantri(settings(mantriEntry, "")).(*mantri)
		p.under, p.order, under.order = under, &under.order, order
	}
	p.order.LedBy(p)
	return p
}

// settings returns parameters of another policy.
func settings(e kit.Entry, text string) kit.Args {
	a, err := e.Parse(text)
	if err != nil {
		panic(fmt.Sprintf("policy: %s:%s: %v", e.Name, text, err))
	}
	return a
}

// Bounds are the budget, which counts originals too, and LATE's.
func (p *dolly) Bounds() sched.Bounds {
	b := sched.Bounds{Attempts: sched.Unlimited, Clones: p.budget}
	if under, ok := p.under.(*late); ok {
		b.Clones += under.cap
	}
	return b
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

func (p *dolly) watching() *geo.SiteWatch { return watchOf(p.order) }

// Confines tells whether the sites are chosen; the policy underneath has the same order.
func (p *dolly) Confines() bool { return p.order.Confines() }

func (p *dolly) Observe(v *sched.View, ev *sched.Event) {
	if p.under != nil {
		p.under.Observe(v, ev)
	} else {
		p.order.Observe(v, ev)
	}
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
		p.measure(v, ev)
		p.count(v, ev.Stage)
	case sched.AttemptFailed, sched.AttemptLost, sched.AttemptTaken:
		p.count(v, ev.Stage)
	case sched.StageDone:
		p.seen.add(p.stages.Of(ev.Stage).durations, p.slow)
		p.stages.Close(ev.Stage)
		p.repay(v, ev.Stage) // of tasks that the stage does not need
	case sched.JobFailed, sched.JobCancelled:
		p.giveUp(v, ev.Job)
	}
}

// measure takes in how long a task took, if clones did not hide it.
func (p *dolly) measure(v *sched.View, ev *sched.Event) {
	row, task := v.Attempt(ev.Attempt), v.Task(ev.Task)
	began := row.Started
	if speculated := p.under != nil && p.copies.Get(ev.Stage) == 0; !speculated && task.Launched > 1 || row.From > 0 {
		return
	}
	for a, ok := v.FirstAttempt(ev.Task); ok; a, ok = v.NextAttempt(a) {
		began = min(began, v.Attempt(a).Started)
	}
	st := p.stages.Of(ev.Stage)
	st.durations = append(st.durations, v.Now()-began)
}

// count counts the clones of a stage that run.
func (p *dolly) count(v *sched.View, s sched.StageID) {
	if p.copies.Get(s) == 0 {
		return
	}
	st, n := v.Stage(s), p.extra.At(s)
	now := int32(st.Live) - int32(st.Running)
	p.running += int(now - *n)
	*n = now
}

// Keeps tells whether a task is of a job that is cloned.
func (p *dolly) Keeps(v *sched.View, t sched.TaskID) bool { return p.copies.Get(v.Task(t).Stage) > 0 }

// Clones returns how many clones of cloned jobs run.
func (p *dolly) Clones() int { return p.running }

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
	p.running -= int(p.extra.Get(s))
	p.extra.Drop(s)
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
	p.admit(v, act)
	for _, u := range p.arrived {
		for p.copies.Get(u.first) > 0 && p.pending(v, u) > 0 && v.FreeSlots() > 0 {
			t, m, ok := p.order.NextOf(v, u.job)
			if !ok {
				break
			}
			p.order.Launch(v, act, t, m)
		}
	}
	p.arrived = p.arrived[:0]
	if p.under != nil {
		p.under.Decide(v, act)
		return
	}
	p.order.Fill(v, act)
}

// pending counts the tasks that wait in what is cloned as a whole.
func (p *dolly) pending(v *sched.View, u dollyUnit) uint32 {
	if p.stagewise {
		return v.Stage(u.first).Pending
	}
	return v.Job(u.job).Pending
}

// admit decides which of the jobs or stages that have come are cloned, small ones first.
func (p *dolly) admit(v *sched.View, act *sched.Actions) {
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
		t, _ := kit.FirstPending(v, u.job)
		most := min(c, v.AttemptRoom(t))
		if limit := v.Cluster().Limits().Attempts; limit >= 0 && c > limit {
			act.Withhold((c - most) * int(p.pending(v, u)))
		}
		c = most
		price, clones := c*int(u.tasks), (c-1)*int(p.pending(v, u))
		fits := c > 1 && float64(p.spent+price) <= p.budget*slots && float64(used+price) <= p.threshold*slots
		if fits && clones > room {
			act.Withhold(clones)
		} else if fits {
			for s := u.first; s < u.last; s++ {
				*p.copies.At(s) = int32(c)
			}
			p.spent += price
			used += price
			room -= clones
		}
	}
}

// Start starts a task on a machine: with c attempts if it is its first time and there is room for all, else with one.
func (p *dolly) Start(v *sched.View, act *sched.Actions, t sched.TaskID, m sched.MachineID) sched.AttemptID {
	s := v.Task(t).Stage
	c := int(p.copies.Get(s))
	if v.Task(t).Launched > 0 || c > p.order.RoomBeside(v, m) || c > v.AttemptRoom(t) {
		c = 1
	}
	first := kit.Start(v, act, t, m)
	if c-1 <= v.CloneRoom() {
		for range c - 1 {
			m, _ := p.order.Elsewhere(v, t)
			p.order.Clone(v, act, t, m, sched.Cloning)
		}
	}
	p.count(v, s)
	return first
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
