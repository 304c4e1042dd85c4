package probes

import (
	"math/rand/v2"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// Decide hands out what has arrived, and fills free slots, until nothing is left to do at this instant.
func (q *Queues) Decide(v *sched.View, act *sched.Actions) {
	for {
		for n := 0; n < len(q.dirty); n++ {
			q.machines[q.dirty[n]].dirty = false
			q.serve(v, act, q.dirty[n])
		}
		q.dirty = q.dirty[:0]
		m, ok := q.next()
		if !ok {
			return
		}
		if m.at > v.Now() {
			act.WakeAt(m.at)
			return
		}
		q.take(m.whole)
		if m.slip < 0 {
			q.assign(v, m.job, m.tasks)
		} else {
			q.arrive(v, act, m.slip)
		}
	}
}

// arriving is the message that arrives next, and in which of the two queues it is.
type arriving struct {
	message
	whole bool
}

func (q *Queues) next() (m arriving, ok bool) {
	switch {
	case q.half.Len() == 0 && q.whole.Len() == 0:
		return m, false
	case q.half.Len() == 0:
		return arriving{q.whole.First(), true}, true
	case q.whole.Len() == 0:
		return arriving{q.half.First(), false}, true
	}
	a, b := q.half.First(), q.whole.First()
	if a.at < b.at || a.at == b.at && a.seq < b.seq {
		return arriving{a, false}, true
	}
	return arriving{b, true}, true
}

func (q *Queues) take(whole bool) {
	if whole {
		q.whole.Pop()
	} else {
		q.half.Pop()
	}
}

// arrive is the arrival of a reservation at its machine, or of the answer to its question.
func (q *Queues) arrive(v *sched.View, act *sched.Actions, i int32) {
	s := &q.slips[i]
	m := &q.machines[s.machine]
	there := m.up && m.epoch == s.epoch
	answer := s.state == asks
	if answer && there {
		m.asking--
		q.touch(s.machine)
	}
	switch {
	case s.gone:
		q.spare = append(q.spare, i)
		if answer && there {
			m.idle = true
		}
	case !there:
		q.resend(v, i)
	case answer:
		q.bind(v, act, i)
	case q.set.Avoid && !s.long && m.long+m.runs > 0 && s.turned < Away:
		q.turnAway(v, i)
	default:
		q.enter(i, false)
	}
}

// bind gives a slot that has asked the next task of the reservation's job.
func (q *Queues) bind(v *sched.View, act *sched.Actions, i int32) {
	s := &q.slips[i]
	j, id := s.job, s.machine
	row := v.Machine(id)
	t, ok := kit.FirstPending(v, j)
	switch {
	case !ok:
		q.use(v, i)
		q.machines[id].idle = true
	case row.Used >= row.Slots: // others have taken the slot
		q.enter(i, true)
	default:
		if q.set.Stick && v.Job(j).Pending > 1 {
			q.enter(i, true)
		} else {
			q.use(v, i)
		}
		q.start(v, act, j, t, id)
	}
}

// start starts a task.
func (q *Queues) start(v *sched.View, act *sched.Actions, j sched.JobID, t sched.TaskID, id sched.MachineID) {
	q.began(v, j, id, kit.Start(v, act, t, id))
	q.look(v, j)
}

// serve fills the free slots of a machine from its queue. If the queue is empty it tries to steal, once for each time
// that a slot has become free.
func (q *Queues) serve(v *sched.View, act *sched.Actions, id sched.MachineID) {
	m := &q.machines[id]
	for m.up {
		row := v.Machine(id)
		if int32(row.Used)+m.asking >= int32(row.Slots) {
			return
		}
		if m.first == 0 && !(m.idle && q.steal(id)) {
			m.idle = false
			return
		}
		i := q.choose(v, m)
		q.leave(i)
		s := &q.slips[i]
		if !s.bound {
			s.state = asks
			m.asking++
			q.post(v, true, message{slip: i})
			continue
		}
		j := s.job
		q.use(v, i)
		if t, ok := kit.FirstPending(v, j); ok {
			q.start(v, act, j, t, id)
		}
	}
}

// choose returns the reservation that a free slot takes: the first, or the one whose job has the least left to start,
// unless one has been overtaken too often.
func (q *Queues) choose(v *sched.View, m *queue) int32 {
	best := m.first - 1
	if q.set.Bypass < 0 {
		return best
	}
	least := q.left(v, best)
	for at := m.first; at > 0 && q.slips[at-1].passed < int32(q.set.Bypass); at = q.slips[at-1].next {
		if left := q.left(v, at-1); left < least {
			best, least = at-1, left
		}
	}
	for at := m.first; at-1 != best; at = q.slips[at-1].next {
		q.slips[at-1].passed++
	}
	q.slips[best].passed = 0
	return best
}

// left returns the work of a reservation's job that has not started. A task of unknown duration takes a second.
func (q *Queues) left(v *sched.View, i int32) sched.Time {
	j := q.slips[i].job
	task := q.jobs.Of(j).task
	if task == 0 {
		task = sched.Second
	}
	return sched.Time(v.Job(j).Pending) * task
}

// turnAway sends a probe to another machine: to one that has no long tasks, as the machine that turns it away knows
// from the central scheduler, or, if it was turned away before, to one that takes none.
func (q *Queues) turnAway(v *sched.View, i int32) {
	s := &q.slips[i]
	s.turned++
	j, last := s.job, s.turned >= Away
	q.move(v, i, func() sched.MachineID {
		if last && len(q.short) > 0 {
			return q.one(q.short, j)
		}
		return q.clear(j)
	})
	q.post(v, true, message{slip: i})
}

// clearTries is how many machines are drawn in search of one without long tasks.
const clearTries = 32

// clear draws a machine without long tasks. If a few draws find none it is one that takes none, or, if there is no such
// machine, any.
func (q *Queues) clear(j sched.JobID) sched.MachineID {
	g := q.dice(j)
	for range clearTries {
		id := q.up[below(&g, len(q.up))]
		if m := &q.machines[id]; m.long+m.runs == 0 {
			return id
		}
	}
	if len(q.short) > 0 {
		return q.short[below(&g, len(q.short))]
	}
	return q.up[below(&g, len(q.up))]
}

// steal looks at some machines where long tasks may be, drawn at random, and moves what it may take from the first that
// has any. It tells whether there was something.
func (q *Queues) steal(id sched.MachineID) bool {
	m := &q.machines[id]
	m.looked++
	if q.set.Steal == 0 || len(q.general) == 0 {
		return false
	}
	var g rand.PCG
	g.Seed(^q.set.Seed, uint64(id)<<32|uint64(m.looked))
	for range q.set.Steal {
		from := q.general[below(&g, len(q.general))]
		if from != id && q.rob(from, id) {
			return true
		}
	}
	return false
}

// rob moves the first short reservations that wait in a row behind a long task, running or waiting.
func (q *Queues) rob(from, to sched.MachineID) bool {
	m := &q.machines[from]
	if m.long+m.runs == 0 {
		return false
	}
	at := m.first
	if m.runs == 0 {
		for at > 0 && !q.slips[at-1].long {
			at = q.slips[at-1].next
		}
	}
	for at > 0 && q.slips[at-1].long {
		at = q.slips[at-1].next
	}
	found := at > 0
	for at > 0 && !q.slips[at-1].long {
		next := q.slips[at-1].next
		q.leave(at - 1)
		s := &q.slips[at-1]
		s.machine, s.epoch = to, q.machines[to].epoch
		q.enter(at-1, false)
		at = next
	}
	return found
}
