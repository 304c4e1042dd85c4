package kit

import (
	"cmp"
	"fmt"

	"github.com/tailcut/tailcut/sched"
)

// Order says which pending task a free slot gets next: the first pending task of the first stage of the best job
// that has one. A policy about redundancy takes one as its parameter "order" and only adds clones. Later jobs may use
// what earlier ones cannot.
//
// It keeps the jobs with pending tasks in a heap, so that an event costs O(log jobs), and nothing where the key of
// the job stays. A policy hands it every event, and tells it with Touch about orders given behind its back.
type Order struct {
	Ranking
	jobs   Heap[Standing] // with tasks that wait
	clones Heap[Standing] // with tasks that are to have clones, of policies that call Serve
	passed []sched.JobID  // of clones, that cannot have one now
	last   bool           // clones after the fresh tasks of all jobs
	siting *siting        // nil where a task starts at the first free slot
	lead   Lead           // nil where nobody leads
	choice Chooser        // nil where the order itself chooses
	shuns  *Shunned       // nil where all machines are alike
	paths  *Paths         // nil where the stages of a job come in their order
}

// Lead is a policy that another one works under, with the same order: it starts the tasks that wait, and the other
// leaves some of them alone.
type Lead interface {
	Start(v *sched.View, act *sched.Actions, t sched.TaskID, m sched.MachineID) sched.AttemptID

	// Keeps tells whether a task gets no clones but the lead's.
	Keeps(v *sched.View, t sched.TaskID) bool

	// Clones returns how many clones run that the lead has launched.
	Clones() int
}

// Chooser is a policy with an order of jobs of its own, that another one works under: it chooses the job that gets a
// slot, and the other adds clones.
type Chooser interface {
	// Choose returns a job with a task that waits; ok is false if there is none.
	Choose(v *sched.View) (j sched.JobID, ok bool)

	// Touch looks at a job again, after an order about it.
	Touch(v *sched.View, j sched.JobID)
}

// ChosenBy has a policy choose the job that gets the next slot. The order then only knows which jobs wait.
func (o *Order) ChosenBy(c Chooser) { o.choice = c }

// LedBy has a policy start the tasks that wait.
func (o *Order) LedBy(l Lead) { o.lead = l }

// Kept tells whether a task gets no clones but those of the order's lead.
func (o *Order) Kept(v *sched.View, t sched.TaskID) bool { return o.lead != nil && o.lead.Keeps(v, t) }

// Clones returns how many clones run, but for those of the order's lead.
func (o *Order) Clones(v *sched.View) int {
	n := v.Cluster().Clones()
	if o.lead != nil {
		n -= o.lead.Clones()
	}
	return n
}

// Ranking says where jobs stand in an order.
type Ranking struct {
	kind OrderKind
	work Workload // of srpt
}

// Standing is the place of a job in the order; smaller goes first.
type Standing struct {
	class   int64
	Share   float64
	Arrived sched.Time
}

// Compare is negative where a goes before b.
func (a Standing) Compare(b Standing) int {
	if c := cmp.Compare(a.class, b.class); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Share, b.Share); c != 0 {
		return c
	}
	return cmp.Compare(a.Arrived, b.Arrived)
}

// Before tells whether the first job of a goes before the first of b; neither may be empty.
func Before(a, b *Heap[Standing]) bool {
	return cmp.Or(a.TopKey().Compare(b.TopKey()), cmp.Compare(a.Top(), b.Top())) < 0
}

// Ahead tells whether a job with tasks that wait goes before the first of other jobs, of which there is one.
func (o *Order) Ahead(others *Heap[Standing]) bool {
	return o.jobs.Len() > 0 && Before(&o.jobs, others)
}

// OrderKind is one of ByArrival, ByShare, ByWork and ByDeadline.
type OrderKind uint8

const (
	ByArrival  OrderKind = iota // fifo
	ByShare                     // fair
	ByWork                      // srpt
	ByDeadline                  // edf
)

// stays tells whether the place of a job changes with nothing but the job itself.
func (k OrderKind) stays() bool { return k == ByArrival || k == ByDeadline }

// OrderParam is the parameter of all policies that take an order, except that some have another default.
var OrderParam = OrderBy("fifo")

// OrderBy is OrderParam with another default.
func OrderBy(name string) Param {
	return Param{
		Name: "order", Kind: Choice, Default: name, Choices: []string{"fifo", "fair", "srpt", "edf"},
		Help: "which job gets a free slot first",
	}
}

// OrderOf returns an order of a kind.
func OrderOf(kind OrderKind) Order { return Order{Ranking: Ranking{kind: kind}} }

