package resume

import (
	"cmp"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// LaunchParam is the parameter of policies that know how long an attempt takes to get to work.
var LaunchParam = kit.Param{Name: "launch", Kind: kit.Span, Default: "0s", Min: 0, Max: 86400, Help: "time that an attempt takes to launch, L"}

// Resuming knows how far attempts have come, and where a clone goes on that takes some time to launch. What it says of
// the attempts of a view is as kit.Silence judges them.
type Resuming struct {
	Launch sched.Time
	Quiet  kit.Silence
}

// NewResuming returns it for attempts that take so long to launch.
func NewResuming(launch sched.Time) Resuming { return Resuming{launch, kit.Silence{Launch: launch}} }

// Begun tells whether an attempt has shown that it works.
func Begun(a *sched.Attempt) bool { return a.Rate > 0 || a.Progress > a.From }

// speed returns the fraction of the task that an attempt does in a second, 0 as long as it has not begun. It counts
// from the end of its launch.
func (r *Resuming) speed(a *sched.Attempt) float64 {
	if a.Rate > 0 {
		return a.Rate
	}
	if worked := (a.ProgressAt - a.Started - r.Quiet.Launch).Seconds(); worked > 0 {
		return (a.Progress - a.From) / worked
	}
	return 0
}

// Progress returns how far an attempt will have come at an instant, as far as one can tell now.
func (r *Resuming) Progress(a *sched.Attempt, at sched.Time) float64 {
	return max(0, min(1, a.Progress+r.speed(a)*(at-a.ProgressAt).Seconds()))
}

// Foremost returns the attempt of a running task that has come furthest. One that has not begun comes after those that
// have, whatever it was launched from; of equals the oldest.
func (r *Resuming) Foremost(v *sched.View, t sched.TaskID) (best sched.AttemptID, row sched.Attempt) {
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		at := r.Quiet.Attempt(v, a)
		if best == 0 || r.Compare(&at, &row, v.Now()) > 0 {
			best, row = a, at
		}
	}
	return best, row
}

// Compare sorts attempts by how far they have come now: more than 0 where a is ahead of b.
func (r *Resuming) Compare(a, b *sched.Attempt, now sched.Time) int {
	if x, y := Begun(a), Begun(b); x != y {
		if x {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(r.Progress(a, now), r.Progress(b, now)), cmp.Compare(b.Number, a.Number))
}

// First returns the attempt of a running task that will be done first by its speed; what has not begun comes last.
func (r *Resuming) First(v *sched.View, t sched.TaskID) (best sched.AttemptID) {
	var row sched.Attempt
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		at := r.Quiet.Attempt(v, a)
		if best == 0 || r.sooner(&at, &row) {
			best, row = a, at
		}
	}
	return best
}

func (r *Resuming) sooner(a, b *sched.Attempt) bool {
	x, knownX := r.End(a)
	y, knownY := r.End(b)
	if knownX != knownY {
		return knownX
	}
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.Number, b.Number)) < 0
}

// End returns the instant at which an attempt will be done if it goes on with its speed; ok is false before it has
// begun.
func (r *Resuming) End(a *sched.Attempt) (at sched.Time, ok bool) {
	speed := r.speed(a)
	if speed <= 0 {
		return 0, false
	}
	return kit.Later(a.ProgressAt, (1-a.Progress)/speed), true
}

// From returns the fraction from which a clone of an attempt goes on that is launched now, equations (14) and (15) of
// Shed: what the attempt will have done when the clone gets to work. ok is false if nothing will be left. Attempts that
// cannot resume go on from 0.
func (r *Resuming) From(v *sched.View, a *sched.Attempt) (from float64, ok bool) {
	from = r.Progress(a, v.Now()+r.Launch)
	if from >= 1 {
		return 0, false
	}
	if !v.Stage(v.Task(a.Task).Stage).Resumable {
		from = 0
	}
	return from, true
}

// KillAllBut kills the attempts of a running task but one, and those launched at this instant.
func KillAllBut(v *sched.View, act *sched.Actions, t sched.TaskID, best sched.AttemptID, why sched.Reason) {
	for a, ok := v.FirstAttempt(t); ok; {
		next, more := v.NextAttempt(a)
		if a != best && v.Rows().MayKill(a) {
			kit.Kill(act, a, why)
		}
		a, ok = next, more
	}
}

// Prune kills the attempts of a running task but the foremost, and those that do not stand still if that one does.
func (r *Resuming) Prune(v *sched.View, act *sched.Actions, t sched.TaskID) {
	best, _ := r.Foremost(v, t)
	if !r.Quiet.Silent(v, best) {
		KillAllBut(v, act, t, best, sched.Replaced)
		return
	}
	for a, ok := v.FirstAttempt(t); ok; {
		next, more := v.NextAttempt(a)
		if a != best && r.Quiet.Silent(v, a) && v.Rows().MayKill(a) {
			r.Quiet.Strike(t)
			kit.Kill(act, a, sched.Replaced)
		}
		a, ok = next, more
	}
}

// Replace kills the only attempt of a task and launches another that goes on from it, on another machine if one is
// free.
func (r *Resuming) Replace(v *sched.View, act *sched.Actions, a sched.AttemptID) {
	row := v.Attempt(a)
	m, free := kit.Elsewhere(v, row.Task)
	kit.Kill(act, a, sched.Replaced)
	if !free {
		m = row.Machine
	}
	kit.Launch(act, row.Task, m, v.Task(row.Task).Saved, sched.Straggling)
}
