package policy

import (
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// redrawn learns whether another attempt of a task draws a new duration or has that of its task again, from what
// attempts foretell. When one gives way that would have taken y for the whole task, the next one of the task has won
// if it foretells less than redrawnBelow y, which it does with chance P(X < redrawnBelow y) if durations are drawn
// anew. The chance of that is how many have won over the sum of these chances, as if before the first one priorWins of
// priorHazard had won. What all jobs have shown counts for a job as much as ownWeight attempts of its own.
type redrawn struct {
	jobs  sched.Table[sched.JobID, drawn]
	all   drawn
	tasks sched.Table[sched.TaskID, float32] // the y of the task's attempt that gave way last, in seconds; 0 for none
}

// drawn counts attempts that have won, and sums the chances that they had.
type drawn struct{ wins, hazard float64 }

// add takes in an attempt that had a chance to win.
func (d *drawn) add(chance float64, won bool) {
	d.hazard += chance
	if won {
		d.wins++
	}
}

// chance returns how likely it is that a new attempt draws a new duration, with what is known otherwise as if
// ownWeight attempts had shown it.
func (d *drawn) chance(otherwise float64) float64 {
	return min(1, (d.wins+ownWeight*otherwise)/(d.hazard+ownWeight))
}

func (d *drawn) fade() { d.wins, d.hazard = fade*d.wins, fade*d.hazard }

const (
	redrawnBelow = 0.8
	priorWins    = 3
	priorHazard  = 4
)

// gives notes that an attempt gives way.
func (r *redrawn) gives(t sched.TaskID, y float64) { *r.tasks.At(t) = float32(y) }

// shows takes in what the next attempt of a task foretells.
func (r *redrawn) shows(t sched.TaskID, j sched.JobID, y float64, law laws.Law) {
	before := redrawnBelow * float64(r.tasks.Get(t))
	if before == 0 {
		return
	}
	*r.tasks.At(t) = 0
	expected := law.CDF(before)
	r.jobs.At(j).add(expected, y < before)
	r.all.add(expected, y < before)
}

// ends takes in an attempt that has reported nothing, and gives way or is done after so many seconds for the whole
// task. One that gives way would have taken longer, and is a miss if it has outlived what would have been a win.
func (r *redrawn) ends(t sched.TaskID, j sched.JobID, age float64, done bool, law laws.Law) {
	if done || age >= redrawnBelow*float64(r.tasks.Get(t)) {
		r.shows(t, j, age, law)
	}
	if !done {
		*r.tasks.At(t) = max(float32(age), r.tasks.Get(t))
	}
}

// chance returns how likely it is that a new attempt in a job draws a new duration. It is above 0.
func (r *redrawn) chance(j sched.JobID) float64 {
	all := (priorWins + r.all.wins) / (priorHazard + r.all.hazard)
	own := r.jobs.Get(j)
	return own.chance(all)
}

func (r *redrawn) forget(v *sched.View, j sched.JobID) {
	r.jobs.Drop(j)
	kit.DropTasks(&r.tasks, v, j)
	r.all.fade()
}
