package policy

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
)

// sewTwin is Algorithm 1 as printed: whenever a machine of a group is free, the first job in the order of Upsilon is looked for from the beginning. Everything is counted
// anew; only the turns of the tasks to be cloned are kept.
type sewTwin struct {
	naive
	lambda, maps float64
	strict       bool

	upsilon map[sched.JobID]float64
	turns   [2][]sewTurn
}

// sewTurn is the place of a running task in the order of clones. It ends with the attempt that it was given for.
type sewTurn struct {
	task    sched.TaskID
	attempt sched.AttemptID
}

func drawSEWTwin(t *rapid.T) (string, sched.Policy) {
	x := &sewTwin{
		naive:   newNaive(false),
		lambda:  float64(rapid.IntRange(0, 2).Draw(t, "lambda")),
		maps:    rapid.SampledFrom([]float64{0, 0.3, 0.5, 1}).Draw(t, "maps"),
		strict:  rapid.Bool().Draw(t, "strict"),
		upsilon: map[sched.JobID]float64{},
	}
	return fmt.Sprintf("sew:lambda=%g,maps=%g,strict=%v", x.lambda, x.maps, x.strict), x
}

func TestSEWTwin(t *testing.T) { checkTwins(t, drawSEWTwin) }

func (p *sewTwin) Observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.JobArrived:
		for s := range sched.StageID(v.Rows().Stages()) {
			if st := v.Stage(s); st.Job == ev.Job {
				mean, sd, ok := st.Estimate()
				if !ok {
					mean, sd = 1, 0
				}
				p.upsilon[ev.Job] += float64(st.Unfinished()) * (mean + p.lambda*sd)
			}
		}
	case sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost:
		kind := p.kind(v, ev.Task)
		p.turns[kind] = slices.DeleteFunc(p.turns[kind], func(x sewTurn) bool { return x.attempt == ev.Attempt })
		all := p.attempts(v, ev.Task)
		if v.Task(ev.Task).State == sched.TaskRunning && len(all) > 0 &&
			!slices.ContainsFunc(p.turns[kind], func(x sewTurn) bool { return slices.Contains(all, x.attempt) }) {
			p.turns[kind] = append(p.turns[kind], sewTurn{ev.Task, all[0]})
		}
	}
}

// kind is 0 for a task of the map phase, the first stage of its job, and 1 for the others.
func (p *sewTwin) kind(v *sched.View, t sched.TaskID) int {
	return min(int(v.Stage(v.Task(t).Stage).Index), 1)
}

func (p *sewTwin) Decide(v *sched.View, act *sched.Actions) {
	maps := max(1, int(math.Ceil(p.maps*float64(v.Slots()))))
	for kind, slots := range [2]int{maps, max(1, v.Slots()-maps)} {
		for p.used(v, kind) < slots && v.FreeSlots() > 0 && p.next(v, act, kind) {
		}
	}
}

// used returns the attempts of a kind that run.
func (p *sewTwin) used(v *sched.View, kind int) (n int) {
	for t := range sched.TaskID(v.Rows().Tasks()) {
		if p.kind(v, t) == kind {
			n += int(v.Task(t).Live)
		}
	}
	return n
}

// next gives a free slot of a group its attempt, if there is any for it.
func (p *sewTwin) next(v *sched.View, act *sched.Actions, kind int) bool {
	waiting := func(j sched.JobID) (tasks []sched.TaskID) {
		for t := range sched.TaskID(v.Rows().Tasks()) {
			if v.Rows().JobOf(t) == j && p.kind(v, t) == kind && v.Task(t).State == sched.TaskPending {
				tasks = append(tasks, t)
			}
		}
		return tasks
	}
	first := func(has func(sched.JobID) bool) (best sched.JobID, ok bool) {
		for _, j := range p.jobs(v) { // by arrival, so that equals keep that order
			if has(j) && (!ok || p.upsilon[j] < p.upsilon[best]) {
				best, ok = j, true
			}
		}
		return best, ok
	}
	j, ok := first(func(j sched.JobID) bool { return len(waiting(j)) > 0 })
	if p.strict && kind == 1 {
		head, any := first(func(j sched.JobID) bool { return p.unscheduled(v, j) })
		if any && (!ok || head != j) {
			return false
		}
	}
	if ok {
		t := waiting(j)[0]
		p.turns[kind] = append(p.turns[kind], sewTurn{t, p.start(v, act, t)})
		return true
	}
	for len(p.turns[kind]) > 0 && v.CloneRoom() > 0 {
		x := p.turns[kind][0]
		p.turns[kind] = p.turns[kind][1:]
		if v.Task(x.task).State == sched.TaskRunning && v.AttemptRoom(x.task) > 0 {
			p.clone(v, act, x.task, sched.Cloning)
			p.turns[kind] = append(p.turns[kind], x)
			return true
		}
	}
	return false
}

// unscheduled tells whether a reduce of the job has no attempt, be it that its maps still run.
func (p *sewTwin) unscheduled(v *sched.View, j sched.JobID) bool {
	for s := range sched.StageID(v.Rows().Stages()) {
		if st := v.Stage(s); st.Job == j && st.Index > 0 && st.State != sched.StageClosed && st.Hopeful() > st.Done+st.Running {
			return true
		}
	}
	return false
}
