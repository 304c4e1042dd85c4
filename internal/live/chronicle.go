package live

import (
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Known is a job as a journal last knows it. Of the job only what the journal says may be asked, and Records.
type Known struct {
	*Job
	Row sched.Job
}

// Moved is a job that has left a journal of its own, as the engine knew it: under its id there, on a clock that is
// ahead by so much, without the attempts that its folder had before the job was submitted.
func (k Known) Moved(id sched.JobID, ahead sched.Time) Known {
	j := *k.JournalJob
	j.ID = id
	if j.Spec.Deadline > 0 && j.Spec.Deadline < sched.Never {
		j.Spec.Deadline += ahead
	}
	x := Known{&Job{JournalJob: &j}, k.Row}
	for _, r := range k.records {
		if r.Launched < k.Row.Arrived {
			continue
		}
		r.Launched, r.Start, r.Stop = r.Launched+ahead, r.Start+ahead, r.Stop+ahead
		x.records = append(x.records, r)
	}
	x.Row.Arrived, x.Row.Closed = x.Row.Arrived+ahead, x.Row.Closed+ahead
	return x
}

// Chronicle keeps every job of a core, those that it forgets too, with the life of each attempt. What it takes in may
// come from a journal or from a simulation.
type Chronicle struct {
	h     *history
	known map[sched.JobID]Known
}

// NewChronicle returns an empty chronicle.
func NewChronicle() *Chronicle { return &Chronicle{h: newHistory(), known: map[sched.JobID]Known{}} }

// Add takes in a batch after the core has. It keeps the jobs of the batch.
func (c *Chronicle) Add(v *sched.View, b *trace.Batch) {
	for i := range b.Facts {
		if f := &b.Facts[i]; f.Kind == sched.JobRetired && c.h.jobs[f.Job] != nil {
			c.known[f.Job] = Known{c.h.jobs[f.Job], c.known[f.Job].Row}
		}
	}
	c.h.add(v, b, nil)
	for i := range b.Decisions {
		if d := &b.Decisions[i]; d.Kind == sched.Close && c.h.jobs[d.Job] != nil {
			c.known[d.Job] = Known{c.h.jobs[d.Job], v.Job(d.Job)}
		}
	}
}

// Jobs returns all jobs, as the core has those that it still knows.
func (c *Chronicle) Jobs(v *sched.View) map[sched.JobID]Known {
	for id, j := range c.h.jobs {
		c.known[id] = Known{j, v.Job(id)}
	}
	return c.known
}
