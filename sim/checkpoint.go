package sim

import (
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// Under checkpointing the attempts of a task end together, when what all of them did adds up to the task. So their
// end is not fixed at the launch: it is planned anew whenever an attempt joins or leaves.

// crew is a task: all that work on it share one state. It outlives its attempts until the task is done.
type crew struct {
	work     float64    // of the whole task, in nanoseconds of a machine with unit speed
	done     float64    // of it, at the instant at
	at       sched.Time // since the run began
	attempts []sched.AttemptID
	machines []sched.MachineID // likewise
	changed  bool              // waits to be planned anew
}

// settle brings a crew's state up to the present.
func (s *Simulator) settle(w *crew) {
	now := s.now - s.start
	w.done = min(w.work, w.done+s.shared.work(w.machines, w.at, now))
	w.at = now
}

// fraction returns how much of the task is done.
func (w *crew) fraction() float64 {
	if w.work == 0 {
		return 1
	}
	return w.done / w.work
}

// join lets a new attempt work on its task: from the others' state, from that which the task had when its last
// attempt was preempted, or from nothing.
func (s *Simulator) join(d *sched.Decision, r *running, a *Attempt) {
	w := s.crews[d.Task]
	if w == nil {
		w = &crew{work: float64(a.size()) / s.o.Speed}
		s.crews[d.Task] = w
	}
	s.settle(w)
	if len(w.attempts) == 0 && d.From == 0 {
		w.done = 0
	}
	w.attempts, w.machines = append(w.attempts, d.Attempt), append(w.machines, s.machine(d.Machine))
	s.keep(r)
	s.change(w)
}

// leave ends an attempt's work.
func (s *Simulator) leave(d *sched.Decision) {
	w := s.crews[d.Task]
	if w == nil { // the task is done
		return
	}
	if i := slices.Index(w.attempts, d.Attempt); i >= 0 {
		s.settle(w)
		w.attempts, w.machines = slices.Delete(w.attempts, i, i+1), slices.Delete(w.machines, i, i+1)
		s.change(w)
	}
}

// change has a crew planned anew at the end of the step.
func (s *Simulator) change(w *crew) {
	if !w.changed {
		w.changed = true
		s.changed = append(s.changed, w)
	}
}

// plan schedules the ends of all tasks whose crews have changed.
func (s *Simulator) plan() {
	for _, w := range s.changed {
		w.changed = false
		if len(w.attempts) == 0 {
			continue
		}
		end := s.shared.finish(w.machines, w.at, w.work-w.done)
		if end < sched.Never {
			end += s.start
		}
		for _, id := range w.attempts {
			r := &s.rows[id.Row()]
			r.end = end
			s.ends.remove(uint32(id.Row()))
			s.schedule(r)
			if s.o.Progress.Exact && end > s.now && end < sched.Never {
				s.told = append(s.told, s.forecast(r, w.fraction()))
			}
		}
	}
	s.changed = s.changed[:0]
}

// progressOf returns how much of an attempt's task is done.
func (s *Simulator) progressOf(r *running) float64 {
	w := s.crews[s.core.View().Attempt(r.id).Task]
	s.settle(w)
	return w.fraction()
}
