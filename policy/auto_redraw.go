package policy

import (
	"math"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// redraws learns whether a clone draws a new duration, or has that of its task again: the clones that won are divided
// by those that would have won if each had drawn anew, which is the sum of their cumulative hazards
// H(y) = -ln P(n > y), y the age at which a clone ended or that it has. It is the standardised ratio of epidemiology.
//
// Before anything is known, priorWins of priorHazard are taken to have won. What all jobs have shown counts for a job
// as much as ownWeight clones of its own. It fades with each job: where clones are futile, one tries again now and
// then.
type redraws struct {
	jobs sched.Table[sched.JobID, drawn]
	all  drawn
	rows []outlived // by row
}

// outlived is what a clone has added so far.
type outlived struct {
	gen    uint32
	hazard float64
}

type drawn struct{ wins, hazard float64 }

const (
	priorWins   = 3
	priorHazard = 4
	ownWeight   = 4
	mostHazard  = 3     // of one clone, so that no single one decides
	futile      = 64    // hazard outlived after which clones are futile if none has won
	fade        = 0.998 // of what all jobs have shown, with each job
)

// ends takes in a clone that ends.
func (r *redraws) ends(v *sched.View, st *autoStage, j sched.JobID, x sched.AttemptID, won bool) {
	if _, ok := r.lives(v, st, j, x); ok && won {
		r.jobs.At(j).wins++
		r.all.wins++
	}
}

// lives takes in the age of a clone and returns how much hazard it has outlived; ok is false if that is not known.
func (r *redraws) lives(v *sched.View, st *autoStage, j sched.JobID, x sched.AttemptID) (hazard float64, ok bool) {
	hazard, ok = st.past.hazard((v.Now() - v.Rows().Started(x)).Seconds())
	if !ok {
		return 0, false
	}
	r.rows = kit.Grown(r.rows, x.Row())
	row := &r.rows[x.Row()]
	if row.gen != x.Generation() {
		*row = outlived{gen: x.Generation()}
	}
	more := hazard - row.hazard
	row.hazard = hazard
	r.jobs.At(j).hazard += more
	r.all.hazard += more
	return hazard, true
}

// chance returns how likely it is that a new attempt in a job draws a new duration.
func (r *redraws) chance(j sched.JobID) float64 {
	if r.futile() {
		return 0 // a slot that costs next to nothing is not free
	}
	all := (priorWins + r.all.wins) / (priorHazard + r.all.hazard)
	own := r.jobs.Get(j)
	return min(1, (own.wins+ownWeight*all)/(own.hazard+ownWeight))
}

// futile tells whether clones have the duration of their task again, by all that is known: where that is so, none ever
// wins. A few wins speak against it much more than many more clones that lost speak for it. So where a part of
// a duration is the task's own, and one clone in a hundred wins what is worth a hundred, clones are not given up.
func (r *redraws) futile() bool {
	won := 1 + r.all.wins
	return won*won*futile < r.all.hazard
}

func (r *redraws) forget(j sched.JobID) {
	r.jobs.Drop(j)
	r.all.wins *= fade
	r.all.hazard *= fade
}

// hazard is the cumulative one of winners' durations at an age; ok is false if no winner is known.
func (s *sample) hazard(age float64) (h float64, ok bool) {
	if len(s.sorted) == 0 {
		return 0, false
	}
	return min(mostHazard, -math.Log(s.exceeds(age))), true
}
