package history

import (
	"cmp"
	"math"
	"slices"
)

// Skew says how far the bytes that a task read explain how long it took.
type Skew struct {
	// R2 is the share of the variance of the durations that a straight line through the bytes explains, 0 to 1: the
	// square of Pearson's correlation, 0 where the line falls. Long tasks weigh most in it, and it is about these.
	R2 float64
	// Rank is Spearman's rank correlation, -1 to 1, with mean ranks for ties. It does not mind the shape of the
	// dependence.
	Rank float64
	// Spread is the most bytes that an attempt read, as a multiple of the median; +Inf if that is 0.
	Spread float64
	// Slope is by how many seconds a task takes longer per byte, and Median the bytes that half of them read at most.
	Slope, Median float64
}

// Skew compares bytes and durations of the attempts that succeeded; ok is false if the log does not tell the bytes, or
// all are equal.
func (s *StageRecord) Skew() (k Skew, ok bool) {
	bytes, durations := make([]float64, len(s.Succeeded)), make([]float64, len(s.Succeeded))
	for i, o := range s.Succeeded {
		bytes[i], durations[i] = float64(o.Bytes), o.Seconds
	}
	if !varies(bytes) || !varies(durations) {
		return Skew{}, false
	}
	r, rank := correlation(bytes, durations), correlation(ranks(bytes), ranks(durations))
	if math.IsNaN(r) || math.IsNaN(rank) { // values so large that their squares are infinite
		return Skew{}, false
	}
	slope := r * deviation(durations) / deviation(bytes)
	slices.Sort(bytes)
	median := bytes[len(bytes)/2]
	return Skew{math.Pow(max(0, r), 2), rank, bytes[len(bytes)-1] / median, max(0, slope), median}, true
}

// deviation is the standard deviation.
func deviation(x []float64) float64 {
	var mean, square float64
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		square += (v - mean) * (v - mean) / float64(len(x))
	}
	return math.Sqrt(square)
}

// varies tells whether values differ. Their variance does not: the mean of equal values may miss them by its rounding.
func varies(x []float64) bool {
	return slices.ContainsFunc(x, func(v float64) bool { return v != x[0] })
}

// correlation is Pearson's, -1 to 1, NaN if either side does not vary.
func correlation(x, y []float64) float64 {
	var meanX, meanY float64
	for i := range x {
		meanX += x[i] / float64(len(x))
		meanY += y[i] / float64(len(y))
	}
	var xx, yy, xy float64
	for i := range x {
		dx, dy := x[i]-meanX, y[i]-meanY
		xx += dx * dx
		yy += dy * dy
		xy += dx * dy
	}
	if xx == 0 || yy == 0 {
		return math.NaN()
	}
	return min(1, max(-1, xy/math.Sqrt(xx)/math.Sqrt(yy)))
}

// ranks replaces values by their ranks, equal ones by the mean of theirs.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	r := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for _, at := range order[i:j] {
			r[at] = float64(i+j-1) / 2
		}
		i = j
	}
	return r
}

// SlowHost is the machine that ran most of the tasks that took longer than a limit.
type SlowHost struct {
	Host     int32 // index into the hosts of [Stages]
	Slow, Of int   // slow attempts there, and in all
	Ran, All int   // attempts that succeeded there, and in all
}

// Share is the machine's share of all attempts that succeeded.
func (h *SlowHost) Share() float64 { return float64(h.Ran) / float64(h.All) }

// SlowHost looks for the machine that ran most of the attempts longer than limit seconds; ok is false if none is
// longer.
func (s *StageRecord) SlowHost(limit float64) (h SlowHost, ok bool) {
	slow, all := map[int32]int{}, map[int32]int{}
	for _, o := range s.Succeeded {
		all[o.Host]++
		if o.Seconds > limit {
			slow[o.Host]++
			h.Of++
		}
	}
	for _, o := range s.Succeeded { // in order of the log, so that ties are the same on every run
		if slow[o.Host] > h.Slow {
			h.Host, h.Slow = o.Host, slow[o.Host]
		}
	}
	if h.Of == 0 {
		return h, false
	}
	h.Ran, h.All = all[h.Host], len(s.Succeeded)
	return h, true
}
