package kit

import "math"

// Empirical is the law of one attempt's duration that takes each of some durations, in seconds and in ascending order,
// with the same probability.
type Empirical []float64

// Shortest returns the mean duration of a task with c attempts.
func (e Empirical) Shortest(c int) float64 { return e.Longest(c, 1) }

// Longest returns the mean duration of m tasks at once with c attempts each: the integral of the probability that one
// of them still runs, 1 - (1-S(t)^c)^m for the share S(t) of the durations beyond t.
func (e Empirical) Longest(c, m int) float64 {
	mean := e[0]
	for i := 1; i < len(e); i++ {
		if gap := e[i] - e[i-1]; gap > 0 {
			beyond := float64(len(e)-i) / float64(len(e))
			mean += gap * -math.Expm1(float64(m)*math.Log1p(-math.Pow(beyond, float64(c))))
		}
	}
	return mean
}

// Cost is SCA's objective for a job of m tasks, as [Pareto.Cost].
func (e Empirical) Cost(c, m int, gamma float64) float64 {
	return e.Longest(c, m) + gamma*float64(m)*float64(c)*e.Shortest(c)
}
