package policy

import (
	"math"

	"github.com/tailcut/tailcut/sched"
)

// redraws learns whether a clone draws a new duration, or has that of its task again: the clones that won are divided
// by those that would have won if each had drawn anew, which is the sum of their cumulative hazards
// H(y) = -ln P(n > y), y the age at which a clone ended. It is the standardised ratio of epidemiology.
//
// Before anything is known, priorWins of priorHazard are taken to have won. What all jobs have shown counts for a job
// as much as ownWeight clones of its own.
type redraws struct {
	jobs sched.Table[sched.JobID, drawn]
	all  drawn
}

type drawn struct{ wins, hazard float64 }

const (
	priorWins   = 3
	priorHazard = 4
	ownWeight   = 4
	mostHazard  = 3 // of one clone, so that no single one decides
)

func (d drawn) add(won bool, hazard float64) drawn {
	d.hazard += hazard
	if won {
		d.wins++
	}
	return d
}

// ends takes in a clone that ends.
func (r *redraws) ends(v *sched.View, st *autoStage, j sched.JobID, x sched.AttemptID, won bool) {
	a := v.Attempt(x)
	if !a.Clone || a.Waiting {
		return
	}
	hazard, ok := st.past.hazard((v.Now() - a.Started).Seconds())
	if !ok {
		return
	}
	own := r.jobs.At(j)
	*own = own.add(won, hazard)
	r.all = r.all.add(won, hazard)
}

// chance returns how likely it is that a new attempt in a job draws a new duration.
func (r *redraws) chance(j sched.JobID) float64 {
	all := (priorWins + r.all.wins) / (priorHazard + r.all.hazard)
	own := r.jobs.Get(j)
	return min(1, (own.wins+ownWeight*all)/(own.hazard+ownWeight))
}

func (r *redraws) forget(j sched.JobID) { r.jobs.Drop(j) }

// hazard is the cumulative one of winners' durations at an age; ok is false if no winner is known.
func (s *sample) hazard(age float64) (h float64, ok bool) {
	if len(s.sorted) == 0 {
		return 0, false
	}
	return min(mostHazard, -math.Log(s.exceeds(age))), true
}
