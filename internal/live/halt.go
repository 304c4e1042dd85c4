package live

import "github.com/tailcut/tailcut/sched"

// A job may be told to start nothing more once too many of its tasks have failed for good, and to let what runs then
// run to its end. It is then paused: the policy passes it over, and needs no rule of its own. When its last attempt has
// ended, the job is cancelled. Whoever has it tried again continues it.

// HaltSoon has the run, which was not yet looped, start nothing more once more than so many tasks have failed for good.
func (r *Run) HaltSoon(after int) { r.job.Halt = &after }

// halts tells whether more tasks of the job have failed for good than are to.
func (j *Job) halts(row *sched.Job) bool { return j.Halt != nil && int(row.Broken) > *j.Halt }

// foresee looks at what will be told to the core: if it is one failure too many, the core hears at the same time that
// the job is paused, so that the policy starts nothing of it in the slot that becomes free.
func (l *loop) foresee(now sched.Time) {
	for i := range l.batch.Facts {
		f := &l.batch.Facts[i]
		if f.Kind != sched.AttemptFailed && f.Kind != sched.AttemptDoomed {
			continue
		}
		j := l.past.running[f.Attempt].Job
		if j == nil || j.Halt == nil {
			continue
		}
		put(&l.wary, j.ID, j)
		if l.breaks(f) {
			j.breaking++
		}
	}
	for _, j := range l.wary {
		if !j.halted && j.breaking > 0 && int(j.row().Broken)+j.breaking > *j.Halt {
			l.halt(j, now)
		}
		j.breaking = 0
	}
}

// breaks tells whether a fact, alone, lets its task fail for good.
func (l *loop) breaks(f *sched.Event) bool {
	v := l.core.View()
	if !v.Rows().Alive(f.Attempt) {
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

// halt adds to the batch that nothing more of a job starts.
func (l *loop) halt(j *Job, now sched.Time) {
	j.halted = true
	l.fact(sched.Event{At: now, Kind: sched.JobPaused, Job: j.ID})
}

// heed is called after each step: it halts jobs if nobody foresaw that, takes a halt back that was foreseen in vain,
// since another attempt of the task has won at the same instant, and ends jobs that have halted.
func (l *loop) heed() error {
	now := l.now()
	for id, j := range l.wary {
		row := j.row()
		if row.State > sched.JobActive || !j.halts(&row) {
			if delete(l.wary, id); j.halted && row.State == sched.JobActive {
				l.fact(sched.Event{At: now, Kind: sched.JobContinued, Job: id})
			}
			j.halted = false
			continue
		}
		if !j.halted {
			l.halt(j, now)
		}
		if row.Live == 0 {
			l.fact(sched.Event{At: now, Kind: sched.JobCancelled, Job: id})
		}
	}
	if l.batch.Empty() {
		return nil
	}
	return l.advance(now)
}
