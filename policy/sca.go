package policy

// SCA, the smart cloning algorithm: Xu and Lau, "Optimization for Speculative Execution in a MapReduce-like Cluster",
// INFOCOM 2015; "Task-Cloning Algorithms in a MapReduce Cluster with Competitive Performance Bounds" and IEEE TPDS
// 28(2), 2017.
//
//	N         View.FreeSlots
//	chi       stages of which no task has been launched
//	m_j, E_j  tasks of such a stage that wait, Stage.Estimate
//	f(c)      mean duration of m tasks at once with c attempts each
//	gamma, r  gamma, copies
//
//	in each slot of time:
//	  waiting tasks of stages that have begun get one attempt each, those of the job with the smallest remaining workload first
//	  if there are fewer tasks in chi than free slots:
//	    minimise the sum over chi of f(c_j) + gamma m_j c_j E[shortest of c_j], c_j <= r and sum m_j c_j <= N; each task of j gets c_j attempts
//	  otherwise one attempt each, stages of chi in order of m_j E_j
//
// Readings. A job of the paper is a stage: what waits for another stage is optimised when its turn comes. The minimum
// is sought by steps, another attempt for all tasks of the stage where that lowers the objective most per slot, while
// it does and slots and limits allow; the paper solves the dual with gradient steps and rounds. Running tasks are never
// cloned later.
//
// The original has to know the law of durations (Xu et al., TPDS 2017, Section 5.4: "SCA needs to estimate the
// distribution of the task service time"). law=own takes the job's own empirical one, View.Sample, as far as it is
// known beforehand, which it is in simulations. law=pareto, and law=own where only moments are known, takes the Pareto
// law with the mean and standard deviation of the stage. A stage of which not even these are known (a live run without
// hints) counts with 1 s and is not cloned.
//
// A slot of time costs O(w log w + attempts launched) for w stages with waiting tasks, and O(n log n + n c) for a stage
// of n tasks that gets c attempts of each by its own law.

import (
	"cmp"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var scaEntry = kit.Entry{
	Name:    "sca",
	Family:  kit.Early,
	Clones:  "all tasks of a stage, from the start",
	Cost:    "of a slot of time O(w log w + attempts launched) for w stages with waiting tasks",
	Summary: "clone all tasks of a stage from its start, as many times as lowers flow time and cost most",
	Source:  "Xu and Lau, INFOCOM 2015; IEEE TPDS 28(2), 2017",
	Params: []kit.Param{
		{Name: "gamma", Kind: kit.Float, Default: "0.01", Max: 1e6, Help: "price of machine time in units of flow time"},
		{Name: "copies", Kind: kit.Int, Default: "8", Min: 1, Max: 1000, Help: "attempts of one task"},
		{Name: "law", Kind: kit.Choice, Default: "own", Choices: []string{"own", "pareto"}, Help: "law of durations: the stage's own where it is known, as in the original, or a Pareto law with its moments"},
		kit.SlotOf("5s", "the paper's slots have no stated length; 5s is that of Xu et al., IEEE TPDS 2017, section 5.3"),
	},
	New: func(a kit.Args) sched.Policy {
		return &sca{Clock: kit.Clock{Slot: a.Span("slot")}, gamma: a.Float("gamma"), copies: a.Int("copies"), own: a.Choice("law") == "own"}
	},
}

type sca struct {
	kit.Clock
	gamma  float64
	copies int
	own    bool

	sorted []float64 // of this decision: the samples of fresh stages

	begun waves                          // of this decision: stages that have begun
	fresh waves                          // and those that have not
	gains kit.Heap[kit.Falling[float64]] // indexes in fresh by what one attempt more saves per slot
}

// waves are stages with tasks that wait.
type waves []wave

type wave struct {
	stage  sched.StageID
	tasks  int
	work   float64 // by which they are ordered
	law    kit.Pareto
	own    kit.Empirical // its own law, nil if it is not known or not looked at
	copies int
	cost   float64 // of so many copies
}

func (a wave) Compare(b wave) int {
	return cmp.Or(cmp.Compare(a.work, b.work), cmp.Compare(a.stage, b.stage))
}

func (p *sca) Observe(*sched.View, *sched.Event) {}

func (p *sca) Decide(v *sched.View, act *sched.Actions) {
	if !p.Begins(v, act) || v.FreeSlots() == 0 || v.Pending() == 0 {
		return
	}
	p.begun, p.fresh = gather(v, p.begun[:0], p.fresh[:0])
	for i := range p.begun {
		p.begun[i].start(v, act)
	}
	total := 0
	for i := range p.fresh {
		total += p.fresh[i].tasks
	}
	free := v.FreeSlots()
	for i := range p.fresh {
		p.fresh[i].start(v, act)
	}
	if total < free {
		p.ascend(v, act)
	}
}

// gather sorts the stages with waiting tasks: those that have begun by the remaining work of their jobs, the others by
// their own.
func gather(v *sched.View, begun, fresh waves) (waves, waves) {
	for s, ok := v.WaitingStage(0); ok; s, ok = v.WaitingStage(s + 1) {
		st := v.Stage(s)
		mean, sd, known := st.Estimate()
		if !known {
			mean, sd = srewPrior, 0
		}
		x := wave{stage: s, tasks: int(st.Pending), law: kit.FitPareto(mean, sd), copies: 1}
		if hasBegun(v, s, &st) {
			x.work = remainingWork(v, st.Job)
			begun = append(begun, x)
		} else {
			x.work = float64(x.tasks) * mean
			fresh = append(fresh, x)
		}
	}
	slices.SortFunc(begun, wave.Compare)
	slices.SortFunc(fresh, wave.Compare)
	return begun, fresh
}

// hasBegun tells whether a task of a stage has ever been launched. All that were may have lost their attempts and wait
// again, or have been given up.
func hasBegun(v *sched.View, s sched.StageID, st *sched.Stage) bool {
	if st.Running+st.Done > 0 {
		return true
	}
	if v.Job(st.Job).Attempts == 0 {
		return false // as nearly always, and nothing is looked through
	}
	for t := st.First; t < st.First+sched.TaskID(st.Tasks); t++ {
		if v.Task(t).Launched > 0 {
			return true
		}
	}
	return false
}

// remainingWork returns the sum of unfinished tasks times mean duration over the stages of a job.
func remainingWork(v *sched.View, j sched.JobID) (work float64) {
	job := v.Job(j)
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		st := v.Stage(s)
		mean, _, ok := st.Estimate()
		if !ok {
			mean = srewPrior
		}
		work += float64(st.Unfinished()) * mean
	}
	return work
}

