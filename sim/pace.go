package sim

import (
	"errors"
	"math"

	"github.com/tailcut/tailcut/sched"
)

// Under a policy that sets the speed of the machines, what a service says is how long an attempt takes at their
// ordinary speed: its work. Its end is planned anew at each change. The end is rounded once, from the work that is left
// then, to whole nanoseconds, and no rounding of an earlier plan goes into it; the work itself is kept with an error
// below 2^-52 of what was done between two changes.

// effort is the work of an attempt, in nanoseconds of a machine at ordinary speed.
type effort struct {
	id    sched.AttemptID
	whole sched.Time // sched.Never if it never ends
	done  sched.Time // of it, at the instant since,
	part  float64    // and this part of a nanosecond, below 1
	since sched.Time
}

// settle brings the work done up to the present, speed having been the factor meanwhile.
func (e *effort) settle(now sched.Time, speed float64) {
	if e.whole < sched.Never {
		did := e.part + float64(now-e.since)*speed
		if did < float64(e.whole-e.done) {
			n := math.Floor(did)
			e.done, e.part = e.done+sched.Time(n), did-n
		} else { // its end was rounded to now, or will be
			e.done, e.part = e.whole, 0
		}
	}
	e.since = now
}

// end returns when the rest will be done at a speed.
func (e *effort) end(speed float64) sched.Time {
	if e.whole == sched.Never {
		return sched.Never
	}
	left := max(0, float64(e.whole-e.done)-e.part) / speed
	if !(left < float64(sched.Never-e.since)) {
		return sched.Never
	}
	return e.since + sched.Time(math.Round(left))
}

// fraction returns how much of the work is done.
func (e *effort) fraction() float64 {
	if e.whole == 0 {
		return 1
	}
	return min(1, (float64(e.done)+e.part)/float64(e.whole))
}

// canPace says why a policy that sets the speed cannot be simulated so, nil if it can.
func canPace(o *Options, service Service) error {
	what := ""
	switch service.(type) {
	case *machineSlowdown:
		what = "with the service machine, whose slowdowns come and go by the clock"
	case *machineCapacity:
		what = "with the service capacity, whose slots go by the clock"
	}
	switch {
	case o.Cluster != nil:
		what = "where there are sites"
	case len(o.More) > 0:
		what = "where there are classes of slots"
	case o.LaunchDelay > 0 || o.Wait != nil:
		what = "with a launch delay"
	}
	if what == "" {
		return nil
	}
	return errors.New("a policy that sets the speed of the machines cannot run " + what)
}

// exert notes the work of a new attempt and returns when it ends at the present speed.
func (s *Simulator) exert(id sched.AttemptID, work sched.Time) sched.Time {
	row := id.Row()
	for len(s.efforts) <= row {
		s.efforts = append(s.efforts, effort{})
	}
	s.efforts[row] = effort{id: id, whole: work, since: s.now}
	return s.efforts[row].end(s.speed)
}

// pace changes the speed of all machines and plans the ends of all running attempts anew, in O(attempts).
func (s *Simulator) pace(speed float64) {
	was := s.speed
	s.speed = speed
	s.told = s.told[:0] // forecasts of this step, which do not hold any more
	for row := range s.efforts {
		e := &s.efforts[row]
		if !s.core.View().Rows().Alive(e.id) {
			continue
		}
		e.settle(s.now, was)
		r := &s.rows[row]
		r.end = e.end(speed)
		s.ends.remove(uint32(row))
		s.schedule(r)
		if s.o.Progress.Exact && r.end > s.now {
			s.told = append(s.told, s.forecast(r, r.from+(1-r.from)*e.fraction()))
		}
	}
}
