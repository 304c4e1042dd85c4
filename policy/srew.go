package policy

// SREW+C(beta): smallest remaining effective workload, beta-fraction sharing, plus cloning.
//
// Xu, Lau, Yang, de Veciana, Hou, "Mitigating Service Variability in MapReduce Clusters via Task Cloning: A Competitive
// Analysis", IEEE TPDS 2017, Section 4, Algorithm 2.
//
// At the beginning of every slot of time, jobs are ranked by their remaining effective workload. The beta-fraction with
// the least share the machines equally. A job below its share starts its waiting tasks, each with as many attempts as
// the share gives; with no task waiting it clones its running ones. A job above its share loses attempts (preempt) or
// keeps them until they end (the form that the paper evaluates).
//
//	M            View.Slots: the slots of all machines that are up
//	psi^s(t), n  the active jobs, srewRanks.order, and their number
//	Upsilon_j(t) srewKey.workload: the sum of Stage.Unfinished x (mean + lambda sd) of Stage.Estimate over all stages, equation (25)
//	g_j(t)       shares.of(rank)
//	o_j(t)       Job.Live: attempts running
//	u_j(t)       Job.Pending: tasks without attempt that may run, of all open stages (the paper's current phase)
//	z_j(t)       Stage.Running summed over the job: tasks with an attempt running (line 14)
//
// Readings, where the paper leaves a choice:
//   - Jobs of equal workload are ranked by arrival, then id, and psi_j(t) counts the ranks from j on. Counting equals,
//     as printed, would give away more than M slots.
//   - Shares are integers by largest remainder; see shares.
//   - All preemption comes before any launch. Of a job's attempts the most redundant go first, the last attempt of a
//     task only when every task is down to one. The paper takes random ones. A task without attempt waits again, with
//     its progress if its stage is resumable.
//   - preempt=true is line 7 as printed, preempt=false the form that Section 5 evaluates, with line 7 removed.
//     preempt=clones is of neither: line 7 takes all attempts above the share but the most advanced one of each task.
//     So nothing has to be started anew, and the slots that clones have filled are there for the jobs that come later.
//   - Tasks are taken in order where the paper takes random ones: durations are keyed by task, so no order is luckier.
//     The odd clones of line 14 go round: they begin with the task after the one that got the last, so that slots of
//     small surplus do not heap them on one task.
//   - Without preemption the shares and what runs beyond them may exceed M: jobs are served by rank while slots are
//     free.
//   - With preemption a clone in a resumable stage goes on from the most advanced attempt (Section 2: copies share
//     checkpoints).
//
// Deviations:
//   - The core's limits on clones hold. Without limits all slots are in use at every boundary; with them a share may
//     not be usable. Slots that stay free then go to waiting tasks of any job, by rank (spill), and only as many
//     attempts are preempted as the other jobs can make use of.
//   - Where E of a stage is unknown, as in live runs, it is that of the attempts that have won so far: in the stage, or
//     else in the whole cluster, or else one second.
//   - A clone avoids the machines that run its siblings, if it can. The paper's machines have one slot each.
//   - slot=0 decides at every event, at a cost in proportion to the active jobs.

