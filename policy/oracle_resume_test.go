package policy

import (
	"cmp"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// progress is what slow references know of the progress of attempts, sections 24 to 26 of the digest. Attempts that
// stand still are taken for what kit.Silence takes them for.
type progress struct {
	quiet  kit.Silence
	launch sched.Time
}

func newProgress(launch sched.Time) progress {
	return progress{kit.Silence{Launch: launch}, launch}
}

// speed returns the fraction of the task that an attempt does in a second, from the end of its launch on.
func (p *progress) speed(x *sched.Attempt) float64 {
	worked := (x.ProgressAt - x.Started - p.launch).Seconds()
	switch {
	case x.Rate > 0:
		return x.Rate
	case x.Progress > x.From && worked > 0:
		return (x.Progress - x.From) / worked
	}
	return 0
}

// works tells whether an attempt has said anything of its work.
func (p *progress) works(v *sched.View, a sched.AttemptID) bool {
	x := p.quiet.Attempt(v, a)
	return x.Rate > 0 || x.Progress > x.From
}

// done returns how far an attempt will have come, at its speed so far.
func (p *progress) done(v *sched.View, a sched.AttemptID, at sched.Time) float64 {
	x := p.quiet.Attempt(v, a)
	return max(0, min(1, x.Progress+p.speed(&x)*(at-x.ProgressAt).Seconds()))
}

// end returns when an attempt will be done at its speed so far, Never if it has none.
func (p *progress) end(v *sched.View, a sched.AttemptID) (sched.Time, bool) {
	x := p.quiet.Attempt(v, a)
	if p.speed(&x) == 0 {
		return sched.Never, false
	}
	return kit.Later(x.ProgressAt, (1-x.Progress)/p.speed(&x)), true
}

// attemptsOf returns the attempts of a task that run, the oldest first.
func attemptsOf(v *sched.View, t sched.TaskID) (all []sched.AttemptID) {
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b sched.AttemptID) int { return cmp.Compare(v.Attempt(a).Number, v.Attempt(b).Number) })
	return all
}

// ahead returns the most advanced attempt of a task; those that work come before those of which nothing is known.
func (p *progress) ahead(v *sched.View, t sched.TaskID) sched.AttemptID {
	all := attemptsOf(v, t)
	if working := slices.DeleteFunc(slices.Clone(all), func(a sched.AttemptID) bool { return !p.works(v, a) }); len(working) > 0 {
		all = working
	}
	best := all[0]
	for _, a := range all {
		if p.done(v, a, v.Now()) > p.done(v, best, v.Now()) {
			best = a
		}
	}
	return best
}

// soonest returns the attempt of a task that will be done first.
func (p *progress) soonest(v *sched.View, t sched.TaskID) sched.AttemptID {
	all := attemptsOf(v, t)
	if known := slices.DeleteFunc(slices.Clone(all), func(a sched.AttemptID) bool { _, ok := p.end(v, a); return !ok }); len(known) > 0 {
		all = known
	}
	best := all[0]
	for _, a := range all {
		at, _ := p.end(v, a)
		if first, _ := p.end(v, best); at < first {
			best = a
		}
	}
	return best
}

// keepOnly kills the other attempts of a task, but for those that were launched at this instant.
func keepOnly(v *sched.View, act *sched.Actions, t sched.TaskID, best sched.AttemptID) {
	for _, a := range slices.Backward(attemptsOf(v, t)) {
		if a != best && v.Rows().MayKill(a) {
			kit.Kill(act, a, sched.Replaced)
		}
	}
}

// prune keeps the most advanced attempt of a task. One that stands still has none killed that goes on beside it.
func (p *progress) prune(v *sched.View, act *sched.Actions, t sched.TaskID) {
	best := p.ahead(v, t)
	if !p.quiet.Silent(v, best) {
		keepOnly(v, act, t, best)
		return
	}
	for _, a := range slices.Backward(attemptsOf(v, t)) {
		if a != best && p.quiet.Silent(v, a) && v.Rows().MayKill(a) {
			p.quiet.Strike(t)
			kit.Kill(act, a, sched.Replaced)
		}
	}
}

// apart returns a free machine where a task does not run, or else a free one.
func apart(v *sched.View, t sched.TaskID) (best sched.MachineID, found bool) {
	for _, other := range []bool{true, false} {
		for m := range sched.MachineID(v.Rows().Machines()) {
			x := v.Machine(m)
			runs := slices.ContainsFunc(attemptsOf(v, t), func(a sched.AttemptID) bool { return v.Attempt(a).Machine == m })
			if x.Up && x.Used < x.Slots && !(other && runs) {
				return m, true
			}
		}
	}
	return 0, false
}
