package kit

// Queue is a queue that reuses its memory.
type Queue[T any] struct {
	items []T
	head  int // items before it are gone
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

// Pop takes the first item; there must be one.
func (q *Queue[T]) Pop() T {
	x := q.items[q.head]
	if q.head++; q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return x
}
