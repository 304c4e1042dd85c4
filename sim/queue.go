package sim

import "github.com/tailcut/tailcut/sched"

// queue orders what is going to happen: at most one instant per key, a small integer such as an attempt's row. The earliest comes first and of
// equal ones the smallest key, so that the order is total.
//
// It is a 4-ary heap with an index: shallower than a binary one, and the index takes an attempt out when it is killed instead of leaving a stale
// entry behind. The root is at place 3, so that four siblings begin at a multiple of four and share one cache line; places 0 to 2 are not used.
type queue struct {
	heap []entry
	at   []int32 // by key: its place in heap, 0 if it is not there
}

// entry is 16 bytes. The upper half of id is the caller's: what it needs to know when the instant comes, without looking elsewhere.
type entry struct {
	time sched.Time
	id   uint64 // key in the lower half
}

const root = 3

func (e entry) key() uint32 { return uint32(e.id) }

func (e entry) before(o entry) bool {
	return e.time < o.time || e.time == o.time && e.key() < o.key()
}

// grow makes room for keys less than n.
func (q *queue) grow(n int) {
	for len(q.heap) < root {
		q.heap = append(q.heap, entry{})
	}
	for len(q.at) < n {
		q.at = append(q.at, 0)
	}
}

// emptied returns an empty queue that uses the memory of q, which is not to be used any more.
func (q *queue) emptied() queue { return queue{heap: q.heap[:0], at: q.at[:0]} }

// size returns the number of entries.
func (q *queue) size() int { return max(0, len(q.heap)-root) }

// next returns the earliest instant, sched.Never if the queue is empty.
func (q *queue) next() sched.Time {
	if len(q.heap) <= root {
		return sched.Never
	}
	return q.heap[root].time
}

// pop removes the first entry and returns its id.
func (q *queue) pop() uint64 {
	e := q.heap[root]
	q.remove(e.key())
	return e.id
}

// push adds an entry whose key is not in the queue.
func (q *queue) push(id uint64, t sched.Time) {
	q.heap = append(q.heap, entry{})
	q.up(len(q.heap)-1, entry{t, id})
}

// remove takes a key out if it is in the queue.
func (q *queue) remove(key uint32) {
	i := int(q.at[key])
	if i == 0 {
		return
	}
	q.at[key] = 0
	end := len(q.heap) - 1
	last := q.heap[end]
	q.heap = q.heap[:end]
	if i == end {
		return
	}
	if i > root && last.before(q.heap[i/4+2]) {
		q.up(i, last)
	} else {
		q.down(i, last)
	}
}

// up puts e at place i or, after moving later ones down, nearer to the root.
func (q *queue) up(i int, e entry) {
	for i > root {
		parent := i/4 + 2
		if !e.before(q.heap[parent]) {
			break
		}
		q.place(i, q.heap[parent])
		i = parent
	}
	q.place(i, e)
}

// down puts e at place i or, after moving earlier ones up, further from the root.
func (q *queue) down(i int, e entry) {
	for {
		first := 4 * (i - 2)
		if first >= len(q.heap) {
			break
		}
		least, earliest := first, q.heap[first]
		for child, c := range q.heap[first+1 : min(first+4, len(q.heap))] {
			if c.before(earliest) {
				least, earliest = first+1+child, c
			}
		}
		if !earliest.before(e) {
			break
		}
		q.place(i, earliest)
		i = least
	}
	q.place(i, e)
}

func (q *queue) place(i int, e entry) {
	q.heap[i] = e
	q.at[e.key()] = int32(i)
}
