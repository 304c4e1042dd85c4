package overlap

import (
	"iter"
	"math"
	"math/rand/v2"

	"github.com/tailcut/tailcut/laws"
)

// What the draws of a synthetic workload are for: the second half of their keys.
const (
	drawArrivals = iota + 1
	drawMaps
	drawRatios
)

// Synthetic yields the workload of the paper's Section 5.3: n jobs in a Poisson process of the given rate, which is the
// load of both stations as both mean sizes are 1. Map sizes are lognormal with mean 1 and standard deviation 3.65, and
// shuffle sizes are the map size times a lognormal ratio with mean 1 and standard deviation 3.28. The jobs are a
// function of load, seed and nothing else.
func Synthetic(n int64, load float64, seed uint64) iter.Seq[Demand] {
	maps, ratios := lognormal(3.65), lognormal(3.28)
	return func(yield func(Demand) bool) {
		arrival := rand.New(rand.NewPCG(seed, drawArrivals))
		size := rand.New(rand.NewPCG(seed, drawMaps))
		ratio := rand.New(rand.NewPCG(seed, drawRatios))
		clock := 0.0
		for range n {
			clock += arrival.ExpFloat64() / load
			x := math.Exp(maps.Mu + maps.Sigma*size.NormFloat64())
			y := x * math.Exp(ratios.Mu+ratios.Sigma*ratio.NormFloat64())
			if !yield(Demand{Arrival: clock, Map: x, Shuffle: y}) {
				return
			}
		}
	}
}

// lognormal has mean 1 and the given standard deviation.
func lognormal(sd float64) laws.Lognormal {
	l, err := laws.LognormalOf(1, sd)
	if err != nil {
		panic(err)
	}
	return l
}
