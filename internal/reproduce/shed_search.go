package reproduce

import (
	"math"
	"sort"

	"github.com/tailcut/tailcut/laws"
)

// searchTime bounds from below the machine time that a task of known size takes, on average, under any policy that
// learns how slow an attempt is from its first report.
//
// It is the least mean cost where attempts draw slowdowns S, a launch and the time until the first report are paid for
// each, all progress counts for the task whichever attempt made it, and any attempt that has reported can go on at any
// time, without a slot in between. That is more than policies can. With y seconds of size left and m the least slowdown
// known, the cost is
//
//	U(y, m) = min(y m, launch + E[y S if y S <= report, else report + U(y - report/S, min(m, S))])
//
// Where attempts do not resume, each has to do all of the task, and with no attempt known the cost is
//
//	V(y) = launch + E[min(y S, report + V(y))]
//
// Which of the attempts that are known goes on does not matter then: V, or the least that one of them still takes if
// that is less, falls by no more than what is spent, on average.
//
// By optional stopping a policy that ends a task with the probability p spends p U(x) on it at least, whatever it gives
// up: what it has spent and U of what is left are together never less than U(x) on average. So a job that is in time
// with probability p has taken p times the sum of its tasks' U before its deadline, and what a cluster can do in time
// bounds the expected value: mostInTimeBy with U as the work.
type searchTime struct {
	step float64   // of sizes
	cost []float64 // U(i step, ∞), or V(i step)
}

const (
	searchSteps = 1500 // of sizes
	searchDraws = 64   // quantiles that stand for the slowdowns
)

// newSearchTime returns it for sizes of up to most seconds. Rounding makes times a little shorter.
func newSearchTime(slowdown laws.Law, launch, report, most float64, resumes bool) *searchTime {
	b := &searchTime{step: most / searchSteps, cost: make([]float64, searchSteps+1)}
	draws := make([]float64, searchDraws+1)
	for k := range searchDraws {
		draws[k] = slowdown.Quantile((float64(k) + 0.5) / searchDraws)
	}
	draws[searchDraws] = math.Inf(1) // nothing is known
	if resumes {
		b.resume(draws, launch, report)
		return b
	}
	for i := 1; i <= searchSteps; i++ {
		b.cost[i] = anew(draws[:searchDraws], float64(i)*b.step, launch, report)
	}
	return b
}

// anew returns V(y).
func anew(draws []float64, y, launch, report float64) float64 {
	another := func(v float64) float64 {
		sum := launch
		for _, s := range draws {
			sum += min(y*s, report+v) / float64(len(draws))
		}
		return sum
	}
	lo, hi := 0.0, another(math.Inf(1))
	for hi-lo > 1e-6*hi {
		if mid := (lo + hi) / 2; another(mid) < mid {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo
}

// resume computes U.
func (b *searchTime) resume(draws []float64, launch, report float64) {
	known := make([][]float64, searchSteps+1)
	known[0] = make([]float64, len(draws))
	for i := 1; i <= searchSteps; i++ {
		y := float64(i) * b.step
		known[i] = make([]float64, len(draws))
		for m, best := range draws {
			another := launch
			for k, s := range draws[:searchDraws] {
				if y*s <= report {
					another += y * s / searchDraws
					continue
				}
				left := min(i-1, int((y-report/s)/b.step))
				another += (report + known[left][min(m, k)]) / searchDraws
			}
			known[i][m] = min(y*best, another)
		}
		b.cost[i] = known[i][searchDraws]
	}
}

// of returns U for a size in seconds.
func (b *searchTime) of(x float64) float64 {
	i := sort.Search(searchSteps, func(i int) bool { return float64(i+1)*b.step > x })
	return b.cost[i]
}
