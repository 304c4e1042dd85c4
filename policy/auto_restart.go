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
// what makes a task slow that is less likely than for a clone, which runs elsewhere. It has won if it takes less than
// redrawnBelow of what the one that was ended would have taken, see redrawn: if it draws a new duration, that is as
// likely as among the winners of the stage.
type begunAnew struct {
	times sched.Table[sched.TaskID, uint8]   // how often a task was begun anew
	takes sched.Table[sched.TaskID, float32] // seconds that its attempt would have taken that was ended last
	first tried
	later drawn
}

// tried counts first attempts that have won, and those that were ended so that their tasks began anew.
type tried struct{ won, ended float64 }

// wins takes in an attempt that is done, and takes so many seconds for a whole task.
func (b *begunAnew) wins(past *sample, t sched.TaskID, a *sched.Attempt, took float64) {
	switch {
	case a.Number == 0:
		b.first.won++
	case !a.Clone:
		b.shows(past, t, took)
	}
}

// again takes in that the only attempt of a task is ended, which would have taken so many seconds for all of it; 0
// for unknown.
func (b *begunAnew) again(past *sample, t sched.TaskID, takes float64) {
	n := b.times.At(t)
	if *n == 0 {
		b.first.ended++
	} else if takes > 0 {
		b.shows(past, t, takes)
	}
	*n = min(*n+1, mostAgain)
	*b.takes.At(t) = float32(takes)
}

const mostAgain = 100

// shows takes in what an attempt takes for a whole task, if its task was begun anew for it.
func (b *begunAnew) shows(past *sample, t sched.TaskID, takes float64) {
	before := redrawnBelow * float64(b.takes.Get(t))
	if before == 0 || past.n == 0 {
		return
	}
	b.later.add((1-b.slow())*(1-past.exceeds(before)), takes < before)
}

// slow is the share of first attempts that are ended.
func (b *begunAnew) slow() float64 { return (b.first.ended + 1) / (b.first.won + b.first.ended + 2) }

// chance returns how likely it is that an attempt draws a new duration in the place of another: as likely as for a
// clone, as if ownWeight attempts had shown that. As all that the other one has done is at stake, what is known of few
// clones that have won is not certain.
func (b *begunAnew) chance(r *redraws, st *autoStage, clones float64) float64 {
	if r.wins == 0 || r.futileIn(st) {
		return 0
	}
	return (1 - 1/math.Sqrt(1+r.wins)) * b.later.chance(clones)
}

// ofTask is the chance once that has happened to a task as often as it has, and so many of its clones have been ended.
func (b *begunAnew) ofTask(chance float64, t sched.TaskID, clones uint32) float64 {
	still := chance * math.Pow(b.slow(), float64(b.times.Get(t))+float64(clones))
	return still / (still + 1 - chance)
}

func (b *begunAnew) forget(v *sched.View, j sched.JobID) {
	kit.DropTasks(&b.times, v, j)
	kit.DropTasks(&b.takes, v, j)
}

func (b *begunAnew) over() {
	b.first.won, b.first.ended = fade*b.first.won, fade*b.first.ended
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
	usual := p.winner(v, st)/p.eye.slot + start
	for i := range slices.Backward(p.eye.seen) {
		x := &p.eye.seen[i]
		if x.attempts != 1 || !x.told {
			continue
		}
		takes := x.left.perSuccess()
		if takes <= usual {
			continue
		}
		if c := p.begun.ofTask(chance, x.id, p.failed.clones(x.id)); c*(takes-usual) > (1-c)*(v.Now()-x.started).Seconds() {
			a, _ := v.FirstAttempt(x.id)
			p.anew = append(p.anew, a)
		}
	}
}

// winner returns what a winner of a stage costs, in seconds of slots, with all attempts that were ended: what it has
// cost so far. The first winners are the quickest, so while slots are idle, and time counts and not slots, it is at
// least the mean of a new attempt.
func (p *auto) winner(v *sched.View, st *autoStage) float64 {
	cost := st.cost / float64(st.past.n)
	if v.FreeSlots() > 0 {
		return max(cost, p.eye.usual)
	}
	return cost
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
		row := v.Attempt(a)
		takes, ok := sched.Whole(sched.FromSeconds(p.takes(v, a)), row.From)
		if !ok {
			takes = 0
		}
		p.begun.again(&p.stages.Of(v.Task(row.Task).Stage).past, row.Task, takes)
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
