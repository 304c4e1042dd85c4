package live

import (
	"github.com/tailcut/tailcut/sched"
)

// A run may be told to start nothing more once too many tasks have failed for good, and to let what runs then run to
// its end. The machines have then no room any more: the policy sees a cluster without slots, and needs no rule of its
// own. When the last attempt has ended, the job is cancelled. Whoever opens the run again has it tried again, with all
// slots.

// halt is how far a run has come with that.
type halt struct {
	after int // so many tasks may fail for good; sched.Unlimited for any number
}

// HaltSoon has the run, which was not yet looped, start nothing more once more than so many tasks have failed for good.
func (r *Run) HaltSoon(after int) { r.halt.after = after }

// foresee looks at what will be told to the core: if it is one failure too many, the core hears at the same time that
// there is no more room, so that the policy starts nothing in the slot that becomes free.
func (l *loop) foresee(now sched.Time) {
	if l.halt.after == sched.Unlimited || l.shut {
		return
	}
	failed := int(l.core.View().Job(job).Broken)
	for i := range l.batch.Facts {
		if l.breaks(&l.batch.Facts[i]) {
			failed++
		}
	}
	if failed > l.halt.after {
		l.haltNow(now)
	}
}

// breaks tells whether a fact, alone, lets its task fail for good.
func (l *loop) breaks(f *sched.Event) bool {
	v := l.core.View()
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
func (l *loop) haltNow(now sched.Time) {
	l.shut = true
	for _, m := range l.present {
		l.tellRoom(m, now, 0)
	}
}

// drain is called after each step: it halts the run if nobody foresaw that, takes a halt back that was foreseen in
// vain, since another attempt of the task has won at the same instant, and ends a run that has halted.
func (l *loop) drain() error {
	if l.halt.after == sched.Unlimited || l.over {
		return nil
	}
	now := l.now()
	row := l.core.View().Job(job)
	switch tooMany := int(row.Broken) > l.halt.after; {
	case tooMany && !l.shut:
		l.haltNow(now)
	case !tooMany && l.shut:
		l.shut = false
		l.ration(now, true)
	}
	if l.shut && row.Live == 0 {
		l.batch.Facts = append(l.batch.Facts, sched.Event{At: now, Kind: sched.JobCancelled, Job: job})
	}
	if len(l.batch.Facts) == 0 {
		return nil
	}
	return l.advance(now)
}
