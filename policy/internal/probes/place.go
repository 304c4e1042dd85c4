package probes

import (
	"math/rand/v2"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// join takes note of a machine that has come up.
func (q *Queues) join(v *sched.View, id sched.MachineID) {
	q.machines = kit.Grown(q.machines, int(id))
	m := &q.machines[id]
	if m.up {
		return
	}
	m.up = true
	q.up = insert(q.up, id)
	if q.takesLong(id) {
		q.general = insert(q.general, id)
	} else {
		q.short = insert(q.short, id)
	}
	q.retime(v, id)
	q.touch(id)
	if !q.stranded {
		return
	}
	q.stranded = false
	for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
		if x := q.of(v, j); x.live < x.seen {
			q.send(v, j, x.seen-x.live)
		}
	}
}

// lose sends the reservations in a machine's queue elsewhere. Those that travel or ask are sent on when they arrive.
func (q *Queues) lose(v *sched.View, id sched.MachineID) {
	m := &q.machines[id]
	if !m.up {
		return
	}
	m.up, m.asking, m.idle = false, 0, false
	m.epoch++
	q.up = remove(q.up, id)
	q.general, q.short = remove(q.general, id), remove(q.short, id)
	q.central.Drop(int(id))
	for m.first > 0 {
		i := m.first - 1
		q.leave(i)
		q.resend(v, i)
	}
}

// takesLong tells whether long tasks may go to a machine. Those where they may not are spread evenly over the ids, so
// that they are the same share of the machines however many there are.
func (q *Queues) takesLong(id sched.MachineID) bool {
	n := float64(id)
	return int((n+1)*q.set.Short) == int(n*q.set.Short)
}

func insert(list []sched.MachineID, id sched.MachineID) []sched.MachineID {
	i, _ := slices.BinarySearch(list, id)
	return slices.Insert(list, i, id)
}

func remove(list []sched.MachineID, id sched.MachineID) []sched.MachineID {
	if i, found := slices.BinarySearch(list, id); found {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// send sends probes for so many tasks of a job that wait. There are never more reservations than probes of all tasks
// that wait, so what is left of earlier ones counts.
func (q *Queues) send(v *sched.View, j sched.JobID, tasks int32) {
	x := q.jobs.Of(j)
	switch {
	case len(q.up) == 0:
		q.stranded = true
	case x.long:
		for range min(tasks, x.seen-x.live) {
			q.post(v, false, message{slip: q.slip(slip{job: j, machine: q.leastWork(v, j), bound: true, long: true})})
		}
	case q.set.Sample != Late:
		q.post(v, true, message{slip: -1, job: j, tasks: tasks})
	default:
		n := int32(q.set.Probes)
		for _, m := range q.sample(q.up, j, min(tasks*n, x.seen*n-x.live)) {
			q.post(v, false, message{slip: q.slip(slip{job: j, machine: m})})
		}
	}
}

// resend sends a reservation, which is in no queue, to another machine, because its own is lost.
func (q *Queues) resend(v *sched.View, i int32) {
	s := &q.slips[i]
	if len(q.up) == 0 {
		q.use(v, i)
		q.stranded = true
		return
	}
	j, long := s.job, s.long
	q.move(v, i, func() sched.MachineID {
		if long {
			return q.leastWork(v, j)
		}
		return q.one(q.up, j)
	})
	q.post(v, false, message{slip: i})
}

// move makes a reservation one for another machine.
func (q *Queues) move(v *sched.View, i int32, to func() sched.MachineID) {
	s := &q.slips[i]
	if s.long {
		q.unburden(v, s)
	}
	s.machine, s.state = to(), travels
	s.epoch = q.machines[s.machine].epoch
}

// sample draws machines for a job's probes: all of them as often as there are probes for all, and for the rest as many
// different ones, each set equally likely (Floyd; Bentley, "A sample of brilliance", CACM 1987).
func (q *Queues) sample(list []sched.MachineID, j sched.JobID, probes int32) []sched.MachineID {
	q.drawn = q.drawn[:0]
	k, n := int(probes), len(list)
	for ; k >= n; k -= n {
		q.drawn = append(q.drawn, list...)
	}
	q.stamp++
	for i := n - k; i < n; i++ {
		g := q.dice(j)
		m := list[below(&g, i+1)]
		if q.machines[m].stamp == q.stamp {
			m = list[i]
		}
		q.machines[m].stamp = q.stamp
		q.drawn = append(q.drawn, m)
	}
	return q.drawn
}

// one draws a machine for a probe of a job.
func (q *Queues) one(list []sched.MachineID, j sched.JobID) sched.MachineID {
	g := q.dice(j)
	return list[below(&g, len(list))]
}

// dice returns the random numbers of a job's next probe.
func (q *Queues) dice(j sched.JobID) (g rand.PCG) {
	x := q.jobs.Of(j)
	g.Seed(q.set.Seed, uint64(j)<<32|uint64(x.drawn))
	x.drawn++
	return g
}

// below returns an index less than n. The bias is below n/2^64.
func below(g *rand.PCG, n int) int { return int(g.Uint64() % uint64(n)) }

// assign sends tasks of a job to the shortest of the queues that have answered. A queue is what runs, asks and waits at
// a machine, by the slots there.
func (q *Queues) assign(v *sched.View, j sched.JobID, tasks int32) {
	if !q.jobs.Has(j) {
		return
	}
	x := q.jobs.Of(j)
	if tasks = min(tasks, x.seen-x.live); tasks <= 0 {
		return
	}
	if len(q.up) == 0 {
		q.stranded = true
		return
	}
	d := int32(q.set.Probes)
	if q.set.Sample == Each {
		for range tasks {
			best := sched.MachineID(0)
			for k, m := range q.sample(q.up, j, min(d, int32(len(q.up)))) {
				if k == 0 || q.length(v, m) < q.length(v, best) {
					best = m
				}
			}
			q.post(v, false, message{slip: q.slip(slip{job: j, machine: best, bound: true})})
		}
		return
	}
	q.loads.Clear()
	machines := q.sample(q.up, j, min(max(d*tasks, 1), int32(len(q.up))))
	for k, m := range machines {
		q.loads.Set(k, kit.Rising[int32]{X: q.length(v, m)})
	}
	for range tasks {
		k, load := q.loads.Top(), q.loads.TopKey()
		q.loads.Set(k, kit.Rising[int32]{X: load.X + 1})
		q.post(v, false, message{slip: q.slip(slip{job: j, machine: machines[k], bound: true})})
	}
}

// length returns the length of a machine's queue, with what runs. On one with several slots those that are free count
// against it.
func (q *Queues) length(v *sched.View, id sched.MachineID) int32 {
	m, row := &q.machines[id], v.Machine(id)
	return m.waiting + m.asking + int32(row.Used) - int32(row.Slots)
}
