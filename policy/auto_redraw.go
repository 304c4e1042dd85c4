package policy

import (
	"math"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// redraws tells whether clones have the duration of their task again, by all that clones have shown: the number of
// those that won, and the sum of all clones' cumulative hazards H(y) = -ln P(n > y), y the age at which a clone ended
// or that it has. It fades with each job: where clones are futile, one tries again now and then.
type redraws struct {
	wins, hazard float64
	crowd        float64    // clones that may begin at once, if more than usualCrowd
	futile       bool       // clones have the duration of their task again, in all stages
	rows         []outlived // by row
}

// outlived is what a clone has added so far.
type outlived struct {
	gen    uint32
	nth    int // of the clones of its stage that have added something
	hazard float64
}

const (
	mostHazard = 3     // of one clone, so that no single one decides
	futile     = 64    // hazard outlived after which clones are futile if none has won, see most
	usualCrowd = 10    // for so many clones at once; for more in proportion,
	mostCrowds = 2     // up to so many times as much: what one learns costs the more, the more slots there are
	fade       = 0.998 // of what all jobs have shown, with each job
)

// ends takes in a clone that ends, and would have taken so many seconds by what it has reported. That it has lost is
// news only if no other clone of its task was ended.
func (r *redraws) ends(st *autoStage, x sched.AttemptID, takes float64, won, news bool) {
	hazard, ok := st.past.hazard(takes)
	if !ok {
		return
	}
	r.outlives(st, x, hazard, news)
	if won {
		r.wins++
		r.weigh()
	}
}

// lives takes in the age of a clone and returns how much hazard it has outlived; ok is false if that is not known.
func (r *redraws) lives(v *sched.View, st *autoStage, x sched.AttemptID, news bool) (hazard float64, ok bool) {
	hazard, ok = st.past.hazard((v.Now() - v.Rows().Started(x)).Seconds())
	if !ok {
		return 0, false
	}
	return r.outlives(st, x, hazard, news), true
}

// outlives takes in that a clone has outlived a hazard, if that is news, and returns how much of it counts.
func (r *redraws) outlives(st *autoStage, x sched.AttemptID, hazard float64, news bool) float64 {
	r.rows = kit.Grown(r.rows, x.Row())
	row := &r.rows[x.Row()]
	if row.gen != x.Generation() {
		*row = outlived{gen: x.Generation()}
	}
	if hazard > 0 {
		if row.nth == 0 {
			st.outlived++
			row.nth = st.outlived
		}
		hazard = min(hazard, fewWinners(st.past.n, row.nth))
	}
	if news {
		r.hazard += hazard - row.hazard
		r.weigh()
	} else {
		st.repeats += hazard - row.hazard
	}
	row.hazard = hazard
	return hazard
}

// futileIn tells whether clones of a stage have the duration of their task again, by all that is known. Large tasks
// have large clones, one after the other, which says nothing of the tasks of other stages: what is no news counts in
// the stage alone.
func (r *redraws) futileIn(st *autoStage) bool {
	return r.futile || r.outweighs(r.hazard+st.repeats, r.most())
}

// outweighs tells whether a hazard outlived is more than what those that have won, and most, speak against.
func (r *redraws) outweighs(hazard, most float64) bool {
	won := 1 + r.wins
	return won*won*most < hazard
}

// most is the hazard outlived after which clones are futile if none has won.
func (r *redraws) most() float64 { return futile * min(mostCrowds, max(1, r.crowd/usualCrowd)) }

// fewWinners is the most that the k-th clone that is judged by n winners can say against new durations. Where
// these are few, all clones are judged by the same few: that k clones which draw new durations outlive all n
// winners has a chance of 1/C(n+k, k), so the k-th adds ln(1 + n/k). A few winners more are counted, or clones
// would never be futile in small stages.
func fewWinners(n, k int) float64 { return math.Log1p(float64(n+moreWinners) / float64(k)) }

const moreWinners = 6

// weigh finds whether clones have the duration of their task again: where that is so, none ever wins. A few wins speak
// against it much more than many more clones that lost speak for it. So where a part of a duration is the task's own,
// and one clone in a hundred wins what is worth a hundred, clones are not given up. Once they are, that stays so until
// half of what spoke for it has faded, which takes 350 jobs: else each job that ends would have all others try again.
// Clones that begin at once may all be of the largest tasks of one stage, so it takes more than they can outlive.
func (r *redraws) weigh() {
	most := r.most()
	if r.futile {
		most /= 2
	}
	r.futile = r.outweighs(r.hazard, most)
}

func (r *redraws) over() {
	r.wins *= fade
	r.hazard *= fade
	r.weigh()
}

// hazard is the cumulative one of winners' durations at an age; ok is false if no winner is known.
func (s *sample) hazard(age float64) (h float64, ok bool) {
	if len(s.sorted) == 0 {
		return 0, false
	}
	return min(mostHazard, -math.Log(s.exceeds(age))), true
}
