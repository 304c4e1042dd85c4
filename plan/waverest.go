package plan

import (
	"math"
	"slices"
)

// rest is how long the later stages of a job take, in whole nanoseconds: for each number of clones that those of them
// may have that need waves, n played times in order.
type rest [][]float64

// then plays the later stages of a job on so many slots; nil if there are none, or nothing is played. A stage that fits
// has all its tasks at once, with as many clones as fit then, as in the paper.
func (w Work) then(slots, maxAttempts, n int) (all rest) {
	if len(w.Later) == 0 || n == 0 {
		return nil
	}
	most := slots - 1
	if maxAttempts > 0 {
		most = min(most, maxAttempts-1)
	}
	waves := slices.ContainsFunc(w.Later, func(stage Phase) bool { return stage.Tasks > slots })
	for clones := 0; clones <= most && (clones == 0 || waves); clones++ {
		took := make([]float64, n)
		for i, stage := range w.Later {
			r := clones
			if stage.Tasks <= slots {
				r = min(most, slots/stage.Tasks-1)
			}
			s := Work{Tasks: stage.Tasks, Law: stage.Law, Deadline: 1}.shift(r)
			var p wavePlay
			for k := range took {
				p.draw(s, seedChoose+uint64(i+1)<<8, k)
				took[k] += p.done(slots / (r + 1))
			}
		}
		slices.Sort(took)
		all = append(all, took)
	}
	return all
}

// chance returns the chance that the later stages are done within a time: with the clones that are best for it.
func (r rest) chance(left float64) (best float64) {
	for _, took := range r {
		within, _ := slices.BinarySearch(took, math.Nextafter(left, math.Inf(1)))
		best = max(best, float64(within)/float64(len(took)))
	}
	return best
}

// rungsBefore is [Work.rungsOf] of a stage after which others come: the chance of each number of tasks at once is the
// mean of what its played ends leave to these. Not all numbers are looked at, but each is at most a quarter
// above the one before, and one.
func (w Work) rungsBefore(then rest, clones, most, n int) (all []rung) {
	most = min(most, w.Tasks)
	s := w.shift(clones)
	if most < 1 || s.left <= 0 {
		return nil
	}
	plays := make([]wavePlay, n)
	least := math.Inf(1)
	for k := range plays {
		plays[k].draw(s, seedChoose, k)
		least = min(least, plays[k].sum)
	}
	for g := ceilDiv(1, s.left/least); g <= most; g = min(most, g+1+g/4) {
		chance := 0.0
		for k := range plays {
			chance += then.chance(s.left - plays[k].done(g))
		}
		if chance > 0 {
			log := math.Log(min(chance, float64(n)-0.5) / float64(n))
			all = append(all, rung{slots: g * (clones + 1), atOnce: g, clones: clones, log: log})
		}
		if g == most {
			break
		}
	}
	return all
}
