package policy

import "github.com/tailcut/tailcut/sched"

// endTimes keeps, for each running attempt that has reported, the instant at which it ends by the linear estimate
// t_rem = age (1-phi)/phi of its last report, or by the rate that the driver told. Until the next report that instant
// stands still, so orders by it need no upkeep. The exception are attempts that stand still themselves, see silence:
// their ends are put off whenever their stage is looked at, as by a report.
type endTimes struct {
	at    []sched.Time // by row, 0 for unknown
	quiet silence
}

func (e *endTimes) observe(v *sched.View, ev *sched.Event) {
	e.quiet.observe(v, ev)
	switch ev.Kind {
	case sched.AttemptProgress:
		e.reckon(v, ev.Attempt)
	case sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost:
		e.forget(ev.Attempt)
	}
}

// reckon takes notice of what is known of a running attempt.
func (e *endTimes) reckon(v *sched.View, a sched.AttemptID) {
	row := e.quiet.attempt(v, a)
	if rem, ok := row.Remaining(v.Now()); ok {
		e.at = grown(e.at, a.Row())
		e.at[a.Row()] = v.Now() + min(rem, sched.Never-v.Now())
	}
}

// look calls a function for the tasks with attempts that stand still, once the ends of those are put off.
func (e *endTimes) look(v *sched.View, act *sched.Actions, do func(sched.StageID, sched.TaskID)) {
	e.quiet.look(v, func(s sched.StageID, t sched.TaskID) {
		for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
			if e.quiet.silent(v, a) {
				e.reckon(v, a)
			}
		}
		do(s, t)
	})
	wakeFor(act, &e.quiet.due)
}

// forget is for attempts that a policy kills: no event tells of them.
func (e *endTimes) forget(a sched.AttemptID) {
	if a.Row() < len(e.at) {
		e.at[a.Row()] = 0
	}
}

// of returns the estimated end of a running attempt if there is one.
func (e *endTimes) of(a sched.AttemptID) (end sched.Time, ok bool) {
	if a.Row() >= len(e.at) || e.at[a.Row()] == 0 {
		return 0, false
	}
	return e.at[a.Row()], true
}

// task returns the earliest estimated end of the running attempts of a task if there is one.
func (e *endTimes) task(v *sched.View, t sched.TaskID) (end sched.Time, ok bool) {
	for a, runs := v.FirstAttempt(t); runs; a, runs = v.NextAttempt(a) {
		if x, known := e.of(a); known && (!ok || x < end) {
			end, ok = x, true
		}
	}
	return end, ok
}
