package overlap

import (
	"math"
	"slices"
)

// QuantileError is the largest relative error of [Quantiles] beyond its exact part.
const QuantileError = 1.0 / (2 << octaveBits)

const (
	exactValues = 1 << 14 // as many values are kept as they are
	octaveBits  = 10      // an octave of values has 2^10 buckets of equal width
)

// Quantiles collects values of 0 or more and tells their quantiles: exactly while they are few, and then from counts in
// buckets whose width is a fixed fraction of the value. Memory does not grow with the number of values. The zero value
// is empty.
type Quantiles struct {
	n       int64
	exact   []float64
	octaves [1 << 11]*[1 << octaveBits]int64 // by the exponent of the value
}

// Add counts a value.
func (q *Quantiles) Add(v float64) {
	if q.n++; q.n > exactValues && q.exact == nil {
		q.count(v)
		return
	}
	q.keep(v)
}

// keep keeps a value as it is, while they are few.
func (q *Quantiles) keep(v float64) {
	if q.n <= exactValues {
		q.exact = append(q.exact, v)
		return
	}
	for _, e := range q.exact {
		q.count(e)
	}
	q.exact = nil
	q.count(v)
}

// count puts a value into its bucket: the exponent and the leading bits of its significand.
func (q *Quantiles) count(v float64) {
	if !(v > 0) {
		v = 0
	}
	place := math.Float64bits(v) >> (52 - octaveBits)
	octave := q.octaves[place>>octaveBits]
	if octave == nil {
		octave = new([1 << octaveBits]int64)
		q.octaves[place>>octaveBits] = octave
	}
	octave[place&(1<<octaveBits-1)]++
}

// At returns the least value v so that a fraction p in [0, 1] of the values is at most v; NaN without values. Beyond
// the exact part it is the middle of v's bucket.
func (q *Quantiles) At(p float64) float64 {
	if q.n == 0 {
		return math.NaN()
	}
	rank := min(q.n, max(1, int64(math.Ceil(p*float64(q.n)))))
	if q.exact != nil {
		return slices.Sorted(slices.Values(q.exact))[rank-1]
	}
	for exponent, octave := range q.octaves {
		if octave == nil {
			continue
		}
		for i, n := range octave {
			if rank -= n; rank <= 0 {
				place := uint64(exponent<<octaveBits | i)
				low := math.Float64frombits(place << (52 - octaveBits))
				high := math.Float64frombits((place + 1) << (52 - octaveBits))
				return low + (high-low)/2
			}
		}
	}
	panic("overlap: buckets hold fewer values than were added")
}
