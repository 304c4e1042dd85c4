package policy

import (
	"math"

	"github.com/tailcut/tailcut/sched"
)

// starts learns how much the time differs that attempts take from their launch until they are at work. A constant one
// is a part of every duration, and every law knows it. What differs says that starts wait for what is not a slot: the
// processors, a disk. A clone waits for that too and takes it from what runs, so it is worth its slot only if it saves
// more than few such differences. Before much is known they are taken to be those of processes on a busy machine.
//
// Where attempts wait to begin, as pods do, durations are without their starts. There a clone costs the mean of them,
// too, and before much is known they are taken to differ by what pods tell: whole seconds, and ends that are known
// late.
type starts struct {
	n, sum, sqrs float64 // of attempts that have won, in seconds
	apart        bool    // durations are without them
}

const (
	few = 4

	usualStart = 0.01 // standard deviation, in seconds, which counts as much as usualCount starts
	usualApart = 1.0  // the same where starts are apart
	usualCount = 4
)

func (s *starts) observe(v *sched.View, ev *sched.Event) {
	s.apart = v.Cluster().WaitToBegin()
	if ev.Kind == sched.AttemptDone {
		const fade = 0.999
		x := ev.Span.Seconds()
		s.n, s.sum, s.sqrs = fade*s.n+1, fade*s.sum+x, fade*s.sqrs+x*x
	}
}

// cost is how many seconds so many clones that start together have to save before they are worth anything. Their stage
// waits once, but for the last of them: the largest of n normal differences is about sqrt(2 ln n) deviations.
func (s *starts) cost(clones int) float64 {
	if s.sqrs == 0 {
		return 0
	}
	mean, usual := 0.0, usualStart
	if s.apart {
		mean, usual = s.sum/s.n, usualApart
	}
	deviation := math.Sqrt((max(0, s.sqrs-s.sum*s.sum/s.n) + usualCount*usual*usual) / (s.n + usualCount))
	return mean + (few+math.Sqrt(2*math.Log(float64(clones))))*deviation
}

// each is the part of each of these clones.
func (s *starts) each(clones int) float64 {
	clones = max(1, clones)
	return s.cost(clones) / float64(clones)
}

// tooLate tells whether a task is more likely than not to be done before a clone could have begun. Its end may be known
// already to all but the driver.
func (s *starts) tooLate(left *timeLeft, cost float64) bool {
	return s.apart && left.quantile(0.5) <= cost
}
