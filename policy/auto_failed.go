package policy

import (
	"math"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// failures know of each task what its clones have shown that were ended before it was done. A clone that would
// have taken longer than others do speaks for a task that is slow by its size. Else a new clone would start for
// the same reason as the last one, and end for the same reason.
//
//	H   of what each of these clones would have taken: by winners, a new duration is as long with a chance of exp(-H)
//
// Of the causes, chance loses by exp(-sum of H), and pace by the root of that: a clone may have a slow pace, too.
// Size does not lose. No clone adds more than mostOfOne: winners are without the attempts that took so long that a
// clone won. One that stands still says nothing of a size.
type failures struct {
	tasks sched.Table[sched.TaskID, failed]
}

const mostOfOne = 1

type failed struct {
	clones uint32
	hazard float32
	age    sched.Time // of its original when that was ended; 0 if it was not
	until  sched.Time // when that would have been done by its report; 0 for unknown
}

// fails takes in a clone that is ended before its task is done, by its age and by what it has reported.
func (p *auto) fails(v *sched.View, st *autoStage, t sched.TaskID, x sched.AttemptID) {
	a := v.Attempt(x)
	if !a.Clone || a.Waiting || p.quiet.Silent(v, x) {
		return
	}
	p.failed.add(&st.past, t, p.takes(v, x))
}

// takes returns how many seconds an attempt would take that is ended now: its age, and more if it has said so.
func (p *auto) takes(v *sched.View, x sched.AttemptID) float64 {
	a := v.Attempt(x)
	takes := (v.Now() - a.Started).Seconds()
	if left, told := p.leaves(x, &a); told {
		takes = max(takes, (a.ProgressAt-a.Started).Seconds()+left)
	}
	return takes
}

// leaves returns how many seconds an attempt had left at its last report, set right by what reports have wrong on
// average.
func (p *auto) leaves(x sched.AttemptID, a *sched.Attempt) (seconds float64, told bool) {
	left, _, told := p.trust.filter.left(x, a)
	if !told {
		return 0, false
	}
	bias, _ := p.trust.miss()
	return left * math.Exp(-bias), true
}

// gives takes in that the original of a task is ended: a clone that is done first then need not have been quicker.
func (p *auto) gives(v *sched.View, t sched.TaskID, x sched.AttemptID) {
	a := v.Attempt(x)
	if a.Clone || a.Waiting {
		return
	}
	f := p.failed.tasks.At(t)
	f.age, f.until = v.Now()-a.Started, 0
	if left, told := p.leaves(x, &a); told {
		f.until = a.ProgressAt + sched.FromSeconds(left)
	}
}

// beats tells whether a clone that is done now, after so long, has been quicker than the original of its task. If that
// was ended, it has to be done before the original would have been by its report, or to have taken less than the
// original had without one.
func (f *failures) beats(v *sched.View, t sched.TaskID, took sched.Time) bool {
	x := f.tasks.Get(t)
	if x.until > 0 {
		return v.Now() < x.until
	}
	return x.age == 0 || took < x.age
}

// clones returns how many clones of a task have been ended that speak for its size.
func (f *failures) clones(t sched.TaskID) uint32 { return f.tasks.Get(t).clones }

// none tells whether there are none.
func (f *failures) none(t sched.TaskID) bool { return f.clones(t) == 0 }

// add takes in a clone of a task that would have taken so many seconds.
func (f *failures) add(past *sample, t sched.TaskID, takes float64) {
	if h, ok := past.hazard(takes); ok && h > 0 {
		x := f.tasks.At(t)
		x.clones++
		x.hazard += float32(min(h, mostOfOne, fewWinners(past.n, int(x.clones))))
	}
}

// causes returns how likely each cause is for a task, if it is usual for tasks of its job.
func (f *failures) causes(t sched.TaskID, usual *tally) tally {
	h := float64(f.tasks.Get(t).hazard)
	if h == 0 {
		return *usual
	}
	own := *usual
	own[byChance] *= math.Exp(-h)
	own[byPace] *= math.Exp(-h / 2)
	all := own[byChance] + own[byPace] + own[bySize]
	for k := range own {
		own[k] /= all
	}
	return own
}

// part returns by how much a clone gains more if causes are these and not others: size gains nothing.
func (own *tally) part(usual *tally) float64 {
	if own[bySize] == usual[bySize] {
		return 1
	}
	return (1 - own[bySize]) / (1 - usual[bySize])
}

func (f *failures) forget(v *sched.View, j sched.JobID) { kit.DropTasks(&f.tasks, v, j) }
