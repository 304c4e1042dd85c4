package policy

// Capacity: Hadoop's CapacityScheduler, as of Apache Hadoop 3.4.1.
//
//	queue               of a job: its Job.Priority, at least 0 and at most queues-1
//	guaranteed g_q      first for queue 0; the other queues share the rest equally; in slots, rounded up
//	maximum-capacity    cap, a fraction of all slots, the same for all queues
//	user-limit-factor   user_limit: times the guaranteed slots of the queue, rounded up; 0 for no limit
//	user                every job is a user of its own
//
//	a free slot goes to the queue with the smallest used/g_q that is below its cap and has a task for it; in the queue to the first job, by arrival,
//	that does not run more than its user limit
//
// The limits are read as the original reads them. AbstractLeafQueue.canAssignToUser refuses a user whose usage is
// greater than the limit, so that a user gets one container beyond it. UsersManager.computeUserLimit rounds the queue's
// capacity up to whole containers, and then the user's part of it. AbstractCSQueue.canAssignToThisQueue refuses a queue
// whose usage has reached its maximum, so a queue gets none beyond. user_check=reached stops a job at its limit.
//
// Queues are elastic: what one does not use others may, up to their caps, and nothing is taken back by force. Limits
// are at least 1, so that a queue with a task can always run one; a queue without a guarantee goes last. Trees of
// queues, shares of users within a queue and preemption are left out.
//
// An event costs O(log jobs + queues), the arrival of a machine O(active jobs).

import (
	"math"
	"math/bits"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var capacityEntry = kit.Entry{
	Name:    "capacity",
	Family:  kit.Orders,
	Cost:    "O(log jobs + queues); a machine that comes or goes O(active jobs)",
	Summary: "queues with guaranteed fractions of the slots, jobs in order of arrival in each; no clones, no preemption",
	Needs:   kit.Needs{Jobs: true, Instead: "fifo, or spark for clones"},
	Source:  "Apache Hadoop 3.4.1, CapacityScheduler: AbstractLeafQueue.canAssignToUser, UsersManager.computeUserLimit",
	Code:    capacityCode,
	Params: []kit.Param{
		{Name: "queues", Kind: kit.Int, Default: "2", Min: 1, Max: 64, Help: "number of queues; a job's priority is the number of its queue"},
		{Name: "first", Kind: kit.Float, Default: "0.5", Min: 0, Max: 1, Help: "guaranteed fraction of queue 0; the others share the rest"},
		{Name: "cap", Kind: kit.Float, Default: "1", Min: 0, Max: 1, Help: "fraction of the slots that a queue can have at most"},
		{Name: "user_limit", Kind: kit.Float, Default: "1", Min: 0, Max: 1e6, Help: "limit of a job, in guaranteed capacities of its queue; 0 for no limit"},
		{Name: "user_check", Kind: kit.Choice, Default: "exceeded", Choices: []string{"exceeded", "reached"}, Help: "when a job gets no more slots: beyond its limit, as AbstractLeafQueue.canAssignToUser has it, so that it gets one more, or at it"},
	},
	New: newCapacity,
}

type capacity struct {
	cap, userLimit fraction
	beyond         uint32 // slots that a job gets beyond its limit
	queues         []capacityQueue
}

type capacityQueue struct {
	guaranteed fraction
	used       int                    // attempts running
	jobs       kit.Heap[kit.Standing] // with tasks that wait, below their limits
}

func newCapacity(a kit.Args) sched.Policy {
	p := &capacity{cap: toFraction(a.Float("cap")), userLimit: toFraction(a.Float("user_limit")), queues: make([]capacityQueue, a.Int("queues"))}
	if a.Choice("user_check") == "exceeded" {
		p.beyond = 1
	}
	first := toFraction(a.Float("first"))
	others := uint64(max(1, len(p.queues)-1))
	for q := range p.queues {
		p.queues[q].guaranteed = fraction{first.den - first.num, first.den * others}
	}
	p.queues[0].guaranteed = fraction{first.num * others, first.den * others}
	return p
}

// fraction is num/den, so that a third of three slots is one. The guarantees of all queues have the same den.
type fraction struct{ num, den uint64 }

// toFraction reads a number of at least 0 with nine digits after the point.
func toFraction(x float64) fraction { return fraction{uint64(math.Round(x * decimals)), decimals} }

// of returns the fraction of so many slots, rounded up, and at least 1.
func (f fraction) of(slots int) int {
	hi, lo := bits.Mul64(uint64(slots), f.num)
	n, rest := bits.Div64(hi, lo, f.den)
	if rest > 0 {
		n++
	}
	return int(min(max(1, n), math.MaxInt32))
}

func (p *capacity) queue(job *sched.Job) *capacityQueue {
	return &p.queues[min(max(0, int(job.Priority)), len(p.queues)-1)]
}

func (p *capacity) Observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.MachineJoined, sched.MachineLost, sched.MachineResized:
		if p.userLimit.num > 0 {
			for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
				p.touch(v, j)
			}
		}
		return
	case sched.TimerFired, sched.AttemptBegan, sched.AttemptProgress, sched.DataFetched:
		return
	case sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost:
		job := v.Job(ev.Job)
		p.queue(&job).used--
	case sched.AttemptTaken:
		job := v.Job(ev.Job)
		p.queue(&job).used++
	case sched.JobChanged:
		p.recount(v, ev.Job)
	}
	p.touch(v, ev.Job)
}

// recount takes notice that a job may have gone to another queue, with all that runs of it.
func (p *capacity) recount(v *sched.View, changed sched.JobID) {
	for q := range p.queues {
		p.queues[q].used = 0
		p.queues[q].jobs.Drop(int(changed))
	}
	for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
		job := v.Job(j)
		p.queue(&job).used += int(job.Live)
	}
}

// touch puts a job in or takes it out of its queue, as it can use a slot or not.
func (p *capacity) touch(v *sched.View, j sched.JobID) {
	job := v.Job(j)
	q := p.queue(&job)
	if job.Pending == 0 || job.State != sched.JobActive || !p.below(v, q, &job) {
		q.jobs.Drop(int(j))
		return
	}
	q.jobs.Set(int(j), kit.Standing{Arrived: job.Arrived})
}

// below tells whether a job may have one more slot.
func (p *capacity) below(v *sched.View, q *capacityQueue, job *sched.Job) bool {
	if p.userLimit.num == 0 {
		return true
	}
	return int(job.Live) < p.userLimit.of(q.guaranteed.of(v.Slots()))+int(p.beyond)
}

func (p *capacity) Decide(v *sched.View, act *sched.Actions) {
	most := p.cap.of(v.Slots())
	for {
		m, ok := v.FreeMachine(0)
		q := p.hungriest(most)
		if !ok || q == nil {
			return
		}
		j := sched.JobID(q.jobs.Top())
		t, _ := kit.FirstPending(v, j)
		kit.Start(v, act, t, m)
		q.used++
		p.touch(v, j)
	}
}

// hungriest returns the queue that gets the next slot, the first of equals; nil for none.
func (p *capacity) hungriest(most int) (best *capacityQueue) {
	for i := range p.queues {
		q := &p.queues[i]
		if q.jobs.Len() > 0 && q.used < most && (best == nil || q.hungrier(best)) {
			best = q
		}
	}
	return best
}

// hungrier tells whether the queue uses less of its guarantee than another, whose guarantee has the same den.
func (q *capacityQueue) hungrier(than *capacityQueue) bool {
	if q.guaranteed.num == 0 {
		return false
	}
	return than.guaranteed.num == 0 || uint64(q.used)*than.guaranteed.num < uint64(than.used)*q.guaranteed.num
}
