package kit

import "github.com/tailcut/tailcut/sched"

// Shunned are the machines that have been slow lately: they get no work while others are free. Who has none free but
// these gets the one that will be forgiven first.
type Shunned struct {
	rows []shun          // by machine
	from sched.MachineID // where the latest search has ended, and the next one begins
}

// shun is until when a machine is shunned, and how often in a row it has been.
type shun struct {
	until sched.Time
	times uint8
}

const (
	mostPassed = 64 // machines that a search passes
	mostTimes  = 6  // in a row, each of which lasts twice as long as the one before
	mostSpan   = 30 * 24 * 3600 * sched.Second
)

// Slow takes in that a machine is slow. It is shunned for a span, and for longer if it was slow when it had last been
// forgiven.
func (s *Shunned) Slow(v *sched.View, m sched.MachineID, span sched.Time) {
	s.rows = Grown(s.rows, int(m))
	x := &s.rows[m]
	if x.until <= v.Now() {
		x.times = min(x.times+1, mostTimes)
	}
	x.until = max(x.until, v.Now()+min(span, mostSpan)<<(x.times-1))
}

// Quick takes in that a machine is not slow.
func (s *Shunned) Quick(m sched.MachineID) {
	if int(m) < len(s.rows) {
		s.rows[m] = shun{}
	}
}

// Shuns tells whether a machine is shunned.
func (s *Shunned) Shuns(v *sched.View, m sched.MachineID) bool {
	return int(m) < len(s.rows) && s.rows[m].until > v.Now()
}

// Free returns a free machine for an attempt of a task: one that is not shunned and on which the task does not run, if
// there is one. ok is false if no slot is free where data of the task may be.
func (s *Shunned) Free(v *sched.View, t sched.TaskID) (m sched.MachineID, ok bool) {
	if m, ok = freeFor(v, t, 0); !ok || s.bad(v, t, m) == 0 {
		return m, ok
	}
	x := s.search(v, t, s.from)
	if s.from > 0 && x.bad > 0 {
		if y := s.search(v, t, 0); y.bad < x.bad {
			x.machine, x.bad = y.machine, y.bad
		}
	}
	s.from = x.next
	return x.machine, x.bad < sched.Never
}

// searched is what a search has found.
type searched struct {
	machine sched.MachineID
	bad     sched.Time      // 0 for the best; sched.Never if nothing was found
	next    sched.MachineID // where it has ended; 0 if there are no others
}

// search looks at free machines from one on.
func (s *Shunned) search(v *sched.View, t sched.TaskID, from sched.MachineID) searched {
	x := searched{bad: sched.Never}
	m, ok := freeFor(v, t, from)
	for range mostPassed {
		if !ok {
			x.next = 0
			return x
		}
		if bad := s.bad(v, t, m); bad < x.bad {
			x.machine, x.bad = m, bad
		}
		if x.next = m; x.bad == 0 {
			return x
		}
		m, ok = freeFor(v, t, m+1)
	}
	return x
}

// bad orders machines for a task: one where it runs comes last.
func (s *Shunned) bad(v *sched.View, t sched.TaskID, m sched.MachineID) (bad sched.Time) {
	if s.Shuns(v, m) {
		bad = s.rows[m].until
	}
	if RunsOn(v, t, m) {
		bad = sched.Never - 1
	}
	return bad
}
