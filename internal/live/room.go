package live

import (
	"math"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// An attempt that its machine refuses, for want of processes, descriptors, memory or room on a disk, says that the
// machine has too much to do. The run then uses fewer of its slots: those in use. After a pause it uses twice as
// many, and so on until it uses all; each shortage in a row makes the pause twice as long. Meanwhile an attempt that
// fails beside others may have failed for the same reason, as a shell does that cannot fork: that is taken for
// another refusal, and halves the slots. Alone it has what there is, and its failure is its own; but it, too, makes
// the run pause.

const (
	firstPause = 100 * time.Millisecond
	mostPause  = 30 * time.Second
)

// rooms are the machines that lack something.
type rooms struct {
	timer *time.Timer // fires when more can be tried
	next  sched.Time  // when that is for want of something
	of    map[sched.MachineID]*shortage
	told  map[sched.MachineID]int // of what the core thinks that there is room for, where that is not all slots
}

// shortage is what a machine has gone through since it used all of its slots.
type shortage struct {
	refused int  // in this batch
	failed  int  // of those, after they had begun
	slots   int  // in use at most
	tried   bool // more slots than at the last refusal
	pause   time.Duration
	until   sched.Time // the pause is over
	crowded sched.Time // the last instant at which more than one attempt ran
}

func newRooms() rooms {
	r := rooms{timer: time.NewTimer(time.Hour), of: map[sched.MachineID]*shortage{}, told: map[sched.MachineID]int{}}
	r.timer.Stop()
	return r
}

// shortage returns that of a machine, which may begin with it.
func (l *loop) shortage(m sched.MachineID) *shortage {
	s := l.rooms.of[m]
	if s == nil {
		s = &shortage{slots: l.full(m)}
		l.rooms.of[m] = s
	}
	return s
}

// refused takes notice of an attempt that its machine has refused.
func (l *loop) refused(m sched.MachineID, why string) {
	l.shortage(m).refused++
	if !l.warned && l.watch.Short != nil {
		l.watch.Short(why)
	}
	l.warned = true
}

// excuse looks at a report of a failure, which may be due to what the attempt's machine lacks.
func (l *loop) excuse(rep *Report, m sched.MachineID) {
	s := l.rooms.of[m]
	if !rep.Short && (s == nil || rep.Kind != sched.AttemptFailed || rep.Exit > 128) { // killed
		return
	}
	v := l.core.View()
	switch {
	case v.Machine(m).Used > 1, s != nil && v.Attempt(rep.Attempt).Started <= s.crowded:
		rep.Kind = sched.AttemptRefused
		l.shortage(m).failed++
	case s != nil:
		s.failed++
		s.refused++
	}
}

// ration adds to the batch how many slots of the machines are used from now on. Where the gate is exact, that is none
// while something is in the batch: see admit.
func (l *loop) ration(now sched.Time, asked bool) {
	if l.shut {
		return // nothing more is started anyway
	}
	l.rooms.next = l.relieve(now)
	l.rooms.tryAt(now, l.rooms.next)
	if g := l.gate; g == nil {
		if len(l.rooms.of)+len(l.rooms.told) > 0 {
			l.resize(now, math.MaxInt)
		}
	} else if most, _ := g.most(); !g.exact() {
		l.resize(now, most)
	} else if most == 0 || asked || len(l.batch.Facts) > 0 {
		l.resize(now, 0)
	}
}

// relieve lets the machines that lack something use more slots, or fewer, and returns when it is to be asked again.
func (l *loop) relieve(now sched.Time) (next sched.Time) {
	next = sched.Never
	for id := range l.header.Machines { // in order
		m := sched.MachineID(id)
		s := l.rooms.of[m]
		if s == nil {
			continue
		}
		full, used := l.full(m), int(l.core.View().Machine(m).Used)
		if used > 1 {
			s.crowded = now
		}
		switch {
		case s.refused > 0:
			s.slots = min(s.slots, max(0, used-s.refused))
			if s.failed > 0 {
				s.slots /= 2
			}
			if s.tried || s.pause == 0 { // not more of the same
				s.pause = min(mostPause, max(firstPause, 2*s.pause))
			}
			s.refused, s.failed, s.tried, s.until = 0, 0, false, now+sched.Time(s.pause)
		case now >= s.until:
			s.slots, s.tried = min(full, max(1, 2*s.slots)), true
			s.until = now + sched.Time(s.pause)
		}
		if s.slots >= full {
			delete(l.rooms.of, m)
			continue
		}
		next = min(next, s.until)
	}
	return next
}

// tryAt has more tried at an instant.
func (r *rooms) tryAt(now, at sched.Time) {
	if at < sched.Never {
		r.timer.Reset(max(0, time.Duration(at-now)))
	}
}

// most returns how many slots of a machine can be used, of so many.
func (r *rooms) most(m sched.MachineID, full int) int {
	if s := r.of[m]; s != nil {
		return min(full, s.slots)
	}
	return full
}

// tellRoom adds to the batch how many slots of a machine are used, if the core has heard otherwise.
func (l *loop) tellRoom(m sched.MachineID, now sched.Time, room int) {
	all := l.header.Machines[m].Slots
	told, known := l.rooms.told[m]
	if !known {
		told = all
	}
	if room == told {
		return
	}
	if l.rooms.told[m] = room; room == all {
		delete(l.rooms.told, m)
	}
	l.batch.Facts = append(l.batch.Facts, sched.Event{At: now, Kind: sched.MachineResized, Machine: m, Slots: uint32(room)})
}
