package probes

import (
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// Queues is a policy: the queues of all machines, and the schedulers that fill them. An event costs O(log machines),
// and what it sends; a machine that comes or goes O(machines) beyond its queue.
type Queues struct {
	set      Settings
	machines []queue // by id
	up       []sched.MachineID
	general  []sched.MachineID // of these, where long tasks may go
	short    []sched.MachineID // and where not
	central  kit.Heap[standing]
	jobs     sched.Table[sched.JobID, scheduler]
	slips    []slip
	spare    []int32      // rows of slips
	ends     []sched.Time // by row of attempts: when a long one is expected to end
	dirty    []sched.MachineID
	half     kit.Queue[message] // that take half a round trip, in order
	whole    kit.Queue[message] // that take one
	sent     uint64             // messages
	stranded bool               // a job lacks reservations because there is no machine

	stamp uint32 // of the last sample
	drawn []sched.MachineID
	loads kit.Heap[kit.Rising[int32]]
}

// queue is that of a machine, and what is known of the machine.
type queue struct {
	first, last   int32 // reservations that wait here, row plus 1; 0 for none
	waiting       int32
	asking        int32 // slots that wait for an answer
	long          int32 // long tasks on their way here or in the queue
	runs          int32 // attempts of long tasks
	work          sched.Time
	due           sched.Time // sum of the instants at which these attempts are expected to end
	stamp, looked uint32     // the last sample that it is in; how often it has tried to steal
	epoch         uint32     // how often it has been lost
	up, dirty     bool
	idle          bool // a slot has become free since it tried to steal
}

// scheduler is that of a job, and what it knows.
type scheduler struct {
	first int32 // its reservations, row plus 1; 0 for none
	live  int32 // how many
	seen  int32 // tasks that wait and have had probes
	drawn uint32
	task  sched.Time // expected duration of one
	long  bool
}

// slip is a reservation.
type slip struct {
	job          sched.JobID
	machine      sched.MachineID
	epoch        uint32 // of the machine
	prev, next   int32  // in the machine's queue, row plus 1
	older, newer int32  // in the job's list
	passed       int32  // how often it was overtaken
	turned       uint8  // how often it was turned away
	state        state
	bound, long  bool
	gone         bool // its scheduler has taken it back
}

type state uint8

const (
	travels state = iota
	waits
	asks
)

// message is a slip that arrives, or the answer to its question; or, if slip is negative, that the queues which a job's
// scheduler has asked for their lengths have answered.
type message struct {
	at    sched.Time
	seq   uint64
	slip  int32
	job   sched.JobID
	tasks int32
}

// New returns the policy.
func New(s Settings) *Queues { return &Queues{set: s} }

// Observe takes note of an event.
func (q *Queues) Observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.MachineJoined:
		q.join(v, ev.Machine)
		return
	case sched.MachineLost:
		q.lose(v, ev.Machine)
		return
	case sched.MachineResized:
		q.touch(ev.Machine)
		q.retime(v, ev.Machine)
		return
	case sched.TimerFired, sched.DataFetched, sched.AttemptProgress, sched.AttemptBegan:
		return
	case sched.AttemptTaken:
		a := v.Attempt(ev.Attempt)
		q.began(v, ev.Job, a.Machine, ev.Attempt)
	case sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost:
		q.ended(v, ev)
	case sched.JobRetired:
		q.takeBack(v, ev.Job)
		q.jobs.Drop(ev.Job)
		return
	}
	q.look(v, ev.Job)
}

// of returns what is known of a job, once it is known what it is.
func (q *Queues) of(v *sched.View, j sched.JobID) *scheduler {
	if q.jobs.Has(j) {
		return q.jobs.Of(j)
	}
	x := q.jobs.At(j)
	row := v.Job(j)
	work, tasks := 0.0, 0.0
	for s := row.FirstStage; s < row.FirstStage+sched.StageID(row.Stages); s++ {
		if st := v.Stage(s); st.Mean > 0 {
			work += float64(st.Tasks) * st.Mean.Seconds()
			tasks += float64(st.Tasks)
		}
	}
	if tasks > 0 {
		x.task = sched.FromSeconds(work / tasks)
	}
	x.long = q.set.Hybrid && x.task > q.set.Cutoff
	return x
}

