package kit

// Queue is a queue that reuses its memory.
type Queue[T any] struct {
	items []T
	head  int // items before it are gone
	tidy  int // items that Tidy left
}

// Len returns how many items are in the queue.
func (q *Queue[T]) Len() int { return len(q.items) - q.head }

// Push adds an item at the end.
func (q *Queue[T]) Push(x T) {
	if len(q.items) == cap(q.items) && q.head >= len(q.items)/2 {
		q.items = q.items[:copy(q.items, q.items[q.head:])]
		q.head = 0
	}
	q.items = append(q.items, x)
}

// First returns the first item; there must be one.
func (q *Queue[T]) First() T { return q.items[q.head] }

// Pop takes the first item; there must be one.
func (q *Queue[T]) Pop() T {
	x := q.items[q.head]
	if q.head++; q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return x
}

// Tidy takes out the items of which keep says false, for queues that may wait long and whose items may lose their use
// meanwhile. It looks at them when they have become twice as many as it left, so it may be called at any time.
func (q *Queue[T]) Tidy(keep func(T) bool) {
	if q.Len() >= 2*q.tidy+64 {
		q.Keep(keep)
	}
}

// Keep takes out the items of which keep says false.
func (q *Queue[T]) Keep(keep func(T) bool) {
	kept := q.items[:0]
	for _, x := range q.items[q.head:] {
		if keep(x) {
			kept = append(kept, x)
		}
	}
	q.items, q.head, q.tidy = kept, 0, len(kept)
}
