package policy

import (
	"math/bits"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// median keeps the upper median of durations that only become more: sorted[floor(n/2)]. Until it is asked for the first
// time they are just collected; then half of them are in a heap with the largest on top, the others in one with the
// smallest on top, which is the median. Values that come in random order cost O(1) on average, at worst O(log n).
type median struct {
	all       []sched.Time // room for all values; low is at its beginning, high begins in the middle
	low, high int32        // sizes. Values of low are negated, so that both heaps have their smallest on top
	parted    bool         // into heaps; until then the values are all[:low] as they came
}

// reset empties the structure and makes room for n values, in memory of its own or else of the arena.
func (m *median) reset(n int, from *arena[sched.Time]) {
	if len(m.all) < n {
		m.all = from.take(n)
	}
	m.low, m.high, m.parted = 0, 0, false
}

func (m *median) len() int { return int(m.low + m.high) }

// add takes in a value; there must be room.
func (m *median) add(d sched.Time) {
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

// value returns the median; there must be a value.
func (m *median) value() sched.Time {
	if !m.parted {
		m.part()
	}
	return m.all[len(m.all)/2]
}

// part makes two heaps of what was collected; sorted values are a heap.
func (m *median) part() {
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

// arena gives out memory in pieces, so that thousands of small stages do not allocate one by one. Nothing is given
// back.
type arena[T any] struct{ rest []T }

// arenaBlock is what an arena allocates at least at once, in values.
const arenaBlock = 1 << 13

// take returns room for at least n values, a power of two of them: who comes back for more, again and again, has wasted
// no more than he has.
func (a *arena[T]) take(n int) []T {
	size := 1 << bits.Len(uint(max(n, 1)-1))
	if size > len(a.rest) {
		a.rest = make([]T, max(size, arenaBlock))
	}
	mem := a.rest[:size:size]
	a.rest = a.rest[size:]
	return mem
}

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

// percentile keeps sorted[floor(p n)] of n values that come, change and go; floor(p n) values are not above it. Each
// value has a number, given by the caller or by add. Every change costs O(log n).
type percentile struct {
	p     float64
	low   heap[falling[float64]] // the floor(p n) smallest
	high  heap[rising[float64]]  // the others
	spare []int32                // numbers to give out again
}

func (q *percentile) len() int { return q.low.len() + q.high.len() }

// value returns the percentile; ok is false without values, and where p is 1 and nothing is above it.
func (q *percentile) value() (x float64, ok bool) {
	if q.high.len() == 0 {
		return 0, false
	}
	return q.high.topKey().x, true
}

// add takes a value in under a number of its own, which it returns.
func (q *percentile) add(x float64) int {
	id := q.len()
	if n := len(q.spare); n > 0 {
		id = int(q.spare[n-1])
		q.spare = q.spare[:n-1]
	}
	q.set(id, x)
	return id
}

// release takes the value with a number that add gave out.
func (q *percentile) release(id int) {
	q.drop(id)
	q.spare = append(q.spare, int32(id))
}

// set takes a value in, or changes it.
func (q *percentile) set(id int, x float64) {
	q.low.drop(id)
	if q.low.len() > 0 && x < q.low.topKey().x {
		q.high.drop(id)
		q.low.set(id, falling[float64]{x})
	} else {
		q.high.set(id, rising[float64]{x})
	}
	q.balance()
}

// drop takes a value out if it is there.
func (q *percentile) drop(id int) {
	q.low.drop(id)
	q.high.drop(id)
	q.balance()
}

func (q *percentile) balance() {
	want := int(q.p * float64(q.len()))
	for q.low.len() < want {
		id, x := q.high.top(), q.high.topKey().x
		q.high.drop(id)
		q.low.set(id, falling[float64]{x})
	}
	for q.low.len() > want {
		id, x := q.low.top(), q.low.topKey().x
		q.low.drop(id)
		q.high.set(id, rising[float64]{x})
	}
}

// reset empties the structure and keeps its memory.
func (q *percentile) reset() {
	q.low.clear()
	q.high.clear()
	q.spare = q.spare[:0]
}
