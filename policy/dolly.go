package policy

// Dolly: Ananthanarayanan, Ghodsi, Shenker, Stoica, "Effective Straggler Mitigation: Attack of the Clones", NSDI 2013, section 3.
//
//	n         Job.Tasks
//	p         chance that a task straggles: share of recent tasks slower than slow (1.5) times the median of their stage; or a number given
//	eps       epsilon: how probable it may be that a job has a straggler
//	c         attempts of every task: the smallest c with 1-(1-p^c)^n <= eps, ceil(ln(1-(1-eps)^(1/n)) / ln p)
//	C, U      View.Slots, View.Live
//	B         budget in use: c for every unfinished task of the jobs that are cloned
//	beta      budget, tau: threshold
//
//	when a job arrives: if c > 1, B + c n <= beta C and U + c n <= tau C, it is cloned: all its tasks get c attempts each, together; B += c n
//	otherwise its tasks get one attempt each, and it is never tried again
//
// formula=shed is the literal form in Alamro et al. ("Shed"), ceil(ln(1-(1-eps)^(1/p)) / ln p) whatever the size of the job: preset dolly-shed, which has
// no budget but the slots.
//
// Readings. Jobs that arrive together are tried in order of their size. The price is c n, not (c-1) n, and a task's part of it is given back when
// its first attempt ends. Later stages of a cloned job have the same c; a task of theirs gets all its attempts at once or, where slots or limits do not
// allow that, one. So does one whose attempts have all been lost. The limits on attempts bound c, and a job that the clone budget has no room for is not
// cloned. p is learnt from the last 1,000 stages that are over, from their tasks with a single attempt, so that clones do not hide the stragglers; before that it
// is prior. Delay assignment, for intermediate data, and the speculation under jobs that are not cloned are left out.
//
// An event costs O(log jobs), the end of a stage the sorting of its durations.

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

var dollyEntry = Entry{
	Name:    "dolly",
	Summary: "clone all tasks of small jobs from the start, within a budget",
	Source:  "Ananthanarayanan et al., NSDI 2013, section 3",
	Params: []Param{
		{Name: "epsilon", Kind: Float, Default: "0.05", Min: 1e-9, Max: 0.999999, Help: "accepted probability that a job has a straggler"},
		{Name: "budget", Kind: Float, Default: "0.05", Min: 0, Max: 1, Help: "attempts of cloned jobs, as a fraction of the slots"},
		{Name: "threshold", Kind: Float, Default: "0.8", Min: 0, Max: 1, Help: "slots in use beyond which no job is cloned, as a fraction"},
		{Name: "p", Kind: Float, Default: "0", Min: 0, Max: 0.999999, Help: "probability that a task straggles; 0 learns it"},
		{Name: "prior", Kind: Float, Default: "0.1", Min: 0, Max: 0.999999, Help: "the same until there is something to learn from"},
		{Name: "slow", Kind: Float, Default: "1.5", Min: 1, Max: 1e6, Help: "multiple of the median from which on a task straggles"},
		{Name: "formula", Kind: Choice, Default: "job", Choices: []string{"job", "shed"}, Help: "whether the number of attempts depends on the size of the job"},
		orderParam,
		sitesParam("any", "flutter", "iridium"),
	},
	WorkConserving: true,
	New:            newDolly,
}

type dolly struct {
	order jobOrder

	epsilon, budget, threshold float64
	p, slow                    float64 // p is 0 where it is learnt
	shed                       bool

	arrived []sched.JobID // in this call of Advance
	copies  []int32       // by JobID: c of a cloned job, else 0
	spent   int           // B
	seen    stragglers
	stages  perStage[dollyStage]
}

// dollyStage has the durations of winners that had no clone.
type dollyStage struct{ durations []sched.Time }

func newDolly(a Args) sched.Policy {
	return &dolly{
		order: sited(ordered(a), a), epsilon: a.Float("epsilon"), budget: a.Float("budget"), threshold: a.Float("threshold"),
		p: a.Float("p"), slow: a.Float("slow"), shed: a.Choice("formula") == "shed", seen: stragglers{prior: a.Float("prior")},
	}
}

// dollyCopies returns the smallest number c of attempts with (1-(1-p^c)^n) <= eps, at least 1. n is a real number for the sake of formula=shed. The ratio of logarithms is lowered
// a little, so that one which is whole but for rounding is not rounded up.
func dollyCopies(eps, p, n float64) int {
	if p <= 0 || n <= 0 {
		return 1
	}
	straggle := -math.Expm1(math.Log1p(-eps) / n) // 1-(1-eps)^(1/n), of one task
	return max(1, int(math.Ceil(min(math.Log(straggle)/math.Log(p), math.MaxInt32)-1e-9)))
}

func (p *dolly) watching() *siteWatch { return p.order.watching() }

