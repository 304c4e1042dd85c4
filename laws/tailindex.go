package laws

import (
	"fmt"
	"math"
	"slices"
)

// HillPoint is the estimate of the tail index from the Tail largest values.
type HillPoint struct {
	Tail      int     // how many values, at least 1
	Threshold float64 // the value below them
	Alpha     float64 // α of P(X > x) ~ x^-α
	Low, High float64 // α holds there with a confidence of 95 %, if the tail is a power law from the threshold on
}

// Hill returns the estimates of the tail index ("A simple general approach to inference about the tail of a
// distribution", Annals of Statistics 3, 1975) for every size of the tail, in increasing order: the data of a Hill
// plot. With X_(1) >= X_(2) >= ...
//
//	1/α_k = (1/k) Σ_{i<=k} log(X_(i)/X_(k+1))
//
// Where the plot is level it tells the index; where it is not, there is no power law. The intervals are α(1 ± 1.96/√k).
// Thresholds that are not positive, and tails that are all equal to theirs, are left out. Values need no order; they
// must be finite.
func Hill(values []float64) []HillPoint {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	var out []HillPoint
	var logs float64
	for k := 1; k < len(sorted); k++ {
		if !(sorted[k] > 0) {
			break
		}
		logs += math.Log(sorted[k-1])
		mean := logs/float64(k) - math.Log(sorted[k])
		if !(mean > 1e-12) {
			continue
		}
		wide := 1.959963984540054 / math.Sqrt(float64(k))
		out = append(out, HillPoint{k, sorted[k], 1 / mean, max(0, (1-wide)/mean), (1 + wide) / mean})
	}
	return out
}

// TailIndex returns the point of the Hill plot whose power law is nearest to the values beyond its threshold in the
// sense of Kolmogorov and Smirnov (Clauset, Shalizi and Newman, "Power-law distributions in empirical data", SIAM
// Review 51, 2009), of those with a tail of at least 10 values, and that distance. It is an error if there is none.
// That an index is returned does not mean that the tail is a power law.
func TailIndex(values []float64) (best HillPoint, distance float64, err error) {
	const least = 10
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	distance = math.Inf(1)
	for _, h := range thinned(Hill(sorted), least) {
		tail := sorted[len(sorted)-h.Tail:]
		if d := KolmogorovSmirnov(tail, Pareto{Alpha: h.Alpha, Xm: h.Threshold}); d < distance {
			best, distance = h, d
		}
	}
	if math.IsInf(distance, 1) {
		return best, distance, fmt.Errorf("a tail index wants more than %d positive values that differ, got %d values", least, len(values))
	}
	return best, distance, nil
}

// thinned are the points with tails of at least least values, at steps of a fiftieth of their size.
func thinned(points []HillPoint, least int) []HillPoint {
	var out []HillPoint
	next := least
	for _, h := range points {
		if h.Tail >= next {
			out = append(out, h)
			next = h.Tail + 1 + h.Tail/50
		}
	}
	return out
}