// start gives the tasks of the stage that wait one attempt each as far as slots go.
func (x *wave) start(v *sched.View, act *sched.Actions) {
	for t, ok := v.PendingTask(x.stage, 0); ok; t, ok = v.PendingTask(x.stage, t+1) {
		m, free := v.FreeMachine(0)
		if !free {
			return
		}
		kit.Start(v, act, t, m)
	}
}

// again gives the tasks of a stage that has just started another attempt each.
func (x *wave) again(v *sched.View, act *sched.Actions) {
	for t, ok := v.RunningTask(x.stage, 0); ok; t, ok = v.RunningTask(x.stage, t+1) {
		m, _ := kit.Elsewhere(v, t)
		kit.Launch(act, t, m, 0, sched.Cloning)
	}
	x.copies++
}

// ascend gives stages that have just started more attempts while that lowers the objective.
func (p *sca) ascend(v *sched.View, act *sched.Actions) {
	p.gains.Clear()
	p.sorted = p.sorted[:0]
	for i := range p.fresh {
		x := &p.fresh[i]
		x.own = p.sample(v, x.stage)
		x.cost = p.cost(x, 1)
		p.weigh(v, i)
	}
	for p.gains.Len() > 0 {
		i := p.gains.Top()
		if p.fresh[i].tasks > v.CloneRoom() {
			p.gains.Drop(i)
			continue
		}
		x := &p.fresh[i]
		x.again(v, act)
		x.cost = p.cost(x, x.copies)
		p.weigh(v, i)
	}
}

// sample returns the stage's own law, nil if it is not known.
func (p *sca) sample(v *sched.View, s sched.StageID) kit.Empirical {
	known := v.Sample(s)
	if !p.own || len(known) == 0 {
		return nil
	}
	first := len(p.sorted)
	for _, d := range known {
		p.sorted = append(p.sorted, d.Seconds())
	}
	slices.Sort(p.sorted[first:])
	return kit.Empirical(p.sorted[first:])
}

// cost returns the objective for a stage with so many attempts of each task.
func (p *sca) cost(x *wave, copies int) float64 {
	if x.own != nil {
		return x.own.Cost(copies, x.tasks, p.gamma)
	}
	return x.law.Cost(copies, x.tasks, p.gamma)
}

// weigh notes what another attempt for each task of the stage saves per slot, if it saves anything and may be.
func (p *sca) weigh(v *sched.View, i int) {
	x := &p.fresh[i]
	t, _ := v.RunningTask(x.stage, 0)
	gain := (x.cost - p.cost(x, x.copies+1)) / float64(x.tasks)
	if x.copies >= p.copies || v.AttemptRoom(t) == 0 || gain <= 0 {
		p.gains.Drop(i)
		return
	}
	p.gains.Set(i, kit.Falling[float64]{X: gain})
}
