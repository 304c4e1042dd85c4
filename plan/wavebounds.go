package plan

import (
	"math"
	"sort"
)

// waveCells are the steps in which [waveBounds] integrate.
const waveCells = 1024

// waveBounds bound the chance of a job in waves. With g tasks at once it is done by Σ/g + (1-1/g) max at the
// latest (Graham 1969) and no earlier than Σ/g. A task that takes longer than some x is late as it were; the sum
// of the others, each cut at x, is bounded by Bernstein's inequality upwards, and by that for numbers that are not
// negative downwards (Maurer, "A bound on the deviation probability for sums of non-negative random variables",
// 2003). The moments of what is cut are sums over steps of the survival, which falls: those at the left ends are
// too large, those at the right too small.
type waveBounds struct {
	shift
	at, longer             [waveCells + 1]float64 // x, nanoseconds, and the probability of longer
	meanUp, meanDown, msUp [waveCells + 1]float64 // E[min(Y,x)], nanoseconds, and E[min(Y,x)²], nanoseconds squared
}

// bounds wants left > 0.
func (s shift) bounds() *waveBounds {
	const body = waveCells * 3 / 4
	b := &waveBounds{shift: s}
	b.longer[0] = 1
	ratio := 0.0
	for i := 1; i <= waveCells; i++ {
		before := b.at[i-1]
		x := nanoseconds(s.law.Quantile(float64(i-1) / body))
		if i > body || x > s.left {
			if ratio == 0 && before > 0 {
				ratio = math.Pow(s.left/before, 1/float64(waveCells-i+1))
			}
			x = max(before, before*ratio)
		}
		if x = min(x, s.left, math.MaxFloat64); i == waveCells {
			x = min(s.left, math.MaxFloat64)
		}
		b.at[i], b.longer[i] = x, s.law.Survival(x/1e9)
		b.meanUp[i] = b.meanUp[i-1] + b.longer[i-1]*(x-before)
		b.meanDown[i] = b.meanDown[i-1] + s.law.Survival(x/1e9*(1-1e-12))*(x-before)
		b.msUp[i] = b.msUp[i-1] + b.longer[i-1]*(x-before)*(x+before)
	}
	return b
}

// late returns a bound of the probability that the job is late with g tasks at once, above by at most 1.
func (b *waveBounds) late(g int) float64 {
	n, best := float64(b.tasks), 1.0
	for i := 1; i <= waveCells; i++ {
		x := b.at[i]
		long := -math.Expm1(n * math.Log1p(-b.longer[i])) // that some task takes longer
		room := float64(g)*(b.left-x) + x - n*b.meanUp[i]
		if long >= best || room <= 0 {
			continue
		}
		variance := max(0, b.msUp[i]-b.meanDown[i]*b.meanDown[i])
		if exponent := room * room / (2 * (n*variance + x*room/3)); exponent > 0 {
			best = min(best, long+math.Exp(-exponent))
		}
	}
	return best
}

// early returns a bound of the probability that the job is in time.
func (b *waveBounds) early(g int) float64 {
	n := float64(b.tasks)
	best := math.Exp(n * math.Log1p(-b.longer[waveCells]))
	for i := 1; i <= waveCells; i++ {
		if short := n*b.meanDown[i] - float64(g)*b.left; short > 0 && b.msUp[i] > 0 {
			best = min(best, math.Exp(-short*short/(2*n*b.msUp[i])))
		}
	}
	return best
}

// fewest returns the fewest tasks at once, at most so many, with which the bound of a miss is no larger; one more if
// there are none.
func (b *waveBounds) fewest(miss float64, most int) int {
	return 1 + sort.Search(most, func(i int) bool { return b.late(1+i) <= miss })
}
