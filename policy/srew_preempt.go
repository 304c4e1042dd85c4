package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// preemptSurplus ends attempts of jobs above their share (line 7), worst rank first, as many as jobs below theirs can
// use beyond the free slots. Shares sum to all slots, so without limits on clones that is every attempt above a share,
// as printed.
func (p *srew) preemptSurplus(v *sched.View, act *sched.Actions, g *shares) {
	wanted := p.wanted(v, g) - v.FreeSlots()
	for i := len(p.ranks.order) - 1; i >= 0 && wanted > 0; i-- {
		job := v.Job(p.ranks.order[i].job)
		if above := int(job.Live) - g.of(i+1); above > 0 {
			wanted -= p.evict(v, act, &job, min(above, wanted))
		}
	}
}

// wanted returns how many attempts all jobs together may add before they reach their shares or the limits. Preemption
// moves the clone budget a little: this is what the limits allow as things are.
func (p *srew) wanted(v *sched.View, g *shares) int {
	sum, clones := 0, srewCloneBudget(v)
	for i := range p.ranks.order {
		share := g.of(i + 1)
		if share == 0 {
			break
		}
		job := v.Job(p.ranks.order[i].job)
		if below := share - int(job.Live); below > 0 {
			k, cloned := srewAllowed(v, &job, below, clones)
			sum += max(k, 0)
			clones -= max(cloned, 0)
		}
	}
	return sum
}

// srewCloneBudget returns how many more clones the budget allows if slots are no obstacle, which View.CloneRoom takes
// them for.
func srewCloneBudget(v *sched.View) int {
	b := v.Cluster().Limits().Clones
	if b.Floor < 0 {
		return math.MaxInt
	}
	most := max(b.Floor, int(b.TaskShare*float64(v.Cluster().Unfinished())), int(b.RunningShare*float64(v.Cluster().RunningTasks())))
	return max(0, most-v.Cluster().Clones())
}

// srewVictim is an attempt that may be preempted.
type srewVictim struct {
	// 0 for the most advanced attempt of a task; its siblings count 1, 2, ... by age, the youngest has the most
	spare   int
	started sched.Time
	task    sched.TaskID
	attempt sched.AttemptID
}

// Compare puts what goes first in front: clones of the most cloned tasks, then the young, then those of later tasks.
func (x srewVictim) Compare(o srewVictim) int {
	if c := cmp.Compare(o.spare, x.spare); c != 0 {
		return c
	}
	if c := cmp.Compare(o.started, x.started); c != 0 {
		return c
	}
	return cmp.Compare(o.task, x.task) // a task has one attempt of each number
}

// evict ends n attempts of the job, and returns how many that were: the last attempt of a task without retries left,
// and what was launched at this instant, cannot be taken away, nor with clonesOnly the most advanced attempt of a task.
func (p *srew) evict(v *sched.View, act *sched.Actions, job *sched.Job, n int) int {
	p.victims = p.victims[:0]
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
			p.addVictims(v, t)
		}
	}
	slices.SortFunc(p.victims, srewVictim.Compare)
	n = min(n, len(p.victims))
	for _, x := range p.victims[:n] {
		if err := act.Kill(x.attempt, sched.Share); err != nil {
			panic(err)
		}
	}
	return n
}

func (p *srew) addVictims(v *sched.View, t sched.TaskID) {
	task := v.Task(t)
	keep, _ := srewFurthest(v, t)
	spare, young := int(task.Live), false
	for id, ok := v.FirstAttempt(t); ok; id, ok = v.NextAttempt(id) { // youngest first
		x := srewVictim{started: v.Attempt(id).Started, task: t, attempt: id}
		switch {
		case id == keep && (p.clonesOnly || v.Exhausted(t) || young): // the last, or furthest of those that stay
			continue
		case !v.Rows().MayKill(id):
			young = true
			continue
		case id != keep:
			spare--
			x.spare = spare
		}
		p.victims = append(p.victims, x)
	}
}
