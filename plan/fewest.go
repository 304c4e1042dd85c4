package plan

import (
	"math"
	"slices"
	"sort"

	"github.com/tailcut/tailcut/laws"
)

// Seats are slots for a job: for so many of its tasks at once, each with so many clones.
type Seats struct {
	Slots, AtOnce, Clones int
	Chance                Chance // of its deadline
}

// screened are the jobs that are played to choose a number of clones.
const screened = 200

// further are how many more clones are tried than help where all tasks run at once. A job that is certain to be in time
// then may still do with fewer slots when clones make its tasks shorter: fewer of them have to run at once.
const further = 8

// FewestSlots returns the fewest slots on which a job meets its deadline at least with a chance between 0 and 1: where
// the chance is not exact, its Low is no less. A task has up to maxAttempts attempts, 1 at least. ok is false if no
// number of slots gives that chance; the seats are then those of the largest chance. Tasks of a job with Progress all
// run already, and go on at once.
//
// The number of clones is chosen by few played jobs; the slots with it, by many others. All meet the same random
// numbers.
func (w Work) FewestSlots(chance float64, maxAttempts int) (best Seats, ok bool) {
	for clones := range maxAttempts {
		if ok && clones+1 >= best.Slots || w.Slots > 0 && w.Slots <= clones {
			break
		}
		if clones > 0 && (w.Hopeless() || len(w.Stages) == 0 && clones > w.odds().enough()+further) {
			break
		}
		at, found := w.fewestAtOnce(clones, chance, screened, seedChoose)
		s := Seats{Slots: at * (clones + 1), AtOnce: at, Clones: clones}
		if !found {
			s.Chance = w.Waves(clones, at, 0)
		}
		if found && (!ok || s.Slots < best.Slots) || !found && !ok && (clones == 0 || s.Chance.P > best.Chance.P) {
			best, ok = s, found
		}
	}
	if !ok {
		return best, false
	}
	at, found := w.fewestAtOnce(best.Clones, chance, w.shift(best.Clones).plays(), seedTell)
	best.AtOnce, best.Slots = at, at*(best.Clones+1)
	best.Chance = w.Waves(best.Clones, at, 0)
	return best, found
}

// fewestAtOnce returns the fewest tasks at once with which a job with these clones has a chance, by n played jobs where
// it is not exact: their share, if they are to choose, or else the lower end of its interval. found is false if there
// are none, and the tasks are then all that its slots allow.
func (w Work) fewestAtOnce(clones int, chance float64, n int, seed uint64) (_ int, found bool) {
	best := w.Tasks
	if w.Slots > 0 {
		best = min(best, max(1, w.Slots/(clones+1)))
	}
	if len(w.Stages) > 0 {
		return w.fewestOfStages(clones, best, chance, n, seed)
	}
	if w.PoCD(clones) < chance {
		return best, false // fewer at once are no likelier
	}
	found = best == w.Tasks
	s := w.shift(clones)
	if w.Progress > 0 && best == w.Tasks || s.left <= 0 || s.law.Quantile(0) > s.left/1e9 {
		return best, found
	}
	enter := func(g int) {
		if g < best || g == best && !found {
			best, found = g, true
		}
	}
	if longest := nanoseconds(s.law.InvSurvival(0)); longest <= s.left {
		enter(ceilDiv(w.Tasks, math.Floor(s.left/longest)))
	}
	if exp, ok := s.law.(laws.Exponential); ok {
		g := 1 + sort.Search(best, func(i int) bool {
			return i+1 == w.Tasks && w.PoCD(clones) >= chance || i+1 < w.Tasks && exponentialWaves(exp.Mu, w.Tasks, i+1, s.left/1e9) >= chance
		})
		enter(g)
		return best, found
	}
	enter(s.bounds().fewest(1-chance, best))
	if s.tasks > played {
		return best, found
	}
	if g := s.fewestFor(chance, n, seed); g != never {
		enter(g)
	}
	return best, found
}

// fewestFor returns the fewest tasks at once with which a share of n played jobs is in time; if it is to be told, the
// lower end of the share's interval. It is never if there are none.
func (s shift) fewestFor(chance float64, n int, seed uint64) int {
	needs := s.fewestAtOnce(n, seed)
	k := sort.Search(n, func(i int) bool {
		share := float64(i+1) / float64(n)
		if seed == seedTell {
			share, _ = laws.ShareInterval(i+1, n)
		}
		return share >= chance
	})
	if k == n {
		return never
	}
	return needs[k]
}

// fewestOfStages is fewestAtOnce of a job of several stages, with no more than most tasks at once.
func (w Work) fewestOfStages(clones, most int, chance float64, n int, seed uint64) (_ int, found bool) {
	s := w.shift(clones)
	if s.left <= 0 || s.atLeast(most) > s.left {
		return most, false
	}
	g := min(s.certain(most), s.fewestFor(chance, n, seed))
	return min(g, most), g <= most
}

// Within returns the time from now within which a job is done with a chance between 0 and 1, with these clones of each
// task and so many tasks at once: the least for which that is known, in seconds. It is infinite if none is.
func (w Work) Within(chance float64, clones, atOnce int) float64 {
	rest := 1 - min(max(w.Progress, 0), 1)
	if w.Tasks == 0 || rest == 0 {
		return 0
	}
	s := w.shift(clones)
	if len(w.Stages) > 0 {
		return min(s.atMost(atOnce)/1e9, s.ends(atOnce, chance))
	}
	if atOnce >= w.Tasks {
		return rest * laws.Max(s.law, w.Tasks).Quantile(chance)
	}
	waves := (w.Tasks + atOnce - 1) / atOnce
	within := float64(waves) * s.law.InvSurvival(0)
	if s.tasks <= played {
		if t := s.ends(atOnce, chance); t < within {
			within = t
		}
	}
	if exp, ok := s.law.(laws.Exponential); ok {
		within = bisect(within, func(t float64) bool { return exponentialWaves(exp.Mu, w.Tasks, atOnce, t) >= chance })
	} else if s.tasks > played || math.IsInf(within, 1) {
		within = bisect(within, func(t float64) bool {
			s.left = nanoseconds(t)
			return s.bounds().late(atOnce) <= 1-chance
		})
	}
	return rest * within
}

// ends returns the time by which a job that is played ends with a chance, infinite if too few are played to know.
func (s shift) ends(atOnce int, chance float64) float64 {
	n := s.plays()
	all := make([]float64, n)
	var p wavePlay
	for k := range all {
		p.draw(s, seedTell, k)
		all[k] = p.done(atOnce) / 1e9
	}
	slices.Sort(all)
	k := sort.Search(n, func(i int) bool {
		low, _ := laws.ShareInterval(i+1, n)
		return low >= chance
	})
	if k == n {
		return math.Inf(1)
	}
	return all[k]
}

// bisect returns the least time in seconds for which something holds that holds for all later ones, to nine digits, and
// no more than most; infinite if it does not hold within 1e15 s.
func bisect(most float64, holds func(t float64) bool) float64 {
	lo, hi := 0.0, 1e-6
	for !holds(hi) {
		if lo, hi = hi, 2*hi; hi > 1e15 {
			return most
		}
	}
	for hi-lo > 1e-9*hi {
		if mid := (lo + hi) / 2; holds(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return min(most, hi)
}
