package policy

import (
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// launches learns how long attempts take from their launch until they are at work, L, where nobody says so. An attempt
// that goes on as it did between its first two reports was at its start so long before the first of them. What reports
// have wrong lies on both sides, so the median of the last attempts counts.
type launches struct {
	rows []firstReport // by row
	last [31]float64   // seconds, a ring
	n    int
}

// firstReport is that of an attempt; done once its launch is known.
type firstReport struct {
	gen      uint32
	done     bool
	at       sched.Time
	progress float64
}

// leastLaunches are known before they count.
const leastLaunches = 3

// hears takes in a report, and returns L if it may have changed.
func (l *launches) hears(v *sched.View, ev *sched.Event) (launch sched.Time, ok bool) {
	a := v.Attempt(ev.Attempt)
	if a.Rate > 0 || a.Progress >= 1 {
		return 0, false
	}
	l.rows = kit.Grown(l.rows, ev.Attempt.Row())
	x := &l.rows[ev.Attempt.Row()]
	switch {
	case x.gen != ev.Attempt.Generation():
		*x = firstReport{gen: ev.Attempt.Generation(), at: v.Now(), progress: a.Progress}
		return 0, false
	case x.done || v.Now() == x.at:
		return 0, false
	}
	x.done = true
	l.last[l.n%len(l.last)] = l.start(x, &a, (v.Now() - x.at).Seconds())
	l.n++
	return l.median()
}

// start returns after how many seconds an attempt was at work, by its first report and one some seconds later.
func (l *launches) start(x *firstReport, a *sched.Attempt, later float64) float64 {
	age, rate := (x.at - a.Started).Seconds(), (a.Progress-x.progress)/later
	if rate <= 0 {
		return -age // the first says too much
	}
	return age - (x.progress-a.From)/rate
}

func (l *launches) median() (launch sched.Time, ok bool) {
	if l.n < leastLaunches {
		return 0, false
	}
	sorted := l.last
	known := sorted[:min(l.n, len(sorted))]
	slices.Sort(known)
	return sched.FromSeconds(max(0, known[(len(known)-1)/2])), true
}
