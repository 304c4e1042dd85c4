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

// Candidates are tasks that are to have clones, found anew at each decision. Few of many are taken, so they are not
// sorted: a job's become a heap when the first of them is taken.
type Candidates struct {
	all  []candidate
	runs []run
}

type candidate struct {
	rank sched.Time
	task sched.TaskID
}

// run is candidates of one job that were added one after the other; those behind end are taken.
type run struct {
	job        sched.JobID
	begin, end int
	heap       bool
}

func (a candidate) before(b candidate) bool {
	return a.rank < b.rank || a.rank == b.rank && a.task < b.task
}

// Reset forgets all, and no job wants clones.
func (c *Candidates) Reset(o *Order) {
	for i := range c.runs {
		o.Unwant(c.runs[i].job)
	}
	c.all, c.runs = c.all[:0], c.runs[:0]
}

// Add adds a task; a job's go by rank, then by task.
func (c *Candidates) Add(j sched.JobID, rank sched.Time, t sched.TaskID) {
	if n := len(c.runs); n == 0 || c.runs[n-1].job != j {
		c.runs = append(c.runs, run{job: j, begin: len(c.all), end: len(c.all)})
	}
	c.all = append(c.all, candidate{rank, t})
	c.runs[len(c.runs)-1].end++
}

// Sort puts them in the order of their jobs, after the last Add.
func (c *Candidates) Sort() {
	slices.SortFunc(c.runs, func(a, b run) int { return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.begin, b.begin)) })
}

// Want has their jobs want clones.
func (c *Candidates) Want(v *sched.View, o *Order) {
	for i := range c.runs {
		o.Want(v, c.runs[i].job)
	}
}

// Take takes the next task of a job; without one the job wants no clones.
func (c *Candidates) Take(o *Order, j sched.JobID) (t sched.TaskID, ok bool) {
	i, _ := slices.BinarySearchFunc(c.runs, j, func(r run, j sched.JobID) int { return cmp.Compare(r.job, j) })
	best := -1
	for ; i < len(c.runs) && c.runs[i].job == j; i++ {
		if r := &c.runs[i]; r.begin < r.end {
			c.order(r)
			if best < 0 || c.all[r.begin].before(c.all[c.runs[best].begin]) {
				best = i
			}
		}
	}
	if best < 0 {
		o.Unwant(j)
		return 0, false
	}
	r := &c.runs[best]
	t = c.all[r.begin].task
	r.end--
	c.all[r.begin] = c.all[r.end]
	sink(c.all[r.begin:r.end], 0)
	return t, true
}

// order makes a heap of a run.
func (c *Candidates) order(r *run) {
	if r.heap {
		return
	}
	r.heap = true
	all := c.all[r.begin:r.end]
	for i := len(all)/2 - 1; i >= 0; i-- {
		sink(all, i)
	}
}

// sink moves a candidate of a heap down to its place.
func sink(heap []candidate, i int) {
	for {
		child := 2*i + 1
		if child+1 < len(heap) && heap[child+1].before(heap[child]) {
			child++
		}
		if child >= len(heap) || !heap[child].before(heap[i]) {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}

// Left goes through the tasks that nobody took, in no order.
func (c *Candidates) Left() iter.Seq[sched.TaskID] {
	return func(yield func(sched.TaskID) bool) {
		for _, r := range c.runs {
			for _, x := range c.all[r.begin:r.end] {
				if !yield(x.task) {
					return
				}
			}
		}
	}
}
