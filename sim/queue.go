package sim

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// queue orders what is going to happen: at most one instant per key, a small integer such as an attempt's row. The
// earliest comes first and of equal ones the smallest key, so that the order is total. No instant is pushed that is
// before the last one popped.
//
// It is a radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, JACM 1990): an entry is in the bucket of the highest bit in
// which its instant differs from the last one popped, and when the lowest bucket's turn comes its entries move to lower
// ones. So an entry moves at most once per bit, about eight times with 100,000 of them, and each time from one end of
// an array to that of another. A heap of that size is as deep, but waits for memory at each level. An index takes an
// attempt out when it is killed instead of leaving a stale entry behind.
type queue struct {
	buckets [64][]entry // 0: at the instant last; b: bit b-1 is the highest that differs
	filled  uint64      // a bit per bucket that is not empty
	at      []place     // by key
	last    sched.Time  // popped
	least   sched.Time  // the earliest instant, if it is known
	known   bool
	sorted  bool // bucket 0 is, the smallest key at its end

	ahead   []sched.AttemptID // ids that the last pop has brought into sight
	horizon sched.Time        // end of what has been in sight
}

// sight is how many of the entries that are popped next are in sight at most: enough that the processor may fetch what
// belongs to them all at once, and few enough that its caches keep it until then.
const sight = 64

// entry is 16 bytes. The upper half of id is the caller's: what it needs to know when the instant comes, without
// looking elsewhere.
type entry struct {
	time sched.Time
	id   uint64 // key in the lower half
}

// place is where a key's entry is.
type place struct {
	bucket uint32 // and 1; 0 if there is none
	index  uint32
}

func (e entry) key() uint32 { return uint32(e.id) }

// grow makes room for keys less than n.
func (q *queue) grow(n int) {
	for len(q.at) < n {
		q.at = append(q.at, place{})
	}
}

// emptied returns an empty queue that uses the memory of q, which is not to be used any more.
func (q *queue) emptied() queue {
	e := queue{buckets: q.buckets, at: q.at[:0], ahead: q.ahead[:0]}
	for b := range e.buckets {
		e.buckets[b] = e.buckets[b][:0]
	}
	return e
}

// empty tells whether there is no entry.
func (q *queue) empty() bool { return q.filled == 0 }

// next returns the earliest instant, sched.Never if the queue is empty.
func (q *queue) next() sched.Time {
	if !q.known {
		q.known, q.least = true, sched.Never
		if !q.empty() {
			for _, e := range q.buckets[bits.TrailingZeros64(q.filled)] {
				q.least = min(q.least, e.time)
			}
		}
	}
	return q.least
}

// pop removes the first entry and returns its id. There must be one.
func (q *queue) pop() uint64 {
	q.ahead = q.ahead[:0]
	if q.filled&1 == 0 {
		q.advance(q.next())
	}
	now := q.buckets[0]
	if !q.sorted {
		q.sorted = true
		slices.SortFunc(now, func(a, b entry) int { return cmp.Compare(b.key(), a.key()) })
		for i, e := range now {
			q.at[e.key()].index = uint32(i)
		}
	}
	e := now[len(now)-1]
	q.at[e.key()] = place{}
	q.shorten(0)
	return e.id
}

// advance makes the earliest instant the last one popped, and moves its bucket's entries to where they belong then.
func (q *queue) advance(t sched.Time) {
	b := bits.TrailingZeros64(q.filled)
	from := q.buckets[b]
	q.buckets[b] = from[:0]
	q.filled &^= 1 << b
	if len(from) <= sight && t > q.horizon {
		q.horizon = t | (1<<b - 1)
		for _, e := range from {
			q.ahead = append(q.ahead, sched.AttemptID(e.id))
		}
	}
	q.last = t
	for _, e := range from {
		q.put(e)
	}
}

// push adds an entry whose key is not in the queue.
func (q *queue) push(id uint64, t sched.Time) {
	if t < q.least {
		q.least = t
	}
	q.put(entry{t, id})
}

// put adds an entry to its bucket.
func (q *queue) put(e entry) {
	b := bits.Len64(uint64(e.time ^ q.last))
	if b == 0 {
		q.sorted = q.filled&1 == 0
	}
	q.at[e.key()] = place{uint32(b + 1), uint32(len(q.buckets[b]))}
	q.buckets[b] = append(q.buckets[b], e)
	q.filled |= 1 << b
}

// remove takes a key out if it is in the queue.
func (q *queue) remove(key uint32) {
	p := q.at[key]
	if p.bucket == 0 {
		return
	}
	q.at[key] = place{}
	b := p.bucket - 1
	in := q.buckets[b]
	if in[p.index].time == q.least {
		q.known = false
	}
	if end := len(in) - 1; int(p.index) < end {
		in[p.index] = in[end]
		q.at[in[end].key()].index = p.index
		q.sorted = q.sorted && b > 0
	}
	q.shorten(b)
}

// shorten takes the last entry off a bucket.
func (q *queue) shorten(b uint32) {
	n := len(q.buckets[b]) - 1
	if q.buckets[b] = q.buckets[b][:n]; n == 0 {
		q.filled &^= 1 << b
		q.known = q.known && b > 0
	}
}
