package kit

import (
	"cmp"
	"iter"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// ClonesParam is the parameter of policies that clone, with a named reading: in which order free slots go to fresh
// tasks and to clones, see Order.Serve.
var ClonesParam = Param{
	Name: "clones", Kind: Choice, Default: "job", Choices: []string{"job", "cluster"},
	Help: "when clones start: in their job's turn, after its fresh tasks; or after the fresh tasks of all jobs",
}

// Server is a policy to Order.Serve.
type Server interface {
	// Fresh starts a task that waits. It returns false if nothing more may start now; the machine is a proposal.
	Fresh(v *sched.View, act *sched.Actions, t sched.TaskID, m sched.MachineID) bool

	// Clone starts a clone of a task of a job, for which Want was called. It returns false if it cannot start one now.
	Clone(v *sched.View, act *sched.Actions, j sched.JobID) bool
}

// ClonesBy returns the order with the reading that the parameters name.
func (o Order) ClonesBy(a Args) Order {
	o.last = a.Choice("clones") == "cluster"
	return o
}

// Want takes notice that a job has tasks that are to have clones, until Unwant is called or the job is over.
func (o *Order) Want(v *sched.View, j sched.JobID) {
	if !o.clones.Has(int(j)) {
		job := v.Job(j)
		o.clones.Set(int(j), o.Standing(v, j, &job))
	}
}

// Unwant takes notice that a job has no such tasks.
func (o *Order) Unwant(j sched.JobID) { o.clones.Drop(int(j)) }

// Reaches tells whether a slot may be left for clones of a job once the fresh tasks before them have theirs.
func (o *Order) Reaches(v *sched.View, j sched.JobID) bool {
	before := int(v.Job(j).Pending)
	if o.last {
		before = v.Pending()
	}
	return v.CloneRoom() > 0 && before < v.FreeSlots()
}

// ClonesLast tells whether clones start after the fresh tasks of all jobs.
func (o *Order) ClonesLast() bool { return o.last }

// Serve gives the free slots to the jobs in their order. A job's turn is first its fresh tasks', then its clones'; or
// else the clones of all jobs come after the fresh tasks of all. Where sites are chosen, jobs whose tasks wait for one
// are passed over, by fresh tasks of later jobs before clones of earlier ones.
func (o *Order) Serve(v *sched.View, act *sched.Actions, to Server) {
	for {
		first := o.clonesFirst(v)
		t, m, fresh := sched.TaskID(0), sched.MachineID(0), false
		if !first {
			t, m, fresh = o.Next(v)
		}
		if fresh {
			if !to.Fresh(v, act, t, m) {
				break
			}
			continue
		}
		if o.clones.Len() == 0 || v.CloneRoom() == 0 {
			break
		}
		j := sched.JobID(o.clones.Top())
		if !to.Clone(v, act, j) && o.clones.Has(int(j)) {
			o.clones.Drop(int(j))
			o.passed = append(o.passed, j)
		}
	}
	for _, j := range o.passed {
		o.Want(v, j)
	}
	o.passed = o.passed[:0]
	o.Settle(act)
}

// clonesFirst tells whether a clone may start, and its job's turn is before that of all fresh tasks. A task that has
// been given a site is not put back.
func (o *Order) clonesFirst(v *sched.View) bool {
	if o.last || o.clones.Len() == 0 || o.jobs.Len() == 0 || v.CloneRoom() == 0 || o.siting != nil && o.siting.planned() {
		return false
	}
	of := sched.JobID(o.jobs.Top())
	job := v.Job(of)
	return cmp.Or(o.clones.TopKey().Compare(o.Standing(v, of, &job)), cmp.Compare(o.clones.Top(), int(of))) < 0
}

// Candidates are tasks that are to have clones, found anew at each decision.
type Candidates struct{ all []candidate }

type candidate struct {
	job   sched.JobID
	taken int32 // of the job's, if this is its first
	rank  sched.Time
	task  sched.TaskID
}

// Reset forgets all, and no job wants clones.
func (c *Candidates) Reset(o *Order) {
	for i := range c.all {
		o.Unwant(c.all[i].job)
	}
	c.all = c.all[:0]
}

// Add adds a task; a job's go by rank, then by task.
func (c *Candidates) Add(j sched.JobID, rank sched.Time, t sched.TaskID) {
	c.all = append(c.all, candidate{job: j, rank: rank, task: t})
}

// Sort puts them in order, after the last Add.
func (c *Candidates) Sort() {
	slices.SortFunc(c.all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.rank, b.rank), cmp.Compare(a.task, b.task))
	})
}

// Want has their jobs want clones.
func (c *Candidates) Want(v *sched.View, o *Order) {
	for i := range c.all {
		o.Want(v, c.all[i].job)
	}
}

// Take takes the next task of a job; without one the job wants no clones.
func (c *Candidates) Take(o *Order, j sched.JobID) (t sched.TaskID, ok bool) {
	lo, found := slices.BinarySearchFunc(c.all, j, func(x candidate, j sched.JobID) int { return cmp.Compare(x.job, j) })
	if found {
		i := lo + int(c.all[lo].taken)
		if i < len(c.all) && c.all[i].job == j {
			c.all[lo].taken++
			return c.all[i].task, true
		}
	}
	o.Unwant(j)
	return 0, false
}

// Left goes through the tasks that nobody took.
func (c *Candidates) Left() iter.Seq[sched.TaskID] {
	return func(yield func(sched.TaskID) bool) {
		taken := 0
		for i := range c.all {
			if i == 0 || c.all[i].job != c.all[i-1].job {
				taken = i + int(c.all[i].taken)
			}
			if i >= taken && !yield(c.all[i].task) {
				return
			}
		}
	}
}
