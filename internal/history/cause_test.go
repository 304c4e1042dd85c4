package history

import (
	"math"
	"slices"
	"testing"
)

// Pearson's coefficient computed by hand, as in 149²/(5·7205) for the fourth case; Spearman's from rank differences, 1-6Σd²/n(n²-1).
func TestSkew(t *testing.T) {
	for _, c := range []struct {
		name     string
		bytes    []int64
		seconds  []float64
		r2, rank float64
		ok       bool
	}{
		{"a line", []int64{1, 2, 3, 4}, []float64{10, 20, 30, 40}, 1, 1, true},
		{"a falling line", []int64{1, 2, 3, 4}, []float64{4, 3, 2, 1}, 0, -1, true},
		{"one of two swaps", []int64{1, 2, 3, 4}, []float64{1, 2, 4, 3}, 0.64, 0.8, true},
		{"ranks agree, values do not", []int64{1, 2, 3, 4}, []float64{1, 2, 3, 100}, 0.6163, 1, true},
		{"ties", []int64{1, 1, 2, 2}, []float64{1, 1, 5, 5}, 1, 1, true},
		{"equal bytes whose mean is inexact", slices.Repeat([]int64{17}, 59), increasing(59), 0, 0, false},
		{"equal durations whose mean is inexact", ints(59), slices.Repeat([]float64{0.1}, 59), 0, 0, false},
		{"bytes unknown", []int64{0, 0, 0}, []float64{1, 2, 3}, 0, 0, false},
	} {
		s := StageRecord{}
		for i := range c.bytes {
			s.Succeeded = append(s.Succeeded, Observation{Seconds: c.seconds[i], Bytes: c.bytes[i]})
		}
		k, ok := s.Skew()
		if ok != c.ok || math.Abs(k.R2-c.r2) > 1e-4 || math.Abs(k.Rank-c.rank) > 1e-9 {
			t.Errorf("%s: %+v %v", c.name, k, ok)
		}
	}
}

func increasing(n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = float64(i + 1)
	}
	return all
}

func ints(n int) []int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = int64(i + 1)
	}
	return all
}

func TestSlowHost(t *testing.T) {
	s := StageRecord{Succeeded: []Observation{{1, 0, 0}, {9, 0, 1}, {8, 0, 1}, {9, 0, 2}, {1, 0, 2}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}}}
	if h, ok := s.SlowHost(2); !ok || h != (SlowHost{Host: 1, Slow: 2, Of: 3, Ran: 2, All: 8}) {
		t.Errorf("%+v", h)
	}
	if _, ok := s.SlowHost(9); ok {
		t.Error("no attempt is longer than the longest")
	}
}
