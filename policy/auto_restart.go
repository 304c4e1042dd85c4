package policy

import (
	"math"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// restarts tells whether a clone shortens what a task takes of slots although it is not expected to be done in half of
// the time left: its only attempt can end as soon as the clone is ahead of it. If the clone does not draw a new
// duration, what that attempt has done so far is lost.
func (p *auto) restarts(v *sched.View, x *runner, sure, chance, start float64) bool {
	age := (v.Now() - x.started).Seconds()
	return x.attempts == 1 && sure*chance*(p.eye.slot*x.left.mean-p.eye.usual-start) > (1-chance)*age
}

// begunAnew learns whether an attempt in the place of one that has ended draws a new duration. Where the machine is
// what makes a task slow that is less likely than for a clone, which runs elsewhere. If it does, it is ended as often
// as first attempts are; if it has the duration of its task again, it is always ended.
type begunAnew struct {
	times        sched.Table[sched.TaskID, uint8] // how often a task was begun anew
	first, later tried
}

// tried counts attempts that have won, and those that were ended so that their tasks began anew.
type tried struct{ won, ended float64 }

func (t *tried) fade() { t.won, t.ended = fade*t.won, fade*t.ended }

func (b *begunAnew) wins(t sched.TaskID, a *sched.Attempt) {
	switch {
	case a.Number == 0:
		b.first.won++
	case !a.Clone && b.times.Get(t) > 0:
		b.later.won++
	}
}

// again takes notice that the only attempt of a task is ended.
func (b *begunAnew) again(t sched.TaskID) {
	n := b.times.At(t)
	if *n == 0 {
		b.first.ended++
	} else {
		b.later.ended++
	}
	*n = min(*n+1, mostAgain)
}

const mostAgain = 100

// slow is the share of first attempts that are ended.
func (b *begunAnew) slow() float64 { return (b.first.ended + 1) / (b.first.won + b.first.ended + 2) }

// chance returns how likely it is that an attempt draws a new duration in the place of another: as likely as for a
// clone, as if ownWeight attempts had shown that. As all that the other one has done is at stake, what is known of few
// clones that have won is not certain.
func (b *begunAnew) chance(r *redraws, st *autoStage, clones float64) float64 {
	if r.wins == 0 || r.futileIn(st) {
		return 0
	}
	quick := 1 - b.slow()
	won := (b.later.won + ownWeight*quick*clones) / (b.later.won + b.later.ended + ownWeight)
	return (1 - 1/math.Sqrt(1+r.wins)) * min(1, won/quick)
}

// ofTask is the chance once that has happened to a task as often as it has.
func (b *begunAnew) ofTask(chance float64, t sched.TaskID) float64 {
	still := chance * math.Pow(b.slow(), float64(b.times.Get(t)))
	return still / (still + 1 - chance)
}

func (b *begunAnew) forget(v *sched.View, j sched.JobID) {
	kit.DropTasks(&b.times, v, j)
}

func (b *begunAnew) over() {
	b.first.fade()
	b.later.fade()
}

// sift finds the attempts to end so that their tasks begin anew: what is left of them takes more of a slot than a
// winner has cost so far. So a threshold that is too low makes winners dear, and rises. As no slot is free, a task
// mostly begins anew on the same machine: where slow machines stay slow, a winner costs as much more there. If
// durations are the tasks' own after all, what the attempt has done is lost. An age alone says too little for
// that: only attempts that have reported are ended.
func (p *auto) sift(v *sched.View, st *autoStage, chance, start float64) {
	if chance == 0 || st.past.n == 0 {
		return
	}
	usual := st.cost/float64(st.past.n)/p.eye.slot + start
	for i := range slices.Backward(p.eye.seen) {
		x := &p.eye.seen[i]
		if x.attempts != 1 || !x.told {
			continue
		}
		takes := x.left.perSuccess()
		if takes <= usual {
			continue
		}
		if c := p.begun.ofTask(chance, x.id); c*(takes-usual) > (1-c)*(v.Now()-x.started).Seconds() {
			a, _ := v.FirstAttempt(x.id)
			p.anew = append(p.anew, a)
		}
	}
}

// beginAnew ends the next of the attempts whose tasks are to begin anew, where they cannot have a clone instead.
func (p *auto) beginAnew(v *sched.View, act *sched.Actions) bool {
	for len(p.anew) > 0 && v.CloneRoom() == 0 {
		last := len(p.anew) - 1
		a := p.anew[last]
		p.anew = p.anew[:last]
		if !v.Rows().MayKill(a) || v.Task(v.Rows().TaskOf(a)).Live > 1 {
			continue
		}
		p.begun.again(v.Rows().TaskOf(a))
		p.kill(v, act, a, v.Now())
		return true
	}
	return false
}

// ends takes in an attempt that ends with its task or before it.
func (p *auto) ends(v *sched.View, st *autoStage, j sched.JobID, x sched.AttemptID, won bool, beside rival) {
	a := v.Attempt(x)
	if a.Waiting {
		return
	}
	age := v.Now() - a.Started
	if !won {
		st.cost += age.Seconds()
	}
	if a.Clone {
		takes := age.Seconds()
		if !won {
			takes = p.takes(v, x)
		}
		t := v.Rows().TaskOf(x)
		p.redraw.ends(st, x, takes, won && p.failed.beats(v, t, age), p.failed.none(t))
	}
	if a.Started > beside.since {
		p.causes.ends(&st.past, j, age.Seconds(), (v.Now() - beside.since).Seconds(), won, beside.done)
	}
}

// oldest returns when the first of the attempts of a task started that run.
func oldest(v *sched.View, t sched.TaskID) sched.Time {
	since := v.Now()
	for x, ok := v.FirstAttempt(t); ok; x, ok = v.NextAttempt(x) {
		if a := v.Attempt(x); !a.Waiting {
			since = min(since, a.Started)
		}
	}
	return since
}