// NewOrder returns the order that the parameters name.
func NewOrder(a Args) Order { return Order{Ranking: NewRanking(a)} }

// NewRanking is NewOrder for policies that keep jobs in heaps of their own.
func NewRanking(a Args) Ranking {
	switch name := a.Choice("order"); name {
	case "fifo":
		return Ranking{kind: ByArrival}
	case "fair":
		return Ranking{kind: ByShare}
	case "srpt":
		return Ranking{kind: ByWork}
	case "edf":
		return Ranking{kind: ByDeadline}
	default:
		panic(fmt.Sprintf("policy: no order %q", name))
	}
}

// Observe keeps the order up to date with an event.
func (o *Order) Observe(v *sched.View, ev *sched.Event) {
	if o.siting != nil {
		o.siting.observe(v, ev)
		o.recall(v)
	}
	switch ev.Kind {
	case sched.MachineJoined, sched.MachineLost, sched.MachineResized, sched.TimerFired, sched.AttemptBegan, sched.AttemptProgress, sched.DataFetched:
		return
	case sched.AttemptDone, sched.AttemptLost, sched.AttemptFailed:
		if o.kind.stays() {
			return // what that changes for the job's pending tasks is told by an event of its own
		}
	}
	o.Learn(v, ev)
	if ev.Kind == sched.JobChanged { // its place may have changed in any order
		o.jobs.Drop(int(ev.Job))
		if o.clones.Has(int(ev.Job)) {
			o.clones.Drop(int(ev.Job))
			o.Want(v, ev.Job)
		}
	}
	o.Touch(v, ev.Job)
}

// Touch looks at a job again, after an order that was given past this one.
func (o *Order) Touch(v *sched.View, j sched.JobID) {
	if o.choice != nil {
		o.choice.Touch(v, j)
	}
	job := v.Job(j)
	if o.clones.Has(int(j)) {
		if job.State != sched.JobActive {
			o.clones.Drop(int(j))
		} else if !o.kind.stays() {
			o.clones.Set(int(j), o.Standing(v, j, &job))
		}
	}
	if job.Pending == 0 || job.State != sched.JobActive {
		o.jobs.Drop(int(j))
		return
	}
	if o.kind.stays() && o.jobs.Has(int(j)) {
		return // see Observe
	}
	o.jobs.Set(int(j), o.Standing(v, j, &job))
}

// Learn takes note of an event. It may change where its job stands, and of no other.
func (r *Ranking) Learn(v *sched.View, ev *sched.Event) {
	if r.kind == ByWork {
		r.work.Observe(v, ev)
	}
}

// Standing returns where a job stands now.
func (r *Ranking) Standing(v *sched.View, j sched.JobID, job *sched.Job) Standing {
	switch r.kind {
	case ByShare:
		return fairStanding(job)
	case ByWork:
		return Standing{Share: r.work.Remaining(v, j), Arrived: job.Arrived}
	case ByDeadline:
		return Standing{class: int64(job.Deadline), Arrived: job.Arrived}
	default:
		return Standing{class: -int64(job.Priority), Arrived: job.Arrived}
	}
}

// Next returns the task that is next and the free machine that it gets; ok is false if there is none of either.
func (o *Order) Next(v *sched.View) (t sched.TaskID, m sched.MachineID, ok bool) {
	if o.siting != nil {
		return o.nextSited(v)
	}
	if o.jobs.Len() == 0 {
		return 0, 0, false
	}
	m, ok = v.FreeMachine(0)
	if !ok {
		return 0, 0, false
	}
	j := sched.JobID(o.jobs.Top())
	if o.choice != nil {
		j, _ = o.choice.Choose(v)
	}
	s := o.stage(v, j)
	t, ok = v.PendingTask(s, 0)
	if !ok || v.Stage(s).Job != j {
		panic(fmt.Sprintf("policy: job %d has no pending task, although it was chosen for one", j))
	}
	if o.shuns != nil && o.shuns.Shuns(v, m) {
		if best, found := o.shuns.Free(v, t); found {
			m = best
		}
	}
	return t, m, true
}

// Along has the stages of a job come in order of their paths, the longest one first, instead of their own order.
func (o *Order) Along(p *Paths) { o.paths = p }

// Shunning has attempts start on machines that are not shunned, where such are free.
func (o *Order) Shunning(s *Shunned) { o.shuns = s }

// mostBranches bounds what the choice of a stage costs, where many have tasks that wait.
const mostBranches = 64

