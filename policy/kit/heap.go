package kit

import (
	"cmp"
	"iter"

	"github.com/tailcut/tailcut/sched"
)

// Key is what a heap sorts by: Compare is negative where it goes before o.
type Key[K any] interface{ Compare(o K) int }

// Heap is a binary heap of small integers (jobs, stages, rows), each with a key and at most once. Unlike
// container/heap it knows where an id is, so a key can change, and it allocates only to grow. Equal keys are ordered
// by id: the order is total.
//
// Its memory is that of the ids that are in it, as in sched.Table: ids may ascend for ever.
type Heap[K Key[K]] struct {
	nodes []node[K]
	// by id: its index in nodes plus 1, 0 if it is not there. Many heaps are of small numbers, such as tasks of a
	// stage, and need no page
	small []int32
	place sched.Table[uint32, int32] // of ids from smallIDs on
}

// smallIDs bounds the ids that a heap keeps in a list.
const smallIDs = 256

type node[K any] struct {
	key K
	id  uint32
}

// at returns the place of an id, 0 if it is not there.
func (h *Heap[K]) at(id int) int32 {
	if id < len(h.small) {
		return h.small[id]
	}
	return h.place.Get(uint32(id))
}

// Len returns how many ids are in the heap.
func (h *Heap[K]) Len() int { return len(h.nodes) }

// Has tells whether an id is in the heap.
func (h *Heap[K]) Has(id int) bool { return h.at(id) > 0 }

// Top returns the first id; there must be one.
func (h *Heap[K]) Top() int { return int(h.nodes[0].id) }

// TopKey returns the key of the first id; there must be one.
func (h *Heap[K]) TopKey() K { return h.nodes[0].key }

// Key returns the key of an id, which must be there.
func (h *Heap[K]) Key(id int) K { return h.nodes[h.at(id)-1].key }

// Set puts an id in, or changes its key.
func (h *Heap[K]) Set(id int, k K) {
	n := node[K]{k, uint32(id)}
	if at := h.at(id); at > 0 {
		h.fix(int(at)-1, n)
		return
	}
	if id < smallIDs {
		h.small = Grown(h.small, id)
	} else {
		h.place.At(uint32(id))
	}
	h.nodes = append(h.nodes, n)
	h.up(len(h.nodes)-1, n)
}

// Drop takes an id out if it is there.
func (h *Heap[K]) Drop(id int) {
	i, last := int(h.at(id))-1, len(h.nodes)-1
	if i < 0 {
		return
	}
	moved := h.nodes[last]
	h.nodes = h.nodes[:last]
	if id < len(h.small) {
		h.small[id] = 0
	} else {
		h.place.Drop(uint32(id))
	}
	if i < last {
		h.fix(i, moved)
	}
}

// Clear takes everything out and keeps the memory.
func (h *Heap[K]) Clear() {
	clear(h.small)
	h.place.Clear()
	h.nodes = h.nodes[:0]
}

// All goes through the ids and their keys, in no useful order. The heap must not change meanwhile.
func (h *Heap[K]) All() iter.Seq2[int, K] {
	return func(yield func(int, K) bool) {
		for i := range h.nodes {
			if n := &h.nodes[i]; !yield(int(n.id), n.key) {
				return
			}
		}
	}
}

// Within appends to buf every id whose key does not go after k, in no useful order, and returns the first key that
// does, if there is one. It costs time in proportion to what it finds.
func (h *Heap[K]) Within(k K, buf []int) (ids []int, next K, more bool) {
	first := len(buf)
	buf = append(buf, 0)
	for i := first; i < len(buf); {
		at := buf[i]
		if at < len(h.nodes) && h.nodes[at].key.Compare(k) <= 0 {
			buf = append(buf, 2*at+1, 2*at+2)
			i++
			continue
		}
		if at < len(h.nodes) && (!more || h.nodes[at].key.Compare(next) < 0) {
			next, more = h.nodes[at].key, true
		}
		buf[i] = buf[len(buf)-1]
		buf = buf[:len(buf)-1]
	}
	for i := first; i < len(buf); i++ {
		buf[i] = int(h.nodes[buf[i]].id)
	}
	return buf, next, more
}

func (h *Heap[K]) before(a, b *node[K]) bool {
	c := a.key.Compare(b.key)
	return c < 0 || c == 0 && a.id < b.id
}

// fix puts n, which belongs somewhere around index i, into its place.
func (h *Heap[K]) fix(i int, n node[K]) {
	if i > 0 && h.before(&n, &h.nodes[(i-1)/2]) {
		h.up(i, n)
		return
	}
	h.down(i, n)
}

func (h *Heap[K]) up(i int, n node[K]) {
	for i > 0 {
		p := (i - 1) / 2
		if !h.before(&n, &h.nodes[p]) {
			break
		}
		h.put(i, h.nodes[p])
		i = p
	}
	h.put(i, n)
}

func (h *Heap[K]) down(i int, n node[K]) {
	for {
		c := 2*i + 1
		if c >= len(h.nodes) {
			break
		}
		if c+1 < len(h.nodes) && h.before(&h.nodes[c+1], &h.nodes[c]) {
			c++
		}
		if !h.before(&h.nodes[c], &n) {
			break
		}
		h.put(i, h.nodes[c])
		i = c
	}
	h.put(i, n)
}

func (h *Heap[K]) put(i int, n node[K]) {
	h.nodes[i] = n
	if int(n.id) < len(h.small) {
		h.small[n.id] = int32(i) + 1
	} else {
		*h.place.Of(n.id) = int32(i) + 1
	}
}

// Rising is a number as a key of a heap, the smallest first.
type Rising[N cmp.Ordered] struct{ X N }

// Falling is a number as a key of a heap, the largest first.
type Falling[N cmp.Ordered] struct{ X N }

// Compare puts the smaller number first, that of Falling the larger.
func (a Rising[N]) Compare(b Rising[N]) int   { return cmp.Compare(a.X, b.X) }
func (a Falling[N]) Compare(b Falling[N]) int { return cmp.Compare(b.X, a.X) }
