package policy

import "cmp"

// key is what a heap sorts by: compare is negative where it goes before o.
type key[K any] interface{ compare(o K) int }

// heap is a binary heap of small integers (jobs, stages, rows), each with a key and at most once. Unlike container/heap
// it knows where an id is, so a key can change, and it allocates only to grow. Equal keys are ordered by id: the order
// is total.
type heap[K key[K]] struct {
	nodes []node[K]
	place []int32 // by id: its index in nodes plus 1, 0 if it is not there
}

type node[K any] struct {
	key K
	id  int32
}

func (h *heap[K]) len() int { return len(h.nodes) }

func (h *heap[K]) has(id int) bool { return id < len(h.place) && h.place[id] > 0 }

// top returns the first id; there must be one.
func (h *heap[K]) top() int { return int(h.nodes[0].id) }

// topKey returns the key of the first id; there must be one.
func (h *heap[K]) topKey() K { return h.nodes[0].key }

// key returns the key of an id, which must be there.
func (h *heap[K]) key(id int) K { return h.nodes[h.place[id]-1].key }

// set puts an id in, or changes its key.
func (h *heap[K]) set(id int, k K) {
	for id >= len(h.place) {
		h.place = append(h.place, 0)
	}
	n := node[K]{k, int32(id)}
	if h.place[id] == 0 {
		h.nodes = append(h.nodes, n)
		h.up(len(h.nodes)-1, n)
		return
	}
	h.fix(int(h.place[id])-1, n)
}

// drop takes an id out if it is there.
func (h *heap[K]) drop(id int) {
	if !h.has(id) {
		return
	}
	i, last := int(h.place[id])-1, len(h.nodes)-1
	moved := h.nodes[last]
	h.nodes = h.nodes[:last]
	h.place[id] = 0
	if i < last {
		h.fix(i, moved)
	}
}

// clear takes everything out and keeps the memory.
func (h *heap[K]) clear() {
	for i := range h.nodes {
		h.place[h.nodes[i].id] = 0
	}
	h.nodes = h.nodes[:0]
}

// within appends to buf every id whose key does not go after k, in no useful order, and returns the first key that
// does, if there is one. It costs time in proportion to what it finds.
func (h *heap[K]) within(k K, buf []int) (ids []int, next K, more bool) {
	first := len(buf)
	buf = append(buf, 0)
	for i := first; i < len(buf); {
		at := buf[i]
		if at < len(h.nodes) && h.nodes[at].key.compare(k) <= 0 {
			buf = append(buf, 2*at+1, 2*at+2)
			i++
			continue
		}
		if at < len(h.nodes) && (!more || h.nodes[at].key.compare(next) < 0) {
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

func (h *heap[K]) before(a, b *node[K]) bool {
	c := a.key.compare(b.key)
	return c < 0 || c == 0 && a.id < b.id
}

// fix puts n, which belongs somewhere around index i, into its place.
func (h *heap[K]) fix(i int, n node[K]) {
	if i > 0 && h.before(&n, &h.nodes[(i-1)/2]) {
		h.up(i, n)
		return
	}
	h.down(i, n)
}

func (h *heap[K]) up(i int, n node[K]) {
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

func (h *heap[K]) down(i int, n node[K]) {
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

func (h *heap[K]) put(i int, n node[K]) {
	h.nodes[i] = n
	h.place[n.id] = int32(i) + 1
}

// rising and falling are numbers as keys, the smallest or the largest first.
type (
	rising[N cmp.Ordered]  struct{ x N }
	falling[N cmp.Ordered] struct{ x N }
)

func (a rising[N]) compare(b rising[N]) int   { return cmp.Compare(a.x, b.x) }
func (a falling[N]) compare(b falling[N]) int { return cmp.Compare(b.x, a.x) }