// look sends probes for tasks of a job that have come to wait, or takes back those of one without any.
func (q *Queues) look(v *sched.View, j sched.JobID) {
	row, x := v.Job(j), q.of(v, j)
	waiting := int32(row.Pending)
	switch {
	case row.State != sched.JobActive:
		q.takeBack(v, j)
		waiting = 0
	case waiting == 0 && q.set.Cancel && x.live > 0:
		q.takeBack(v, j)
	case waiting > x.seen:
		more := waiting - x.seen
		x.seen = waiting
		q.send(v, j, more)
		return
	}
	x.seen = waiting
}

// takeBack ends all reservations of a job. Those that travel or ask end when they arrive.
func (q *Queues) takeBack(v *sched.View, j sched.JobID) {
	if !q.jobs.Has(j) {
		return
	}
	x := q.jobs.Of(j)
	for x.first > 0 {
		i := x.first - 1
		q.forget(v, i)
		if s := &q.slips[i]; s.state == waits {
			q.leave(i)
			q.spare = append(q.spare, i)
		} else {
			s.gone = true
		}
	}
}

// slip makes a reservation.
func (q *Queues) slip(s slip) int32 {
	i := int32(len(q.slips))
	if n := len(q.spare); n > 0 {
		i = q.spare[n-1]
		q.spare = q.spare[:n-1]
	} else {
		q.slips = append(q.slips, slip{})
	}
	x := q.jobs.Of(s.job)
	s.epoch = q.machines[s.machine].epoch
	s.older = x.first
	if x.first > 0 {
		q.slips[x.first-1].newer = i + 1
	}
	x.first = i + 1
	x.live++
	q.slips[i] = s
	return i
}

// forget takes a reservation out of its job's list. The last that was made is the first of the list.
func (q *Queues) forget(v *sched.View, i int32) {
	s := &q.slips[i]
	x := q.jobs.Of(s.job)
	x.live--
	if s.long {
		q.unburden(v, s)
	}
	if s.newer > 0 {
		q.slips[s.newer-1].older = s.older
	} else {
		x.first = s.older
	}
	if s.older > 0 {
		q.slips[s.older-1].newer = s.newer
	}
	s.older, s.newer = 0, 0
}

// use ends a reservation that is in no queue.
func (q *Queues) use(v *sched.View, i int32) {
	q.forget(v, i)
	q.spare = append(q.spare, i)
}

// enter puts a reservation at the end of its machine's queue, or at its front.
func (q *Queues) enter(i int32, front bool) {
	s := &q.slips[i]
	m := &q.machines[s.machine]
	s.state, s.prev, s.next = waits, 0, 0
	switch {
	case m.first == 0:
		m.first, m.last = i+1, i+1
	case front:
		s.next = m.first
		q.slips[m.first-1].prev = i + 1
		m.first = i + 1
	default:
		s.prev = m.last
		q.slips[m.last-1].next = i + 1
		m.last = i + 1
	}
	m.waiting++
	q.touch(s.machine)
}

// leave takes a reservation out of its machine's queue.
func (q *Queues) leave(i int32) {
	s := &q.slips[i]
	m := &q.machines[s.machine]
	if s.prev > 0 {
		q.slips[s.prev-1].next = s.next
	} else {
		m.first = s.next
	}
	if s.next > 0 {
		q.slips[s.next-1].prev = s.prev
	} else {
		m.last = s.prev
	}
	s.prev, s.next = 0, 0
	m.waiting--
}

// touch has a machine looked at in this step.
func (q *Queues) touch(m sched.MachineID) {
	if x := &q.machines[m]; !x.dirty {
		x.dirty = true
		q.dirty = append(q.dirty, m)
	}
}

// post sends a message that takes half a round trip, or a whole one.
func (q *Queues) post(v *sched.View, whole bool, m message) {
	m.seq = q.sent
	q.sent++
	if whole {
		m.at = v.Now() + q.set.Trip
		q.whole.Push(m)
		return
	}
	m.at = v.Now() + q.set.Trip/2
	q.half.Push(m)
}
