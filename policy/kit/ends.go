package kit

import "github.com/tailcut/tailcut/sched"

// Ends keeps, for each running attempt that has reported, the instant at which it ends by the linear estimate
// t_rem = age (1-phi)/phi of its last report, or by the rate that the driver told. Until the next report that instant
// stands still, so orders by it need no upkeep. The exception are attempts that stand still themselves, see Silence:
// their ends are put off whenever their stage is looked at, as by a report.
type Ends struct {
	at    []sched.Time // by row: the complement of the end, which may be at instant 0; 0 for unknown
	quiet Silence
}

// Observe takes note of reports and of attempts that end. It has to see every event.
func (e *Ends) Observe(v *sched.View, ev *sched.Event) {
	e.quiet.Observe(v, ev)
	switch ev.Kind {
	case sched.AttemptProgress, sched.AttemptTaken:
		e.reckon(v, ev.Attempt)
	case sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost:
		e.Forget(ev.Attempt)
	}
}

// reckon takes notice of what is known of a running attempt.
func (e *Ends) reckon(v *sched.View, a sched.AttemptID) {
	row := e.quiet.Attempt(v, a)
	if rem, ok := row.Remaining(v.Now()); ok {
		e.at = Grown(e.at, a.Row())
		e.at[a.Row()] = ^(v.Now() + min(rem, sched.Never-v.Now()))
	}
}

// Look calls a function for the tasks with attempts that stand still, once the ends of those are put off.
func (e *Ends) Look(v *sched.View, act *sched.Actions, do func(sched.StageID, sched.TaskID)) {
	e.quiet.Look(v, func(s sched.StageID, t sched.TaskID) {
		for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
			if e.quiet.Silent(v, a) {
				e.reckon(v, a)
			}
		}
		do(s, t)
	})
	WakeFor(act, &e.quiet.Due)
}

// Forget is for attempts that a policy kills: no event tells of them.
func (e *Ends) Forget(a sched.AttemptID) {
	if a.Row() < len(e.at) {
		e.at[a.Row()] = 0
	}
}

// Of returns the estimated end of a running attempt if there is one.
func (e *Ends) Of(a sched.AttemptID) (end sched.Time, ok bool) {
	if a.Row() >= len(e.at) || e.at[a.Row()] == 0 {
		return 0, false
	}
	return ^e.at[a.Row()], true
}

// Task returns the earliest estimated end of the running attempts of a task if there is one.
func (e *Ends) Task(v *sched.View, t sched.TaskID) (end sched.Time, ok bool) {
	for a, runs := v.FirstAttempt(t); runs; a, runs = v.NextAttempt(a) {
		if x, known := e.Of(a); known && (!ok || x < end) {
			end, ok = x, true
		}
	}
	return end, ok
}
