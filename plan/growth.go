package plan

import (
	"math"

	"github.com/tailcut/tailcut/laws"
)

// Growth returns the g with which the latency of a job grows as n^g when it forks at a fixed share of its tasks, each
// straggler then having clones+1 attempts, new or old: Corollary 1, by the domain of attraction of the minimum of that
// many attempts.
//
//	tail x^-α        1/(α(clones+1)), and +Inf, as the latency itself, if α(clones+1) <= 1
//	lighter tails    0: slower than any power, as log n of an exponential tail; not at all if there is a longest duration
//
// With no clones it is the growth of the baseline. It is NaN of a law that is in no domain, such as a sample.
func Growth(l laws.Law, clones int) float64 {
	switch d, index := laws.Attraction(laws.Min(l, clones+1)); d {
	case laws.Frechet:
		if index <= 1 {
			return math.Inf(1)
		}
		return 1 / index
	case laws.Gumbel, laws.ReversedWeibull:
		return 0
	}
	return math.NaN()
}