func (p *dolly) Observe(v *sched.View, ev *sched.Event) {
	p.order.observe(v, ev)
	switch ev.Kind {
	case sched.JobArrived:
		p.copies = grown(p.copies, int(ev.Job))
		p.arrived = append(p.arrived, ev.Job)
	case sched.StageReady:
		st := p.stages.open(ev.Stage)
		st.durations = st.durations[:0]
	case sched.AttemptDone:
		p.spent -= int(p.copies[ev.Job])
		if a := v.Attempt(ev.Attempt); v.Task(ev.Task).Launched == 1 && a.From == 0 {
			st := p.stages.of(ev.Stage)
			st.durations = append(st.durations, v.Now()-a.Started)
		}
	case sched.StageDone:
		p.seen.add(p.stages.of(ev.Stage).durations, p.slow)
		p.stages.close(ev.Stage)
		st := v.Stage(ev.Stage)
		p.spent -= int(st.Tasks-st.Done) * int(p.copies[st.Job]) // of tasks that the stage does not need
	case sched.JobFailed, sched.JobCancelled:
		p.giveUp(v, ev.Job)
	}
}

// giveUp gives back what is left of the price of a job that has ended early.
func (p *dolly) giveUp(v *sched.View, j sched.JobID) {
	if int(j) >= len(p.copies) {
		return // it never arrived
	}
	job := v.Job(j)
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		p.stages.close(s)
	}
	p.spent -= p.unpaid(v, &job) * int(p.copies[j])
	p.copies[j] = 0
}

// unpaid counts the tasks of a job, over or not, for which the price has not been given back: those of stages that were not done.
func (p *dolly) unpaid(v *sched.View, job *sched.Job) (n int) {
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		if st := v.Stage(s); st.Done < st.Need {
			n += int(st.Tasks - st.Done)
		}
	}
	return n
}

func (p *dolly) Decide(v *sched.View, act *sched.Actions) {
	p.admit(v)
	for _, j := range p.arrived {
		for c := int(p.copies[j]); c > 0 && v.Job(j).Pending > 0 && v.FreeSlots() > 0; {
			t, m, ok := p.order.nextOf(v, j)
			if !ok {
				break
			}
			p.launch(v, act, t, m, c)
		}
	}
	p.arrived = p.arrived[:0]
	for {
		t, m, ok := p.order.next(v)
		if !ok {
			return
		}
		p.launch(v, act, t, m, int(p.copies[v.JobOf(t)]))
	}
}

// firstPending returns the job's first task that waits.
func firstPending(v *sched.View, j sched.JobID) (sched.TaskID, bool) {
	s, ok := v.WaitingStage(v.Job(j).FirstStage)
	if !ok || v.Stage(s).Job != j {
		return 0, false
	}
	return v.PendingTask(s, 0)
}

// admit decides which of the jobs that have arrived are cloned, small ones first.
func (p *dolly) admit(v *sched.View) {
	slices.SortFunc(p.arrived, func(a, b sched.JobID) int {
		return cmp.Or(cmp.Compare(v.Job(a).Tasks, v.Job(b).Tasks), cmp.Compare(a, b))
	})
	chance := p.p
	if chance == 0 {
		chance = p.seen.share()
	}
	slots, used, room := float64(v.Slots()), v.Live(), v.CloneRoom()
	for _, j := range p.arrived {
		job := v.Job(j)
		if job.State != sched.JobActive || job.Pending == 0 {
			continue
		}
		n := float64(job.Tasks)
		if p.shed {
			n = chance
		}
		c := dollyCopies(p.epsilon, chance, n)
		if t, _ := firstPending(v, j); c > v.AttemptRoom(t) {
			c = v.AttemptRoom(t)
		}
		price, clones := c*int(job.Tasks), (c-1)*int(job.Pending)
		if c > 1 && clones <= room && float64(p.spent+price) <= p.budget*slots && float64(used+price) <= p.threshold*slots {
			p.copies[j] = int32(c)
			p.spent += price
			used += price
			room -= clones
		}
	}
}

// launch starts a task on a machine: with c attempts if it is its first time and there is room for all, else with one.
func (p *dolly) launch(v *sched.View, act *sched.Actions, t sched.TaskID, m sched.MachineID, c int) {
	if v.Task(t).Launched > 0 || c > p.order.roomBeside(v, m) || c > v.AttemptRoom(t) {
		c = 1
	}
	p.order.launch(v, act, t, m)
	if c-1 > v.CloneRoom() {
		return
	}
	for range c - 1 {
		m, _ := p.order.elsewhere(v, t)
		p.order.clone(v, act, t, m, sched.Cloning)
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

// add takes in the durations of a stage, which it sorts. A duration above slow times the median, the upper one, is a straggler's.
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
