package advice

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tailcut/tailcut/plan"
)

// Spec is the policy for --policy of run and simulate: p with as few digits as give the same fork of n tasks.
func Spec(p plan.Policy, tasks int) string {
	n := float64(tasks)
	done := float64(tasks - p.Stragglers)
	share := shortest(float64(p.Stragglers)/n, func(x float64) bool { return math.Round(n*(1-x)) == done })
	return fmt.Sprintf("fork:p=%s,r=%d,original=%s", share, p.Clones, p.Original)
}

// quantileFor is the least number of digits of a share x of n tasks with floor(x n) = k, as Spark and Flink compute it.
func quantileFor(k, tasks int) string {
	n := float64(tasks)
	return shortest((float64(k)+0.25)/n, func(x float64) bool { return x <= 1 && math.Floor(x*n) == float64(k) })
}

// shortest writes x with the fewest digits that are good enough.
func shortest(x float64, good func(float64) bool) string {
	for digits := 0; digits < 17; digits++ {
		s := strconv.FormatFloat(x, 'f', digits, 64)
		if v, err := strconv.ParseFloat(s, 64); err == nil && good(v) {
			return s
		}
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