import (
	"math"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var srewEntry = kit.Entry{
	Name:    "srew",
	Family:  kit.Early,
	Clones:  "any task of the first jobs, from the start",
	Cost:    "of a slot of time O(n + d log d) for n active jobs, d of which have changed",
	Summary: "the jobs with the least remaining work share the slots and clone their tasks",
	Source:  "Xu et al., IEEE TPDS 2017, Section 4, Algorithm 2: SREW+C(beta)",
	Params: []kit.Param{
		{Name: "beta", Kind: kit.Float, Default: "0.7", Min: 1.0 / decimals, Max: 1, Help: "fraction of the active jobs that share the slots"},
		{Name: "lambda", Kind: kit.Float, Default: "1", Max: 1e6, Help: "standard deviations added to a task's mean duration"},
		{Name: "slot", Kind: kit.Span, Default: "5s", Max: 1e6, Help: "time between decisions; 0s decides at every event"},
		{Name: "preempt", Kind: kit.Choice, Default: "false", Choices: []string{"false", "clones", "true"}, Help: "which attempts jobs above their share lose: none, all but the most advanced of each task, or any"},
		{Name: "spill", Kind: kit.Bool, Default: "true", Help: "slots that limits keep from clones go to waiting tasks of any job"},
	},
	ProgressIf: func(a kit.Args) bool { return a.Choice("preempt") != "false" },
	New: func(a kit.Args) sched.Policy {
		return &srew{
			beta: toRatio(a.Float("beta")), Clock: kit.Clock{Slot: a.Span("slot")}, spill: a.Bool("spill"),
			preempt: a.Choice("preempt") != "false", clonesOnly: a.Choice("preempt") == "clones",
			ranks: srewRanks{lambda: a.Float("lambda")},
		}
	},
}

type srew struct {
	beta    ratio
	preempt bool // line 7
	// it takes no task's most advanced attempt
	clonesOnly bool
	spill      bool

	kit.Clock
	ranks   srewRanks
	victims []srewVictim // scratch of evict
}

func (p *srew) Observe(v *sched.View, ev *sched.Event) { p.ranks.observe(v, ev) }

func (p *srew) Decide(v *sched.View, act *sched.Actions) {
	if !p.Begins(v, act) {
		return
	}
	if v.FreeSlots() == 0 && !p.preempt {
		return
	}
	p.ranks.refresh(v)
	g := p.beta.shares(v.Slots(), len(p.ranks.order))
	if p.preempt {
		p.preemptSurplus(v, act, &g)
	}
	p.serve(v, act, &g)
	if p.spill {
		p.spillOver(v, act)
	}
}

// serve brings jobs up to their shares, by rank, while slots are free.
func (p *srew) serve(v *sched.View, act *sched.Actions, g *shares) {
	for i := range p.ranks.order {
		id := p.ranks.order[i].job
		job := v.Job(id)
		share, free := g.of(i+1), v.FreeSlots()
		if share == 0 || free == 0 {
			return
		}
		k := min(share-int(job.Live), free)
		if k <= 0 {
			continue
		}
		if k, _ = srewAllowed(v, &job, k, v.CloneRoom()); k <= 0 {
			continue
		}
		if job.Pending > 0 {
			p.start(v, act, id, &job, k)
		} else {
			p.clone(v, act, id, &job, k)
		}
	}
}

// srewAllowed returns how many of k more attempts the limits let the job have while clones more clones may run, and how
// many of these are clones.
func srewAllowed(v *sched.View, job *sched.Job, k, clones int) (attempts, cloned int) {
	if u := int(job.Pending); u > 0 {
		s, _ := v.WaitingStage(job.FirstStage)
		t, _ := v.PendingTask(s, 0)
		if single := srewSingle(v, job); single == 0 {
			k = min(k, u*v.AttemptRoom(t)) // the same for all tasks that wait
		} else {
			k = min(k, single+(u-single)*srewMost(v))
		}
		if k <= u {
			return k, 0
		}
		cloned = min(k-u, clones)
		return u + cloned, cloned
	}
	k = min(k, clones, srewRoom(v, job))
	return k, k
}

// srewMost returns how many attempts a task may have at once.
func srewMost(v *sched.View) int {
	if most := v.Cluster().Limits().Attempts; most >= 0 {
		return most
	}
	return math.MaxInt32
}

// srewSingle returns the number of the job's waiting tasks that may have no clones.
func srewSingle(v *sched.View, job *sched.Job) int {
	if job.Failures == 0 {
		return 0
	}
	n := 0
	for s, ok := v.WaitingStage(job.FirstStage); ok && v.Stage(s).Job == v.Stage(job.FirstStage).Job; s, ok = v.WaitingStage(s + 1) {
		for t, ok := v.PendingTask(s, 0); ok; t, ok = v.PendingTask(s, t+1) {
			if v.Task(t).NoClones {
				n++
			}
		}
	}
	return n
}

// srewRoom returns how many more attempts the running tasks of a job may have together, clone budget aside.
func srewRoom(v *sched.View, job *sched.Job) int {
	most := v.Cluster().Limits().Attempts
	if job.Failures == 0 { // so no task has used up its retries or may have no clones, and all have the same limit
		if most < 0 {
			return math.MaxInt
		}
		return most*srewRunning(v, job) - int(job.Live)
	}
	room := 0
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
			room += v.AttemptRoom(t)
		}
	}
	return room
}

// srewRunning returns the number of the job's tasks that have an attempt running.
func srewRunning(v *sched.View, job *sched.Job) int {
	n := 0
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		st := v.Stage(s)
		n += int(st.Running)
	}
	return n
}

// start gives k attempts to the job's waiting tasks, floor(k/u) or ceil(k/u) to each, the larger number to the first
// (line 12). Tasks that may have no clones get one.
func (p *srew) start(v *sched.View, act *sched.Actions, id sched.JobID, job *sched.Job, k int) {
	copies, odd := k/int(job.Pending), k%int(job.Pending)
	if single := srewSingle(v, job); single > 0 && copies > 0 && single < int(job.Pending) {
		copies, odd = (k-single)/(int(job.Pending)-single), (k-single)%(int(job.Pending)-single)
	}
	for s := job.FirstStage; k > 0; s++ {
		s, _ = v.WaitingStage(s) // one of the job's: it has tasks waiting as long as k > 0
		for t, ok := v.PendingTask(s, 0); ok && k > 0; t, ok = v.PendingTask(s, t+1) {
			n := copies
			if copies > 0 && v.Task(t).NoClones {
				n = 1
			} else if odd > 0 {
				if n++; n > 1 {
					p.ranks.jobs.Of(id).turn = t + 1
				}
				odd--
			}
			for i := range n {
				if i > 0 && v.AttemptRoom(t) == 0 {
					break // the job has a bound of its own, which other tasks have used up
				}
				p.launch(v, act, t, i > 0)
			}
			k -= n
		}
	}
}

