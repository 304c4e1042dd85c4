package promise

import (
	"container/heap"
	"math"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// Reports of progress are a part of what policies are compared by: without them those that decide by reports would seem
// no better than others. In promises, too, attempts that report go on to do so (foretold.go).

// reportError is the deviation of the logarithm of what a report says of the time left, one for each attempt.
const reportError = 0.3

// mostReports bounds the reports of an attempt that takes as long as a stage's attempts do.
const mostReports = 10

// spell is an attempt that reports.
type spell struct {
	began, end sched.Time
	from       float64
	wrong      float64 // factor of the time left that its reports imply
}

// interval returns how long it is between two reports of an attempt, 0 if there are none: on average half of that has
// passed since the last one.
func (g *game) interval() sched.Time {
	var since []sched.Time
	for i := range g.snapshot.Attempts {
		if r := g.snapshot.Attempts[i].Reported; r != nil && r.Done > r.From {
			since = append(since, g.snapshot.At-r.At)
		}
	}
	if len(since) == 0 {
		return 0
	}
	slices.Sort(since)
	return max(1, 2*since[len(since)/2])
}

// report has an attempt report from now on: where policies are compared as often as attempts did and with errors, else
// every so often.
func (g *game) report(id sched.AttemptID, began, until sched.Time, from float64, every sched.Time) {
	if g.paired && g.every > 0 {
		every = max(g.every, (until-began)/mostReports)
	} else if g.paired {
		every = 0
	}
	now := g.core.View().Now()
	if every == 0 || now+every >= until {
		return
	}
	wrong := 1.0
	if g.paired {
		wrong = math.Exp(reportError * g.rng.NormFloat64())
	}
	g.spells[id] = spell{began, until, from, wrong}
	heap.Push(&g.queue, end{at: now + every, id: id, every: every})
}

// reported is what an attempt says now; its next report is queued.
func (g *game) reported(now sched.Time, e end) (f sched.Event, ok bool) {
	s, there := g.spells[e.id]
	if !there || now <= s.began {
		return f, false
	}
	ran, left := float64(now-s.began), float64(s.end-now)*s.wrong
	if e.at = now + e.every; e.at < s.end {
		heap.Push(&g.queue, e)
	}
	return sched.Event{At: now, Kind: sched.AttemptProgress, Attempt: e.id, Progress: s.from + (1-s.from)*ran/(ran+left)}, true
}
