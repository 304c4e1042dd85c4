package kit

import "math/bits"

// Arena gives out memory in pieces, so that thousands of small stages do not allocate one by one. Nothing is given
// back.
type Arena[T any] struct{ rest []T }

// arenaBlock is what an arena allocates at least at once, in values.
const arenaBlock = 1 << 13

// take returns room for at least n values, a power of two of them: who comes back for more, again and again, has
// wasted no more than he has.
func (a *Arena[T]) take(n int) []T {
	size := 1 << bits.Len(uint(max(n, 1)-1))
	if size > len(a.rest) {
		a.rest = make([]T, max(size, arenaBlock))
	}
	mem := a.rest[:size:size]
	a.rest = a.rest[size:]
	return mem
}

// Grown returns a table long enough for index i, for tables by id or by row that grow with what they meet: zero
// values are appended as needed.
func Grown[T any](table []T, i int) []T {
	for i >= len(table) {
		var zero T
		table = append(table, zero)
	}
	return table
}

// Zeroed returns n zeros in the memory of s.
func Zeroed[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	s = s[:n]
	clear(s)
	return s
}
