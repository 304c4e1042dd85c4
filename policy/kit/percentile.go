package kit

import (
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// Median keeps the upper median of durations that only become more: sorted[floor(n/2)]. Until it is asked for the
// first time they are just collected; then half of them are in a heap with the largest on top, the others in one with
// the smallest on top, which is the median. Values that come in random order cost O(1) on average, at worst O(log n).
type Median struct {
	all       []sched.Time // room for all values; low is at its beginning, high begins in the middle
	low, high int32        // sizes. Values of low are negated, so that both heaps have their smallest on top
	parted    bool         // into heaps; until then the values are all[:low] as they came
}

// Reset empties the structure and makes room for n values, in memory of its own or else of the arena.
func (m *Median) Reset(n int, from *Arena[sched.Time]) {
	if len(m.all) < n {
		m.all = from.take(n)
	}
	m.low, m.high, m.parted = 0, 0, false
}

// Len returns how many values there are.
func (m *Median) Len() int { return int(m.low + m.high) }

// Add takes in a value; there must be room.
func (m *Median) Add(d sched.Time) {
	if !m.parted {
		m.all[m.low] = d
		m.low++
		return
	}
	middle := len(m.all) / 2
	low, high := m.all[:m.low:middle], m.all[middle:middle+int(m.high)]
	below := m.high > 0 && d < high[0]
	if m.high > m.low { // the lower half is due to grow
		if !below {
			d = exchange(high, d)
		}
		m.low = int32(len(push(low, -d)))
		return
	}
	if below {
		d = -exchange(low, -d)
	}
	m.high = int32(len(push(high, d)))
}

// Value returns the median; there must be a value.
func (m *Median) Value() sched.Time {
	if !m.parted {
		m.part()
	}
	return m.all[len(m.all)/2]
}

// part makes two heaps of what was collected; sorted values are a heap.
func (m *Median) part() {
	values := m.all[:m.low]
	slices.Sort(values)
	half := len(values) / 2
	m.low, m.high, m.parted = int32(half), int32(len(values)-half), true
	copy(m.all[len(m.all)/2:], values[half:])
	low := values[:half]
	slices.Reverse(low)
	for i := range low {
		low[i] = -low[i]
	}
}

// Lowest keeps the shortest of durations that only become more, and knows the longest of these. A value costs O(log
// n) for n that are kept.
type Lowest struct {
	n   int
	all []sched.Time // negated: the longest is on top
}

// Reset empties the structure, which then keeps n values.
func (l *Lowest) Reset(n int) { l.n, l.all = n, l.all[:0] }

// Add takes in a value.
func (l *Lowest) Add(d sched.Time) {
	switch {
	case l.n == 0:
	case len(l.all) < l.n:
		l.all = push(l.all, -d)
	default:
		exchange(l.all, -d)
	}
}

// Shrink lets the structure keep n values, if these are fewer than before.
func (l *Lowest) Shrink(n int) {
	for l.n = min(l.n, n); len(l.all) > l.n; {
		last := l.all[len(l.all)-1]
		if l.all = l.all[:len(l.all)-1]; len(l.all) > 0 {
			exchange(l.all, last)
		}
	}
}

// Full tells whether there were n values.
func (l *Lowest) Full() bool { return len(l.all) >= l.n }

// Value returns the n-th shortest, or while there are fewer the longest; 0 if n is 0.
func (l *Lowest) Value() sched.Time {
	if len(l.all) == 0 {
		return 0
	}
	return -l.all[0]
}

// push puts a value into a binary heap of times with the smallest on top and returns it.
func push(h []sched.Time, x sched.Time) []sched.Time {
	h = append(h, x)
	i := len(h) - 1
	for i > 0 && x < h[(i-1)/2] {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = x
	return h
}

// exchange returns the smallest of h and x and leaves the others in h.
func exchange(h []sched.Time, x sched.Time) sched.Time {
	if len(h) == 0 || x <= h[0] {
		return x
	}
	top, i := h[0], 0
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if x <= h[c] {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = x
	return top
}

// Percentile keeps sorted[floor(p n)] of n values that come, change and go; floor(p n) values are not above it. Each
// value has a number, given by the caller or by Add. Every change costs O(log n).
type Percentile struct {
	P     float64                // from 0 to 1
	low   Heap[Falling[float64]] // the floor(p n) smallest
	high  Heap[Rising[float64]]  // the others
	spare []int32                // numbers to give out again
}

func (q *Percentile) len() int { return q.low.Len() + q.high.Len() }

// Value returns the percentile; ok is false without values, and where p is 1 and nothing is above it.
func (q *Percentile) Value() (x float64, ok bool) {
	if q.high.Len() == 0 {
		return 0, false
	}
	return q.high.TopKey().X, true
}

// Add takes a value in under a number of its own, which it returns.
func (q *Percentile) Add(x float64) int {
	id := q.len()
	if n := len(q.spare); n > 0 {
		id = int(q.spare[n-1])
		q.spare = q.spare[:n-1]
	}
	q.Set(id, x)
	return id
}

// Release takes the value with a number that Add gave out.
func (q *Percentile) Release(id int) {
	q.Drop(id)
	q.spare = append(q.spare, int32(id))
}

// Set takes a value in, or changes it.
func (q *Percentile) Set(id int, x float64) {
	q.low.Drop(id)
	if q.low.Len() > 0 && x < q.low.TopKey().X {
		q.high.Drop(id)
		q.low.Set(id, Falling[float64]{x})
	} else {
		q.high.Set(id, Rising[float64]{x})
	}
	q.balance()
}

// Drop takes a value out if it is there.
func (q *Percentile) Drop(id int) {
	q.low.Drop(id)
	q.high.Drop(id)
	q.balance()
}

func (q *Percentile) balance() {
	want := int(q.P * float64(q.len()))
	for q.low.Len() < want {
		id, x := q.high.Top(), q.high.TopKey().X
		q.high.Drop(id)
		q.low.Set(id, Falling[float64]{x})
	}
	for q.low.Len() > want {
		id, x := q.low.Top(), q.low.TopKey().X
		q.low.Drop(id)
		q.high.Set(id, Rising[float64]{x})
	}
}

// Reset empties the structure and keeps its memory.
func (q *Percentile) Reset() {
	q.low.Clear()
	q.high.Clear()
	q.spare = q.spare[:0]
}
