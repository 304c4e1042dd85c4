package plan

import (
	"cmp"
	"math"
	"slices"
)

// rung is a way to run a job: how many of its tasks at once, with how many clones each.
type rung struct {
	slots, atOnce, clones int
	log                   float64 // the logarithm of its chance
}

const (
	// waiting is the chance that a job counts with while it has no slots: less than playing can tell from 0.
	waiting = 1e-4
	// A further rung is worth its slots if it adds so much to the chance, or leaves at most this share of the miss.
	rungGain, rungMiss = 0.002, 0.7
)

// rungs returns the ways to run a job on up to so many slots, each of more slots with a larger chance. The first is to
// wait. Chances of jobs in waves are estimated by n jobs that are played, the same for all ways, or are bounds: n = 0.
func (w Work) rungs(slots, maxAttempts, n int) []rung {
	all := []rung{{log: math.Log(waiting)}}
	if w.Slots > 0 {
		slots = min(slots, w.Slots)
	}
	then := w.then(slots, maxAttempts, n)
	for clones := 0; clones < slots && (maxAttempts == 0 || clones < maxAttempts); clones++ {
		climbed := climbing(slices.Concat(all, w.rungsOf(clones, slots/(clones+1), n, then)))
		if clones > 0 && slices.Equal(climbed, all) {
			break
		}
		all = climbed
	}
	return all
}

// rungsOf returns the ways with a number of clones and up to so many tasks at once.
func (w Work) rungsOf(clones, most, n int, then rest) (all []rung) {
	if len(then) > 0 {
		return w.rungsBefore(then, clones, most, n)
	}
	if len(w.Stages) > 0 {
		return w.rungsOfStages(clones, most, n)
	}
	enter := func(atOnce int, log float64) {
		all = append(all, rung{slots: atOnce * (clones + 1), atOnce: atOnce, clones: clones, log: log})
	}
	if most >= w.Tasks {
		enter(w.Tasks, w.LogPoCD(clones))
		most = w.Tasks - 1
	}
	s := w.shift(clones)
	if most < 1 || s.left <= 0 || s.law.Quantile(0) > s.left/1e9 {
		return all
	}
	if longest := nanoseconds(s.law.InvSurvival(0)); longest <= s.left {
		if certain := ceilDiv(w.Tasks, math.Floor(s.left/longest)); certain <= most {
			enter(certain, 0)
			if most = certain - 1; most == 0 {
				return all
			}
		}
	}
	misses := []float64{proven, 1e-3, 0.01, 0.1, 0.5}
	if n > 0 {
		some, ever := s.playedRungs(clones, most, n)
		if all = append(all, some...); !ever { // then nothing is proven
			return all
		}
		misses = misses[:1]
	}
	b := s.bounds()
	for _, miss := range misses {
		if g := b.fewest(miss, most); g <= most {
			enter(g, math.Log1p(-miss))
		}
	}
	return all
}

// playedRungs returns the ways by which some of n played jobs are in time, and whether each of them is by the last.
func (s shift) playedRungs(clones, most, n int) (all []rung, ever bool) {
	needs := s.fewestAtOnce(n, seedChoose)
	for i, g := range needs {
		if g <= most && (i == n-1 || needs[i+1] > g) {
			all = append(all, rung{slots: g * (clones + 1), atOnce: g, clones: clones, log: math.Log((float64(i) + 0.5) / float64(n))})
		}
	}
	return all, needs[n-1] <= most
}

// ceilDiv returns ⌈n/d⌉, 1 at least.
func ceilDiv(n int, d float64) int { return max(1, int(math.Ceil(float64(n)/d))) }

// climbing keeps those ways that are worth their slots, in order.
func climbing(all []rung) []rung {
	slices.SortStableFunc(all, func(a, b rung) int {
		return cmp.Or(cmp.Compare(a.slots, b.slots), cmp.Compare(b.log, a.log))
	})
	kept := all[:0]
	for _, r := range all {
		if len(kept) > 0 {
			last := kept[len(kept)-1].log
			if gained := math.Exp(r.log) - math.Exp(last); gained < rungGain && !(math.Expm1(r.log) >= rungMiss*math.Expm1(last)) || r.log <= last {
				continue
			}
		}
		kept = append(kept, r)
	}
	return kept
}