// stage returns the stage of a job that gets the next slot; one has a task that waits.
func (o *Order) stage(v *sched.View, j sched.JobID) sched.StageID {
	best, _ := v.WaitingStage(v.Job(j).FirstStage)
	if o.paths == nil {
		return best
	}
	s, ok := v.WaitingStage(best + 1)
	if !ok || v.Stage(s).Job != j {
		return best // the only one, which is the rule
	}
	longest := o.paths.From(v, best)
	for n := 1; ok && n < mostBranches && v.Stage(s).Job == j; n++ {
		if x := o.paths.From(v, s); x > longest {
			best, longest = s, x
		}
		s, ok = v.WaitingStage(s + 1)
	}
	return best
}

// Launch starts an attempt of a pending task, from what a preempted attempt has left behind if anything.
func (o *Order) Launch(v *sched.View, act *sched.Actions, t sched.TaskID, m sched.MachineID) sched.AttemptID {
	start := Start
	if o.lead != nil {
		start = o.lead.Start
	}
	a := start(v, act, t, m)
	o.Touch(v, v.Rows().JobOf(t))
	return a
}

// Start starts an attempt of a pending task, from what a preempted attempt has left behind if anything, with the
// reason that follows from the task's past. It is for policies that have an order of their own; see Order.Launch.
func Start(v *sched.View, act *sched.Actions, t sched.TaskID, m sched.MachineID) sched.AttemptID {
	task := v.Task(t)
	why := sched.Original
	switch {
	case task.Saved > 0:
		why = sched.Resume
	case task.Launched > 0:
		why = sched.Retry
	}
	return Launch(act, t, m, task.Saved, why)
}

// Clone starts another attempt of a running task from the beginning.
func (o *Order) Clone(v *sched.View, act *sched.Actions, t sched.TaskID, m sched.MachineID, why sched.Reason) sched.AttemptID {
	return o.CloneFrom(v, act, t, m, 0, why)
}

// CloneFrom starts another attempt of a running task, from a fraction that another has saved.
func (o *Order) CloneFrom(v *sched.View, act *sched.Actions, t sched.TaskID, m sched.MachineID, from float64, why sched.Reason) sched.AttemptID {
	a := Launch(act, t, m, from, why)
	o.Touch(v, v.Rows().JobOf(t))
	return a
}

// Furthest returns the fraction of a running task from which another attempt can go on, 0 where attempts begin anew.
func Furthest(v *sched.View, t sched.TaskID) float64 {
	task := v.Task(t)
	if !v.Stage(task.Stage).Resumable {
		return 0
	}
	far := task.Saved
	for a, runs := v.FirstAttempt(t); runs; a, runs = v.NextAttempt(a) {
		far = max(far, v.Attempt(a).Progress)
	}
	return min(far, NearlyDone)
}

// Fill gives every free slot to the next task while there is one.
func (o *Order) Fill(v *sched.View, act *sched.Actions) {
	for {
		t, m, ok := o.Next(v)
		if !ok {
			o.Settle(act)
			return
		}
		o.Launch(v, act, t, m)
	}
}

// Launch starts an attempt, from a fraction of the task that is done already. It panics if the core refuses: the
// policy has to ask the view before.
func Launch(act *sched.Actions, t sched.TaskID, m sched.MachineID, from float64, why sched.Reason) sched.AttemptID {
	a, err := act.Launch(t, m, from, why)
	if err != nil {
		panic(fmt.Sprintf("policy: task %d on machine %d from %g (%v): %v", t, m, from, why, err))
	}
	return a
}

func fairStanding(job *sched.Job) Standing {
	if job.Live < job.MinShare {
		return Standing{class: 0, Share: float64(job.Live) / float64(max(job.MinShare, 1))}
	}
	return Standing{class: 1, Share: float64(job.Live) / job.Weight}
}

// FirstPending returns the first task of a job that waits; ok is false if none does.
func FirstPending(v *sched.View, j sched.JobID) (sched.TaskID, bool) {
	s, ok := v.WaitingStage(v.Job(j).FirstStage)
	if !ok || v.Stage(s).Job != j {
		return 0, false
	}
	return v.PendingTask(s, 0)
}

// Kill kills an attempt. It panics if the core refuses: the policy has to ask the view before.
func Kill(act *sched.Actions, a sched.AttemptID, why sched.Reason) {
	if err := act.Kill(a, why); err != nil {
		panic(fmt.Sprintf("policy: kill attempt %x (%v): %v", a, why, err))
	}
}

// Pooled returns the order with another reading of srpt: all tasks that had ended when a job arrived count as one of
// its own. So one that is not known is taken for what tasks last on average, instead of a second, and one quick task
// does not make a job seem short.
func (o Order) Pooled() Order {
	o.work.Pooled = true
	return o
}

// Waiting returns how many jobs have a task that waits and may start.
func (o *Order) Waiting() int { return o.jobs.Len() }