// clone gives k clones to the job's running tasks, floor(k/z) or ceil(k/z) to each, in turn (line 14). Tasks that have
// all the attempts that the limits allow are passed over.
func (p *srew) clone(v *sched.View, act *sched.Actions, id sched.JobID, job *sched.Job, k int) {
	turn := &p.ranks.jobs.Of(id).turn
	z := srewRunning(v, job)
	full := 0
	for visits := 0; k > 0 && full < z; visits++ {
		t := srewNextRunning(v, job, *turn)
		*turn = t + 1
		if v.AttemptRoom(t) == 0 {
			full++
			continue
		}
		p.launch(v, act, t, visits >= z)
		full = 0
		k--
	}
}

// srewNextRunning returns the job's first running task with an id of at least from, or else its first running task. It
// must have one.
func srewNextRunning(v *sched.View, job *sched.Job, from sched.TaskID) sched.TaskID {
	first := v.Stage(job.FirstStage).First
	if from < first || from >= first+sched.TaskID(job.Tasks) {
		from = first
	}
	for s := v.Task(from).Stage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		if t, ok := v.RunningTask(s, from); ok {
			return t
		}
	}
	for s := job.FirstStage; ; s++ {
		if t, ok := v.RunningTask(s, first); ok {
			return t
		}
	}
}

// spillOver gives slots that are still free to waiting tasks, one each, by rank.
func (p *srew) spillOver(v *sched.View, act *sched.Actions) {
	for i := 0; v.FreeSlots() > 0 && v.Pending() > 0 && i < len(p.ranks.order); i++ {
		id := p.ranks.order[i].job
		job := v.Job(id)
		if job.Pending == 0 {
			continue
		}
		if k, _ := srewAllowed(v, &job, min(int(job.Pending), v.FreeSlots()), 0); k > 0 {
			p.start(v, act, id, &job, k)
		}
	}
}

// launch starts an attempt of the task; again tells that it started the youngest one in this decision. The caller has
// seen to slots and limits, so a refusal is a bug.
func (p *srew) launch(v *sched.View, act *sched.Actions, t sched.TaskID, again bool) {
	task := v.Task(t)
	from, why := 0.0, sched.Original
	switch {
	case task.Live > 0:
		why = sched.Cloning
	case task.Saved > 0:
		why = sched.Resume
	case task.Launched > 0:
		why = sched.Retry
	}
	if v.Stage(task.Stage).Resumable {
		if from = task.Saved; p.preempt && task.Live > 0 {
			from = max(from, min(srewCheckpoint(v, t, again), srewNearlyDone))
		}
	}
	if _, err := act.Launch(t, srewPlace(v, t, &task), from, why); err != nil {
		panic(err)
	}
}

// srewNearlyDone is the largest fraction below 1: an attempt may not begin where nothing is left.
const srewNearlyDone = 1 - 1.0/(1<<53)

// srewCheckpoint returns the progress of a running task's most advanced attempt. If the youngest began there just now,
// it need not be looked for.
func srewCheckpoint(v *sched.View, t sched.TaskID, again bool) float64 {
	if again {
		id, _ := v.FirstAttempt(t)
		return v.Attempt(id).From
	}
	_, most := srewFurthest(v, t)
	return most
}

// srewFurthest returns the most advanced attempt of a running task, the older of equals, and its progress.
func srewFurthest(v *sched.View, t sched.TaskID) (best sched.AttemptID, most float64) {
	most = -1
	for id, ok := v.FirstAttempt(t); ok; id, ok = v.NextAttempt(id) { // youngest first
		a := v.Attempt(id)
		if done := a.ProgressAtTime(v.Now()); done >= most {
			best, most = id, done
		}
	}
	return best, most
}

// srewCrowd is the number of attempts from which on it does not matter any more if two of them share a machine.
const srewCrowd = 8

// srewPlace returns the machine for the next attempt of a task; there must be a free slot.
func srewPlace(v *sched.View, t sched.TaskID, task *sched.Task) sched.MachineID {
	m, _ := v.FreeMachine(0)
	if task.Live > 0 && task.Live < srewCrowd {
		m, _ = kit.Elsewhere(v, t)
	}
	return m
}
