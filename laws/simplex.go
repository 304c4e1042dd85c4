package laws

import (
	"cmp"
	"math"
	"slices"
)

// vertex is a corner of a simplex, and the function there.
type vertex struct {
	x [2]float64
	f float64
}

// What a simplex does, with the weights that Gao and Han (Computational Optimization and Applications 51, 2012) give
// for two dimensions.
const (
	simplexEdge   = 0.05 // of the first one
	simplexGrow   = 2.0
	simplexShrink = 0.5
	simplexStale  = 60 // rounds without a better corner, after which it ends
)

// descend minimises a function of two variables from a start by the simplex of Nelder and Mead (Computer Journal 7,
// 1965; Lagarias et al., SIAM Journal on Optimization 9, 1998). Where the function is infinite no corner stays; false
// says that it is so at the start.
func descend(f func(a, b float64) float64, a, b float64) (vertex, bool) {
	at := func(x [2]float64) vertex { return vertex{x, f(x[0], x[1])} }
	start := at([2]float64{a, b})
	if math.IsInf(start.f, 1) {
		return start, false
	}
	s := []vertex{at([2]float64{a + simplexEdge, b}), at([2]float64{a, b + simplexEdge}), start}
	order := func() { slices.SortStableFunc(s, func(v, w vertex) int { return cmp.Compare(v.f, w.f) }) }
	order()
	middle := s[0].middle(s[1])
	for best, stale := start.f, 0; ; {
		if f := s[0].f; f < best && best-f > 1e-15*max(math.Abs(f), math.Abs(best))+1e-13 {
			best, stale = f, 0
		} else if stale++; stale == simplexStale || math.IsInf(f, -1) {
			return s[0], true
		}
		along := func(scale float64) vertex {
			var x [2]float64
			for i := range x {
				x[i] = (middle[i]-s[2].x[i])*scale + middle[i]
			}
			return at(x)
		}
		next := along(1)
		switch {
		case next.f < s[0].f:
			if v := along(simplexGrow); v.f < next.f {
				next = v
			}
		case next.f < s[1].f:
		default:
			bound, side := next.f, simplexShrink // outside the simplex, as good as the reflection or better
			if next.f >= s[2].f {
				bound, side = math.Nextafter(s[2].f, math.Inf(-1)), -simplexShrink // inside, better than the worst
			}
			if next = along(side); next.f <= bound {
				break
			}
			for i := range s[1:] {
				for j := range 2 {
					s[i+1].x[j] = (s[i+1].x[j]-s[0].x[j])*simplexShrink + s[0].x[j]
				}
				s[i+1] = at(s[i+1].x)
			}
			order()
			middle = s[0].middle(s[1])
			continue
		}
		// The new corner takes the worst one's place, before those that are equal.
		i := 2
		for ; i > 0 && s[i-1].f >= next.f; i-- {
			s[i] = s[i-1]
		}
		s[i] = next
		for j := range middle {
			middle[j] += -0.5 * s[2].x[j]
			middle[j] += 0.5 * next.x[j]
		}
	}
}

func (v vertex) middle(w vertex) (x [2]float64) {
	for i := range x {
		x[i] = (v.x[i] + w.x[i]) / 2
	}
	return x
}
