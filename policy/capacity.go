package policy

// Capacity: Hadoop's CapacityScheduler.
//
//	queue               of a job: its Job.Priority, at least 0 and at most queues-1
//	guaranteed g_q      first for queue 0; the other queues share the rest equally
//	maximum-capacity    cap, a fraction of all slots, the same for all queues
//	user-limit-factor   user_limit: a user's attempts are at most so many times the guaranteed slots of the queue; 0 for no limit
//	user                every job is a user of its own
//
//	a free slot goes to the queue with the smallest used/g_q that is below its cap and has a task for it; in the queue to the first job, by arrival
//
// Queues are elastic: what one does not use others may, up to their caps, and nothing is taken back by force. Limits
// are rounded up, so that a queue with a task can always run one; a queue without a guarantee goes last. Trees of
// queues, shares of users within a queue and preemption are left out.
//
// An event costs O(log jobs + queues), the arrival of a machine O(active jobs).

import (
	"math"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var capacityEntry = kit.Entry{
	Name:    "capacity",
	Summary: "queues with guaranteed fractions of the slots, jobs in order of arrival in each; no clones, no preemption",
	Needs:   kit.Needs{Jobs: true, Instead: "fifo, or spark for clones"},
	Source:  "Apache Hadoop, CapacityScheduler",
	Params: []kit.Param{
		{Name: "queues", Kind: kit.Int, Default: "2", Min: 1, Max: 64, Help: "number of queues; a job's priority is the number of its queue"},
		{Name: "first", Kind: kit.Float, Default: "0.5", Min: 0, Max: 1, Help: "guaranteed fraction of queue 0; the others share the rest"},
		{Name: "cap", Kind: kit.Float, Default: "1", Min: 0, Max: 1, Help: "fraction of the slots that a queue can have at most"},
		{Name: "user_limit", Kind: kit.Float, Default: "1", Min: 0, Max: 1e6, Help: "what a job can have at most, in guaranteed capacities of its queue; 0 for no limit"},
	},
	New: newCapacity,
}

type capacity struct {
	cap, userLimit float64
	queues         []capacityQueue
}

type capacityQueue struct {
	guaranteed float64
	used       int                    // attempts running
	jobs       kit.Heap[kit.Standing] // with tasks that wait, below their limits
}

func newCapacity(a kit.Args) sched.Policy {
	p := &capacity{cap: a.Float("cap"), userLimit: a.Float("user_limit"), queues: make([]capacityQueue, a.Int("queues"))}
	rest := 1 - a.Float("first")
	for q := range p.queues {
		p.queues[q].guaranteed = rest / float64(max(1, len(p.queues)-1))
	}
	p.queues[0].guaranteed = a.Float("first")
	return p
}

func (p *capacity) queue(job *sched.Job) *capacityQueue {
	return &p.queues[min(max(0, int(job.Priority)), len(p.queues)-1)]
}

func (p *capacity) Observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.MachineJoined, sched.MachineLost, sched.MachineResized:
		if p.userLimit > 0 {
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
	if job.Pending == 0 || job.State != sched.JobActive || p.userLimit > 0 && int(job.Live) >= slotsOf(p.userLimit*q.guaranteed, v) {
		q.jobs.Drop(int(j))
		return
	}
	q.jobs.Set(int(j), kit.Standing{Arrived: job.Arrived})
}

// slotsOf returns a fraction of all slots, rounded up but for what is rounding of the fraction, and at least 1.
func slotsOf(fraction float64, v *sched.View) int {
	return max(1, int(math.Ceil(min(fraction*float64(v.Slots()), math.MaxInt32)-1e-9)))
}

func (p *capacity) Decide(v *sched.View, act *sched.Actions) {
	most := slotsOf(p.cap, v)
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
		if q.jobs.Len() > 0 && q.used < most && (best == nil || q.hunger() < best.hunger()) {
			best = q
		}
	}
	return best
}

// hunger returns how much of its guarantee the queue uses.
func (q *capacityQueue) hunger() float64 {
	if q.guaranteed == 0 {
		return math.Inf(1)
	}
	return float64(q.used) / q.guaranteed
}
