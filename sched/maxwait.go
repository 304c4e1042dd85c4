package sched

import (
	"cmp"
	"math/bits"
	"slices"
)

// No policy lets a job wait for ever, if Limits.MaxWait says so. A policy such as SRPT serves a long job only when
// there is no shorter one. So the core itself keeps a line for each class of slots. A job stands in it while it is
// active, is not paused, and has tasks that wait but no attempt running. It is due when it has had no turn for MaxWait:
// since it arrived, or went on, or an attempt of it ended other than by a policy's kill. A due job gets the next slot
// of the class before the policy is asked, for its first waiting task; of several the one that has waited longest. The
// policy is told with AttemptTaken, and cannot kill that attempt.
//
// A slot that the policy frees itself, by a kill, goes to due jobs as well: what it launches there is taken back. And
// if it kills an attempt of a job that has had no turn for MaxWait, the next one that it launches of that job counts as
// the core's: else it could kill and launch for ever what is never in the line.
//
// So what is true of every policy: let D be the longest time that an attempt runs, J the most jobs that are active at
// once, and M the slots of the class. A job stands in the line no longer than MaxWait + ceil(J/M) D. For whoever is
// ahead of it gets one attempt and goes behind it, and in each D at least M slots become free. So an attempt of it
// ends, other than by a kill, in each MaxWait + (ceil(J/M)+2) D. A job of n tasks, F of whose attempts fail or are
// lost, is over after at most n+F times as long.
//
// See docs/decisions/0031-no-job-waits-for-ever.md.

// waiter is a place in a line. It counts as long as its job waits, and since then.
type waiter struct {
	since Time
	job   JobID
}

func (a waiter) compare(b waiter) int {
	return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.job, b.job))
}

// line is a binary heap of those who wait. Who does not any more stays in it until he is first, or until half of the
// line must be such.
type line []waiter

func (l *line) push(w waiter) {
	*l = append(*l, w)
	h := *l
	for i := len(h) - 1; i > 0 && h[i].compare(h[(i-1)/2]) < 0; i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
}

func (l *line) pop() {
	h := *l
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	for i := 0; 2*i+1 < last; {
		c := 2*i + 1
		if c+1 < last && h[c+1].compare(h[c]) < 0 {
			c++
		}
		if h[i].compare(h[c]) <= 0 {
			break
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
	*l = h
}

// bounded tells whether there is a bound on waiting.
func (v *View) bounded() bool { return v.limits.MaxWait > 0 }

// served notes that a job had its turn just now: from here on it waits anew. It may have nothing running any more.
func (c *Core) served(j JobID, job *Job) {
	job.served, job.robbed = c.view.now, false
	if c.view.bounded() && job.Live == 0 {
		c.idled = append(c.idled, j)
	}
}

// queue puts the jobs that have nothing running any more into line.
func (c *Core) queue() {
	v := &c.view
	for _, j := range c.idled {
		if k, ok := v.waitsIn(j); ok {
			l := &c.lines[k]
			// at each power of two the line is looked through
			if n := len(*l); n >= 64 && bits.OnesCount(uint(n)) == 1 {
				*l = slices.DeleteFunc(*l, func(w waiter) bool { return !v.stands(w, k) })
				slices.SortFunc(*l, waiter.compare)
				*l = slices.Compact(*l)
			}
			l.push(waiter{v.job(j).served, j})
		}
	}
	c.idled = c.idled[:0]
}

// waitsIn returns the class of the slot that a job waits for; ok is false unless it is active, not paused, and has
// waiting tasks and no attempt running.
func (v *View) waitsIn(j JobID) (k Class, ok bool) {
	job := v.jobs.look(j)
	if job.State != JobActive || job.Paused || job.Live > 0 || job.Pending == 0 {
		return 0, false
	}
	s, _ := v.WaitingStage(job.FirstStage)
	return v.stage(s).Class, true
}

// stands tells whether a place in the line of a class counts.
func (v *View) stands(w waiter, k Class) bool {
	class, ok := v.waitsIn(w.job)
	return ok && class == k && v.job(w.job).served == w.since
}

// first returns who is first in the line of a class.
func (c *Core) first(k Class) (w waiter, ok bool) {
	l := &c.lines[k]
	for len(*l) > 0 && !c.view.stands((*l)[0], k) {
		l.pop()
	}
	if len(*l) == 0 {
		return waiter{}, false
	}
	return (*l)[0], true
}

// dueAt returns when somebody is due.
func (c *Core) dueAt(w waiter) Time { return w.since + min(c.view.limits.MaxWait, Never-w.since) }

// feed gives free slots to the jobs that are due, and tells whether there were any.
func (c *Core) feed() (fed bool) {
	v := &c.view
	if !v.bounded() {
		return false
	}
	c.queue()
	for k := range Class(Classes) {
		for w, ok := c.first(k); ok && c.dueAt(w) <= v.now; w, ok = c.first(k) {
			m := v.free[k].next(0)
			if m < 0 {
				break
			}
			c.lines[k].pop()
			fed = c.serve(w.job, MachineID(m)) || fed
		}
	}
	return fed
}

// serve lets the first waiting task of a job run.
func (c *Core) serve(j JobID, m MachineID) bool {
	v := &c.view
	s, _ := v.WaitingStage(v.job(j).FirstStage)
	t, _ := v.PendingTask(s, 0)
	id, err := c.act.Launch(t, m, v.task(t).Saved, Waited)
	if err != nil {
		return false // the limits allow no attempt at all
	}
	v.owe(id.row(), v.job(j))
	c.observe(c.about(id.row(), AttemptTaken))
	return true
}

// takeBack gives slots that the policy has freed, and used again, to jobs that are due, and keeps what it has launched
// of jobs that it has robbed. The launches are those among the decisions from an index on. It tells whether any was
// taken.
func (c *Core) takeBack(from int) (found bool) {
	v := &c.view
	for i := len(c.out) - 1; i >= from && v.bounded(); i-- {
		d := c.out[i]
		if d.Kind != Launch || !v.Rows().Alive(d.Attempt) || v.owes(d.Attempt.row()) {
			continue
		}
		k := v.kinOf(d.Attempt.row())
		if w, ok := c.first(k.stage.Class); !ok || c.dueAt(w) > v.now {
			if k.job.robbed {
				v.owe(d.Attempt.row(), k.job)
			}
			continue
		}
		served := k.job.served
		c.out = slices.Delete(c.out, i, i+1)
		c.refuse(d.Attempt.row())
		k.job.served = served
		found = c.feed() || found
	}
	return found
}

// owe keeps an attempt from the policy's kills.
func (v *View) owe(row int32, job *Job) {
	v.owed.grow(len(v.attempts))
	v.owed.add(int(row))
	job.robbed = false
}

// owes tells whether an attempt was launched by the core, or in place of one that the policy has taken from a due job.
func (v *View) owes(row int32) bool { return int(row) < v.owed.n && v.owed.has(int(row)) }

// nextDue returns the instant at which the next job will be due; Never if none waits. One that is due waits for a slot.
func (c *Core) nextDue() Time {
	next := Never
	if !c.view.bounded() {
		return next
	}
	c.queue()
	for k := range Class(Classes) {
		if w, ok := c.first(k); ok && c.dueAt(w) > c.view.now {
			next = min(next, c.dueAt(w))
		}
	}
	return next
}
