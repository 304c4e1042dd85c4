package policy

import (
	"cmp"
	"fmt"

	"github.com/tailcut/tailcut/sched"
)

// launchParam is the parameter of policies that know how long an attempt takes to get to work.
var launchParam = Param{Name: "launch", Kind: Span, Default: "0s", Min: 0, Max: 86400, Help: "time that an attempt takes to launch, L"}

// resuming knows how far attempts have come, and where a clone goes on that takes some time to launch. What it says of
// the attempts of a view is as silence judges them.
type resuming struct {
	launch sched.Time
	quiet  silence
}

func newResuming(launch sched.Time) resuming { return resuming{launch, silence{launch: launch}} }

// begun tells whether an attempt has shown that it works.
func begun(a *sched.Attempt) bool { return a.Rate > 0 || a.Progress > a.From }

// speed returns the fraction of the task that an attempt does in a second, 0 as long as it has not begun. It counts
// from the end of its launch.
func (r *resuming) speed(a *sched.Attempt) float64 {
	if a.Rate > 0 {
		return a.Rate
	}
	if worked := (a.ProgressAt - a.Started - r.quiet.launch).Seconds(); worked > 0 {
		return (a.Progress - a.From) / worked
	}
	return 0
}

// progress returns how far an attempt will have come at an instant, as far as one can tell now.
func (r *resuming) progress(a *sched.Attempt, at sched.Time) float64 {
	return max(0, min(1, a.Progress+r.speed(a)*(at-a.ProgressAt).Seconds()))
}

// foremost returns the attempt of a running task that has come furthest. One that has not begun comes after those that
// have, whatever it was launched from; of equals the oldest.
func (r *resuming) foremost(v *sched.View, t sched.TaskID) (best sched.AttemptID, row sched.Attempt) {
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		at := r.quiet.attempt(v, a)
		if best == 0 || r.compare(&at, &row, v.Now()) > 0 {
			best, row = a, at
		}
	}
	return best, row
}

func (r *resuming) compare(a, b *sched.Attempt, now sched.Time) int {
	if x, y := begun(a), begun(b); x != y {
		if x {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(r.progress(a, now), r.progress(b, now)), cmp.Compare(b.Number, a.Number))
}

// first returns the attempt of a running task that will be done first by its speed; what has not begun comes last.
func (r *resuming) first(v *sched.View, t sched.TaskID) (best sched.AttemptID) {
	var row sched.Attempt
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		at := r.quiet.attempt(v, a)
		if best == 0 || r.sooner(&at, &row) {
			best, row = a, at
		}
	}
	return best
}

func (r *resuming) sooner(a, b *sched.Attempt) bool {
	x, knownX := r.end(a)
	y, knownY := r.end(b)
	if knownX != knownY {
		return knownX
	}
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.Number, b.Number)) < 0
}

// end returns the instant at which an attempt will be done if it goes on with its speed; ok is false before it has
// begun.
func (r *resuming) end(a *sched.Attempt) (at sched.Time, ok bool) {
	speed := r.speed(a)
	if speed <= 0 {
		return 0, false
	}
	return later(a.ProgressAt, (1-a.Progress)/speed), true
}

// from returns the fraction from which a clone of an attempt goes on that is launched now, equations (14) and (15) of
// Shed: what the attempt will have done when the clone gets to work. ok is false if nothing will be left. Attempts that
// cannot resume go on from 0.
func (r *resuming) from(v *sched.View, a *sched.Attempt) (from float64, ok bool) {
	from = r.progress(a, v.Now()+r.launch)
	if from >= 1 {
		return 0, false
	}
	if !v.Stage(v.Task(a.Task).Stage).Resumable {
		from = 0
	}
	return from, true
}

// killAllBut kills the attempts of a running task but one, and those launched at this instant.
func killAllBut(v *sched.View, act *sched.Actions, t sched.TaskID, best sched.AttemptID, why sched.Reason) {
	for a, ok := v.FirstAttempt(t); ok; {
		next, more := v.NextAttempt(a)
		if a != best && v.Rows().MayKill(a) {
			mustKill(act, a, why)
		}
		a, ok = next, more
	}
}

// prune kills the attempts of a running task but the foremost, and those that do not stand still if that one does.
func (r *resuming) prune(v *sched.View, act *sched.Actions, t sched.TaskID) {
	best, _ := r.foremost(v, t)
	if !r.quiet.silent(v, best) {
		killAllBut(v, act, t, best, sched.Replaced)
		return
	}
	for a, ok := v.FirstAttempt(t); ok; {
		next, more := v.NextAttempt(a)
		if a != best && r.quiet.silent(v, a) {
			r.quiet.strike(t)
			mustKill(act, a, sched.Replaced)
		}
		a, ok = next, more
	}
}

// mustKill gives an order that the view allows. That the core refuses it is a bug of the policy.
func mustKill(act *sched.Actions, a sched.AttemptID, why sched.Reason) {
	if err := act.Kill(a, why); err != nil {
		panic(fmt.Sprintf("policy: kill attempt %x (%v): %v", a, why, err))
	}
}
