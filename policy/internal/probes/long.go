package probes

import (
	"cmp"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// standing is what the central scheduler expects of a machine: nothing of long tasks, or when those that are there will
// have ended.
type standing struct {
	busy  bool
	until sched.Time
}

// Compare puts the machine first that is through first.
func (a standing) Compare(b standing) int {
	switch {
	case a.busy != b.busy && b.busy:
		return -1
	case a.busy != b.busy:
		return 1
	}
	return cmp.Compare(a.until, b.until)
}

// leastWork returns the machine with the least work of long tasks, and adds a task of the job to it. Where no machine
// takes long tasks any does.
func (q *Queues) leastWork(v *sched.View, j sched.JobID) sched.MachineID {
	var id sched.MachineID
	if q.central.Len() > 0 {
		id = sched.MachineID(q.central.Top())
	} else {
		id = q.one(q.up, j)
	}
	m := &q.machines[id]
	m.long++
	m.work += q.jobs.Of(j).task
	q.retime(v, id)
	return id
}

// unburden takes a long task, which is on its way to a machine or in its queue, off its work.
func (q *Queues) unburden(v *sched.View, s *slip) {
	m := &q.machines[s.machine]
	m.long--
	m.work -= q.jobs.Of(s.job).task
	q.retime(v, s.machine)
}

// began takes note of an attempt.
func (q *Queues) began(v *sched.View, j sched.JobID, id sched.MachineID, a sched.AttemptID) {
	x := q.of(v, j)
	if !x.long {
		return
	}
	m := &q.machines[id]
	q.ends = kit.Grown(q.ends, a.Row())
	q.ends[a.Row()] = v.Now() + x.task
	m.runs++
	m.due += q.ends[a.Row()]
	q.retime(v, id)
}

// ended takes note of the end of one: there is a free slot.
func (q *Queues) ended(v *sched.View, ev *sched.Event) {
	m := &q.machines[ev.Machine]
	if q.of(v, ev.Job).long {
		m.runs--
		m.due -= q.ends[ev.Attempt.Row()]
		q.retime(v, ev.Machine)
	}
	m.idle = true
	q.touch(ev.Machine)
}

// retime tells the central scheduler when a machine will be through with its long tasks: what waits, and what is left
// of those that run, by the slots. One that runs for longer than expected has nothing left.
func (q *Queues) retime(v *sched.View, id sched.MachineID) {
	m, row := &q.machines[id], v.Machine(id)
	if !q.set.Hybrid || !m.up || !q.takesLong(id) || row.Slots == 0 {
		q.central.Drop(int(id))
		return
	}
	if m.long == 0 && m.runs == 0 {
		q.central.Set(int(id), standing{})
		return
	}
	left := max(0, m.due-sched.Time(m.runs)*v.Now())
	q.central.Set(int(id), standing{true, v.Now() + (m.work+left)/sched.Time(row.Slots)})
}
