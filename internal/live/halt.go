package live

import (
	"time"

	"github.com/tailcut/tailcut/sched"
)

// A run may be told to start nothing more once too many tasks have failed for good, and to let what runs then run to
// its end. The machines have then no room any more: the policy sees a cluster without slots, and needs no rule of its
// own. When the last attempt has ended, the job is cancelled. Whoever opens the run again has it tried again, with all
// slots.

// halt is how far a run has come with that.
type halt struct {
	after int  // so many tasks may fail for good; sched.Unlimited for any number
	on    bool // nothing more is started
}

// HaltSoon has the run, which was not yet looped, start nothing more once more than so many tasks have failed for good.
func (r *Run) HaltSoon(after int) { r.halt.after = after }

// foresee looks at what will be told to the core: if it is one failure too many, the core hears at the same time that
// there is no more room, so that the policy starts nothing in the slot that becomes free.
func (r *Run) foresee(now sched.Time) {
	if r.halt.after == sched.Unlimited || r.halt.on {
		return
	}
	failed := int(r.core.View().Job(job).Broken)
	for i := range r.batch.Facts {
		if r.breaks(&r.batch.Facts[i]) {
			failed++
		}
	}
	if failed > r.halt.after {
		r.haltNow(now)
	}
}

// breaks tells whether a fact, alone, lets its task fail for good.
func (r *Run) breaks(f *sched.Event) bool {
	v := r.core.View()
	if f.Kind != sched.AttemptFailed && f.Kind != sched.AttemptDoomed || !v.Rows().Alive(f.Attempt) {
		return false
	}
	a := v.Attempt(f.Attempt)
	task := v.Task(a.Task)
	switch {
	case task.Live > 1:
		return false
	case !sched.FailureCounts(a.Clone):
		return v.Exhausted(a.Task)
	}
	return f.Kind == sched.AttemptDoomed || uint32(task.Failures) >= v.Stage(task.Stage).Retries
}

// haltNow adds to the batch that no machine has room any more.
func (r *Run) haltNow(now sched.Time) {
	r.halt.on = true
	for m := range r.present {
		r.tellRoom(sched.MachineID(m), now, 0)
	}
}

// drain is called after each step: it halts the run if nobody foresaw that, takes a halt back that was foreseen in
// vain, since another attempt of the task has won at the same instant, and ends a run that has halted.
func (r *Run) drain(wake *time.Timer) error {
	if r.halt.after == sched.Unlimited || r.over {
		return nil
	}
	now := r.now()
	row := r.core.View().Job(job)
	switch tooMany := int(row.Broken) > r.halt.after; {
	case tooMany && !r.halt.on:
		r.haltNow(now)
	case !tooMany && r.halt.on:
		r.halt.on = false
		r.ration(now, true)
	}
	if r.halt.on && row.Live == 0 {
		r.batch.Facts = append(r.batch.Facts, sched.Event{At: now, Kind: sched.JobCancelled, Job: job})
	}
	if len(r.batch.Facts) == 0 {
		return nil
	}
	return r.advance(now, wake)
}
