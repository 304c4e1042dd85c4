package policy

import "github.com/tailcut/tailcut/sched"

// endTimes keeps, for each running attempt that has reported, the instant at which it ends by the linear estimate t_rem
// = age (1-phi)/phi of its last report, or by the rate that the driver told. Until the next report that instant stands
// still, so orders by it need no upkeep.
type endTimes struct{ at []sched.Time } // by row, 0 for unknown

func (e *endTimes) observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.AttemptProgress:
		a := v.Attempt(ev.Attempt)
		if rem, ok := a.Remaining(v.Now()); ok {
			e.at = grown(e.at, ev.Attempt.Row())
			e.at[ev.Attempt.Row()] = v.Now() + min(rem, sched.Never-v.Now())
		}
	case sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost:
		e.forget(ev.Attempt)
	}
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
