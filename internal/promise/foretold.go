package promise

import (
	"container/heap"

	"github.com/tailcut/tailcut/sched"
)

// In a promise attempts that report are played as such: those that run end when their reports foretell it, and all go
// on to report, for policies that judge attempts by that. See docs/decisions/0088-plays-hear-reports.md.

// reportsEach is how often an attempt reports that takes as long as the mean of its stage.
const reportsEach = 10

// reporting tells of each stage that has running attempts whether one of them has reported how fast it is.
func (g *game) reporting() map[sched.StageID]bool {
	all := map[sched.StageID]bool{}
	for i := range g.snapshot.Attempts {
		a := &g.snapshot.Attempts[i]
		_, stage := g.locate(a.Task)
		all[stage] = all[stage] || tells(a)
	}
	return all
}

// intervals sets how often the attempts of each stage report: where those that run do, or where none runs and the stage
// is resumable.
func (p *player) intervals(reporting map[sched.StageID]bool) {
	p.every = make([]sched.Time, len(p.laws))
	for k, l := range p.laws {
		reports, runs := reporting[p.Stage+sched.StageID(k)]
		if l != nil && p.bundle == nil && (reports || !runs && p.Spec.Stages[k].Resumable) {
			p.every[k] = sched.FromSeconds(l.mean / reportsEach)
		}
	}
}

// tells says that an attempt has reported how fast it is.
func tells(a *sched.SavedAttempt) bool {
	r := a.Reported
	return !a.Waits && r != nil && r.Done < 1 && (r.Rate > 0 || r.Done > r.From && r.At > a.Started)
}

// foretold returns how long an attempt takes from now on if it goes on as fast as it reported, and no less than the
// time for which it has not; ok is false if it has reported nothing, or should have ended.
func (g *game) foretold(a *sched.SavedAttempt) (left sched.Time, ok bool) {
	if !tells(a) {
		return 0, false
	}
	r := a.Reported
	rate := r.Rate
	if rate == 0 {
		rate = (r.Done - r.From) / (r.At - a.Started).Seconds()
	}
	silent := g.snapshot.At - r.At
	left = sched.FromSeconds((1-r.Done)/rate) - silent
	return max(left, silent), left > 0
}

// run lets an attempt go on that had done a fraction at an instant, and ends after a time from now.
func (g *game) run(id sched.AttemptID, job sched.JobID, stage sched.StageID, from float64, since, left sched.Time) {
	j := g.find(job)
	if j == nil {
		return
	}
	now := g.core.View().Now()
	until := now + min(left, sched.Never-now)
	g.alive[id] = true
	heap.Push(&g.queue, end{at: until, id: id})
	g.report(id, since, until, from, j.every[stage-j.Stage])
}
