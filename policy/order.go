package policy

import (
	"cmp"
	"fmt"

	"github.com/tailcut/tailcut/sched"
)

// jobOrder says which pending task a free slot gets next: the first pending task of the first stage of the best job
// that has one. A policy about redundancy takes one as its parameter "order" and only adds clones. Later jobs may use
// what earlier ones cannot.
//
// It keeps the jobs with pending tasks in a heap, so that an event costs O(log jobs), and nothing where the key of the
// job stays. A policy hands it every event, and tells it with touch about orders given behind its back.
type jobOrder struct {
	ranking
	jobs   heap[standing]
	siting *siting // nil where a task starts at the first free slot
}

// ranking says where jobs stand in an order.
type ranking struct {
	kind orderKind
	work workload // of srpt
}

// standing is the place of a job in the order; smaller goes first.
type standing struct {
	class   int64
	share   float64
	arrived sched.Time
}

func (a standing) compare(b standing) int {
	if c := cmp.Compare(a.class, b.class); c != 0 {
		return c
	}
	if c := cmp.Compare(a.share, b.share); c != 0 {
		return c
	}
	return cmp.Compare(a.arrived, b.arrived)
}

// before tells whether the first job of a goes before the first of b; neither may be empty.
func before(a, b *heap[standing]) bool {
	return cmp.Or(a.topKey().compare(b.topKey()), cmp.Compare(a.top(), b.top())) < 0
}

type orderKind uint8

const (
	byArrival orderKind = iota // fifo
	byShare                    // fair
	byWork                     // srpt
)

// orderParam is the parameter of all policies that take an order, except that some have another default.
var orderParam = orderBy("fifo")

func orderBy(name string) Param {
	return Param{
		Name: "order", Kind: Choice, Default: name, Choices: []string{"fifo", "fair", "srpt"},
		Help: "which job gets a free slot first",
	}
}

// ordered returns the order that the parameters name.
func ordered(a Args) jobOrder { return jobOrder{ranking: ranked(a)} }

// ranked is ordered for policies that keep jobs in heaps of their own.
func ranked(a Args) ranking {
	switch name := a.Choice("order"); name {
	case "fifo":
		return ranking{kind: byArrival}
	case "fair":
		return ranking{kind: byShare}
	case "srpt":
		return ranking{kind: byWork}
	default:
		panic(fmt.Sprintf("policy: no order %q", name))
	}
}

// observe keeps the order up to date with an event.
func (o *jobOrder) observe(v *sched.View, ev *sched.Event) {
	if o.siting != nil {
		o.siting.observe(v, ev)
	}
	switch ev.Kind {
	case sched.MachineJoined, sched.MachineLost, sched.MachineResized, sched.TimerFired, sched.AttemptBegan, sched.AttemptProgress, sched.DataFetched:
		return
	case sched.AttemptDone, sched.AttemptLost, sched.AttemptFailed:
		if o.kind == byArrival {
			return // what that changes for the job's pending tasks is told by an event of its own
		}
	}
	o.learn(v, ev)
	o.touch(v, ev.Job)
}

// touch looks at a job again.
func (o *jobOrder) touch(v *sched.View, j sched.JobID) {
	job := v.Job(j)
	if job.Pending == 0 || job.State != sched.JobActive {
		o.jobs.drop(int(j))
		return
	}
	if o.kind == byArrival && o.jobs.has(int(j)) {
		return // its place never changes
	}
	o.jobs.set(int(j), o.standing(v, j, &job))
}

// learn takes note of an event. It may change where its job stands, and of no other.
func (r *ranking) learn(v *sched.View, ev *sched.Event) {
	if r.kind == byWork {
		r.work.observe(v, ev)
	}
}

func (r *ranking) standing(v *sched.View, j sched.JobID, job *sched.Job) standing {
	switch r.kind {
	case byShare:
		return fairStanding(job)
	case byWork:
		return standing{share: r.work.remaining(v, j), arrived: job.Arrived}
	default:
		return standing{class: -int64(job.Priority), arrived: job.Arrived}
	}
}

// next returns the task that is next and the free machine that it gets; ok is false if there is none of either.
func (o *jobOrder) next(v *sched.View) (t sched.TaskID, m sched.MachineID, ok bool) {
	if o.siting != nil {
		return o.nextSited(v)
	}
	if o.jobs.len() == 0 {
		return 0, 0, false
	}
	m, ok = v.FreeMachine(0)
	if !ok {
		return 0, 0, false
	}
	j := sched.JobID(o.jobs.top())
	s, _ := v.WaitingStage(v.Job(j).FirstStage)
	t, ok = v.PendingTask(s, 0)
	if !ok || v.Stage(s).Job != j {
		panic(fmt.Sprintf("policy: job %d is said to have a pending task, it has not", j))
	}
	return t, m, true
}

// launch starts an attempt of a pending task, from what a preempted attempt has left behind if anything.
func (o *jobOrder) launch(v *sched.View, act *sched.Actions, t sched.TaskID, m sched.MachineID) sched.AttemptID {
	a := begin(v, act, t, m)
	o.touch(v, v.Rows().JobOf(t))
	return a
}

// begin is launch for policies that have an order of their own.
func begin(v *sched.View, act *sched.Actions, t sched.TaskID, m sched.MachineID) sched.AttemptID {
	task := v.Task(t)
	why := sched.Original
	switch {
	case task.Saved > 0:
		why = sched.Resume
	case task.Launched > 0:
		why = sched.Retry
	}
	return must(act, t, m, task.Saved, why)
}

// clone starts another attempt of a running task from the beginning.
func (o *jobOrder) clone(v *sched.View, act *sched.Actions, t sched.TaskID, m sched.MachineID, why sched.Reason) sched.AttemptID {
	a := must(act, t, m, 0, why)
	o.touch(v, v.Rows().JobOf(t))
	return a
}

// fill gives every free slot to the next task while there is one.
func (o *jobOrder) fill(v *sched.View, act *sched.Actions) {
	for {
		t, m, ok := o.next(v)
		if !ok {
			o.settle(act)
			return
		}
		o.launch(v, act, t, m)
	}
}

// must gives an order that the view allows. That the core refuses it is a bug of the policy.
func must(act *sched.Actions, t sched.TaskID, m sched.MachineID, from float64, why sched.Reason) sched.AttemptID {
	a, err := act.Launch(t, m, from, why)
	if err != nil {
		panic(fmt.Sprintf("policy: task %d on machine %d from %g (%v): %v", t, m, from, why, err))
	}
	return a
}
