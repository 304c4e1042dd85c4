package sim

import (
	"math"

	"github.com/tailcut/tailcut/sched"
)

// What an attempt has done is a share of its task's work. It grows with what the attempt does: not while it is launched
// or fetches, faster on a fast machine, and by what has happened so far, never by what will. An attempt that resumes
// goes on from what attempts of its task have done in truth, whatever they reported. Shares are kept with an error
// below 2^-52, and an end is rounded once, to the nanosecond: so much is lost or won when an attempt resumes.

// varying is a service on machines whose pace changes while attempts run. Instants are counted from the run's begin,
// work in nanoseconds of a machine at ordinary speed, a pace in those per nanosecond.
type varying interface {
	Service
	// through returns when a machine is through with work that it begins at an instant, which may be in the future of
	// the instant asked; instants asked never go back. It returns the spell of the instant begun too, for did.
	through(m sched.MachineID, begun, asked sched.Time, work float64) (end sched.Time, at spell)
	// did returns the work done between two instants, and moves the spell from that of one to that of the other.
	did(m sched.MachineID, at *spell, from, to sched.Time) float64
	// pace returns that at an instant in the spell, and when the next spell begins.
	pace(m sched.MachineID, at *spell, now sched.Time) (pace float64, until sched.Time)
}

// headway is how far an attempt on machines of varying pace has come.
type headway struct {
	work  float64    // that it has to do
	did   float64    // of it, at the instant since
	since sched.Time // counted from the run's begin
	at    spell      // of the instant since
}

// settle brings what the attempt did up to the present.
func (s *Simulator) settleHeadway(r *running) *headway {
	h := &s.headways[r.id.Row()]
	if now := s.now - s.start; now > h.since {
		h.did = min(h.work, h.did+s.varying.did(s.machine(r.machine), &h.at, h.since, now))
		h.since = now
	}
	return h
}

// worked returns what an attempt has done since it began, and what it has left to do, in one unit.
func (s *Simulator) worked(r *running) (did, left float64) {
	switch {
	case s.paced:
		e := &s.efforts[r.id.Row()]
		e.settle(s.now, s.speed)
		did = (float64(e.done) + e.part) / 1e9
		return did, max(0, e.whole.Seconds()-did)
	case s.varying != nil:
		h := s.settleHeadway(r)
		return h.did, h.work - h.did
	}
	gone := s.now - r.begun
	gone -= max(0, min(r.hangs, gone-r.stops))
	return gone.Seconds(), (r.end - r.begun - r.hangs - gone).Seconds()
}

// share returns how much of its task an attempt has done, with what it began from.
func (s *Simulator) share(r *running) float64 {
	if s.shared != nil {
		return s.progressOf(r)
	}
	if s.now <= r.begun {
		return r.from
	}
	did, left := s.worked(r)
	if !(left > 0) {
		return 1
	}
	return r.from + (1-r.from)*(did/(did+left))
}

// furthest returns how much of a task its attempts have done: those that run and work, and those that were killed.
// Another attempt can go on from there and no further.
func (s *Simulator) furthest(t sched.TaskID) float64 {
	v := s.core.View()
	most := s.reached[t]
	for id, ok := v.FirstAttempt(t); ok; id, ok = v.NextAttempt(id) {
		if row := id.Row(); row < len(s.rows) && s.rows[row].id == id && !s.rows[row].waits && s.now > s.rows[row].begun {
			most = max(most, s.share(&s.rows[row]))
		}
	}
	return most
}

// leaveBehind notes how far an attempt had come that was killed: others may go on from there.
func (s *Simulator) leaveBehind(d *sched.Decision) {
	if !s.resumable || s.shared != nil {
		return
	}
	row := d.Attempt.Row()
	if row >= len(s.rows) {
		return // it is launched in this step, too
	}
	if r := &s.rows[row]; r.id == d.Attempt && !r.waits && s.now > r.begun {
		if did := s.share(r); did > s.reached[d.Task] {
			s.reached[d.Task] = did
		}
	}
}

// beginWork lets an attempt begin, or plans its beginning, now that the instant is known.
func (s *Simulator) beginWork(r *running) {
	if r.from > 0 {
		if r.waits = s.now < r.begun; r.waits {
			return // how far others will have come is not known yet
		}
		r.from = min(r.from, s.furthest(r.of))
	}
	a := s.describe(r)
	if span := s.lasts(r, a); span < sched.Never-r.begun {
		r.end = r.begun + span
	}
}

// describe shows an attempt to the service.
func (s *Simulator) describe(r *running) *Attempt {
	st := s.stages.Of(r.stage)
	a := &s.attempt
	*a = Attempt{
		Seed: s.o.Seed, Job: r.job, Task: r.task, Number: r.number, Machine: s.machine(r.machine), At: r.begun - s.start, Asked: s.now - s.start,
		Index: int(r.of - st.first), Recorded: s.w.Durations[st.recorded : st.recorded+st.tasks], Law: s.law(st), Share: (1 - r.from) / s.o.Speed,
	}
	return a
}

// lasts returns how long an attempt works from its beginning.
func (s *Simulator) lasts(r *running, a *Attempt) sched.Time {
	factor := 1.0
	if s.geo != nil {
		factor = s.geo.factor(s.core.View().Machine(r.machine).Site, a)
	}
	if math.IsNaN(factor) {
		return sched.Never
	}
	if s.varying == nil {
		span := s.service.Duration(a)
		if s.geo != nil && span < sched.Never {
			span = scaled(span, factor)
		}
		if s.paced {
			if end := s.exert(r.id, span); end < sched.Never {
				return end - s.now
			}
			return sched.Never
		}
		return s.interrupt(r, span+s.pauses(r, span))
	}
	work := float64(a.size()) * a.Share * factor
	end, at := s.varying.through(a.Machine, a.At, a.Asked, work)
	if s.keeps() {
		for len(s.headways) <= r.id.Row() {
			s.headways = append(s.headways, headway{})
		}
		s.headways[r.id.Row()] = headway{work: work, since: a.At, at: at}
	}
	if end == sched.Never {
		return end
	}
	return end - a.At
}
