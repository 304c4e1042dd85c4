package sim

import (
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// carryOut does what the core has decided.
func (s *Simulator) carryOut(d *sched.Decision) {
	switch d.Kind {
	case sched.Launch:
		s.launch(d)
	case sched.Kill:
		if d.Reason < sched.SiblingWon {
			s.killed++
		}
		s.ends.remove(uint32(d.Attempt.Row()))
		s.dies(d)
		if s.geo != nil {
			s.geo.tellFetched(s.core.View(), d.Attempt, s.now, s.o.LaunchDelay)
			s.geo.chargeEnd(s.core.View(), d.Attempt, s.now, s.o.LaunchDelay)
		}
		if wan := s.wan(); wan != nil {
			wan.cancel(uint32(d.Attempt.Row()))
		}
		if s.shared != nil {
			s.leave(d)
		}
	case sched.Wake:
		s.wake = d.At
	case sched.Pace:
		s.pace(d.Speed)
	case sched.Close:
		s.conclude(d.Job)
		s.closed++
		s.killed = 0
	case sched.Commit: // results are of no interest here
	}
}

// goesOn lets an attempt begin or report if it does not end now.
func (s *Simulator) goesOn(r *running) bool {
	if r.waits && s.now >= r.begun {
		s.beginWork(r)
	}
	s.reports = s.tellBegun(r, s.reports)
	if r.end <= s.now {
		return false
	}
	// before that it has done nothing
	if (s.now > r.begun || s.now == r.begun && s.o.Progress.Exact) && !s.hung(r) && !s.silent(r) {
		s.reports = append(s.reports, s.word(r))
	}
	s.schedule(r)
	return true
}

// launch rolls the dice for an attempt and schedules its end, or its first report.
func (s *Simulator) launch(d *sched.Decision) {
	st := s.stages.Of(d.Stage)
	r := running{
		id: d.Attempt, start: s.now, end: sched.Never, from: d.From,
		job: st.job, task: st.offset + uint32(d.Task-st.first), number: d.Number, machine: d.Machine, stage: d.Stage, of: d.Task,
	}
	ready := s.speaks(r.machine, s.now+s.held(&r))
	r.begun = ready + s.o.LaunchDelay
	s.ends.grow(d.Attempt.Row() + 1)
	if s.shared != nil {
		s.join(d, &r, s.describe(&r))
		return
	}
	if s.geo != nil {
		r.begun = s.geo.begins(s.core.View(), &r)
	}
	if s.o.Wait != nil {
		wait := s.wait(&r)
		if r.begun = sched.Never; wait < sched.Never-ready {
			r.begun = ready + wait
		}
		s.told = s.tellBegun(&r, s.told)
	}
	if r.begun < sched.Never {
		s.beginWork(&r)
	}
	if s.keeps() {
		s.keep(&r)
	}
	s.schedule(&r)
	if s.o.Progress.Exact && r.begun == s.now && r.end > s.now {
		s.told = append(s.told, s.forecast(&r, r.from))
	}
}

// keeps tells whether attempts have something to say before they end, may end otherwise than planned, or leave behind
// what others go on from, so that they have to be remembered.
func (s *Simulator) keeps() bool {
	return s.paced || s.resumable || s.o.Wait != nil || s.o.Progress.Every > 0 || s.o.Progress.Exact && (s.o.LaunchDelay > 0 || s.o.Overheads != (Overheads{}) || s.geo != nil || s.varying != nil)
}

// keep remembers what is known about an attempt.
func (s *Simulator) keep(r *running) {
	row := r.id.Row()
	for len(s.rows) <= row {
		s.rows = append(s.rows, running{})
	}
	s.rows[row] = *r
}

// schedule puts what comes next of an attempt into the queue: that it begins, if that matters, its next report, or its
// end.
func (s *Simulator) schedule(r *running) {
	due := r.end
	switch every := s.o.Progress.Every; {
	case r.begun == sched.Never:
	case s.now < r.begun && (s.o.Progress.Exact || r.waits || s.o.Wait != nil):
		due = min(due, r.begun)
	case every > 0 && !s.silent(r):
		now := max(s.now, r.begun)
		due = min(due, now+every-(now-r.begun)%every)
	}
	if s.varying != nil && s.o.Progress.Exact && s.now >= r.begun {
		due = min(due, s.paceChanges(r))
	}
	if due < sched.Never {
		s.ends.push(uint64(r.id), max(s.now, s.speaks(r.machine, due)))
	}
}

func (s *Simulator) law(st *recording) laws.Law {
	if st.law < 0 {
		return nil
	}
	return s.w.Laws[st.law]
}
