package policy

import (
	"math"

	"github.com/tailcut/tailcut/sched"
)

// starts learns how much the time differs that attempts take from their launch until they are at work. A constant one
// is a part of every duration, and every law knows it. What differs says that starts wait for what is not a slot: the
// processors, a disk. A clone waits for that too and takes it from what runs, so it is worth its slot only if it saves
// more than few such differences. Before much is known they are taken to be those of processes on a busy machine.
type starts struct {
	n, sum, sqrs float64 // of attempts that have won, in seconds
}

const (
	few = 4

	usualStart = 0.01 // standard deviation, in seconds, which counts as much as usualCount starts
	usualCount = 4
)

func (s *starts) observe(ev *sched.Event) {
	if ev.Kind == sched.AttemptDone {
		const fade = 0.999
		x := ev.Span.Seconds()
		s.n, s.sum, s.sqrs = fade*s.n+1, fade*s.sum+x, fade*s.sqrs+x*x
	}
}

// cost is how many seconds a clone has to save before it is worth anything.
func (s *starts) cost() float64 {
	if s.sqrs == 0 {
		return 0
	}
	return few * math.Sqrt((max(0, s.sqrs-s.sum*s.sum/s.n)+usualCount*usualStart*usualStart)/(s.n+usualCount))
}
