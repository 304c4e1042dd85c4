package live

import "github.com/tailcut/tailcut/sched"

// script is the policy of whoever takes up a journal of many jobs: it orders again what the journal says was ordered.
// So a restart depends neither on what a policy had learned nor on a version of Tailcut whose policies decide
// otherwise. What the core does by itself follows from the facts and is not ordered.
type script struct{ next []sched.Decision } // of the batch, in order

// Observe does nothing: all is decided.
func (s *script) Observe(*sched.View, *sched.Event) {}

// Decide gives the orders of the batch. A job that is given up ends when Decide returns, and what was decided after
// that is ordered in the next call. The core refuses what cannot be; the decisions differ then.
func (s *script) Decide(v *sched.View, act *sched.Actions) {
	for len(s.next) > 0 {
		d := &s.next[0]
		s.next = s.next[1:]
		switch {
		case d.Kind == sched.Launch && d.Reason < sched.SiblingWon:
			_, _ = act.Launch(d.Task, d.Machine, d.From, d.Reason)
		case d.Kind == sched.Kill && d.Reason < sched.SiblingWon:
			_ = act.Kill(d.Attempt, d.Reason)
		case d.Kind == sched.Wake:
			act.WakeAt(d.At)
		case d.Kind == sched.Close && v.Job(d.Job).State == sched.JobActive:
			_ = act.Cancel(d.Job)
			return
		}
	}
}
