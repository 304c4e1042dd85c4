package sched

import (
	"iter"
	"math/bits"
)

// Table keeps a row for each of some ids. Ids ascend for ever and what they name comes and goes, so rows live in pages:
// a page without rows is used again for others, and the memory of a table is that of the most pages that had rows at
// one time, however many ids there were. A row is found in two steps, and stays where it is until it is dropped.
//
// It is what the core keeps jobs, stages and tasks in, and what policies keep what they know of these in. The zero
// value is an empty table.
type Table[I ~uint32, T any] struct {
	pages []*page[T] // of ids base<<pageBits and up; nil where no id has a row
	base  uint32
	n     int // rows
	blank T   // what is read of an id that has none
	spare []*page[T]
	made  int // pages in all
	freed int // pages, since the directory was last looked at for what it needs no more
}

// pageBits says how many rows a page has. Small pages waste less where few of their rows are in use, as when one job in
// a hundred is long; large ones need a smaller directory.
const (
	pageBits = 8
	pageRows = 1 << pageBits
	pageMask = pageRows - 1
)

type page[T any] struct {
	rows [pageRows]T
	has  [pageRows / 64]uint64 // a bit for each row that there is
	n    int32
	tidy bool // the others are blank
}

// Of returns the row of an id that has one.
func (t *Table[I, T]) Of(i I) *T {
	return &t.pages[uint32(i)>>pageBits-t.base].rows[uint32(i)&pageMask]
}

// look returns the row of an id, or the blank one, which nobody writes to.
func (t *Table[I, T]) look(i I) *T {
	if p := t.page(uint32(i)); p != nil {
		return &p.rows[uint32(i)&pageMask]
	}
	return &t.blank
}

func (t *Table[I, T]) page(i uint32) *page[T] {
	if k := i>>pageBits - t.base; int(k) < len(t.pages) {
		return t.pages[k]
	}
	return nil
}

// Get returns what is in the row of an id, the zero value if it has none.
func (t *Table[I, T]) Get(i I) T { return *t.look(i) }

// Has tells whether an id has a row.
func (t *Table[I, T]) Has(i I) bool {
	p := t.page(uint32(i))
	return p != nil && p.has[uint32(i)&pageMask>>6]&(1<<(i&63)) != 0
}

// Len returns how many rows there are, Pages how many pages they are in.
func (t *Table[I, T]) Len() int { return t.n }
func (t *Table[I, T]) Pages() int {
	n := 0
	for _, p := range t.pages {
		if p != nil {
			n++
		}
	}
	return n
}

// At returns the row of an id. If it has none it gets one, which is zero.
func (t *Table[I, T]) At(i I) *T {
	p := t.page(uint32(i))
	if p == nil {
		p = t.open(uint32(i) >> pageBits)
		p.blank(t.blank)
	}
	k := uint32(i) & pageMask
	if bit := uint64(1) << (k & 63); p.has[k>>6]&bit == 0 {
		p.has[k>>6] |= bit
		p.n++
		t.n++
		var zero T
		p.rows[k] = zero
	}
	return &p.rows[k]
}

// Fill gives n ids the same row. None of them has one yet.
func (t *Table[I, T]) Fill(first I, n uint32, row T) {
	for i := uint32(first); n > 0; {
		p := t.page(i)
		if p == nil {
			p = t.open(i >> pageBits)
		}
		k := i & pageMask
		m := min(n, pageRows-k)
		if m < pageRows {
			p.blank(t.blank)
		}
		for at := k; at < k+m; at++ {
			p.rows[at] = row
			p.has[at>>6] |= 1 << (at & 63)
		}
		p.tidy = true
		p.n += int32(m)
		t.n += int(m)
		i, n = i+m, n-m
	}
}

// blank makes the rows of a page blank that is new; those of one that was in use are.
func (p *page[T]) blank(row T) {
	if p.tidy {
		return
	}
	for k := range p.rows {
		p.rows[k] = row
	}
	p.tidy = true
}

// open gives ids a page.
func (t *Table[I, T]) open(number uint32) *page[T] {
	switch {
	case len(t.pages) == 0:
		t.base = number
	case number < t.base:
		t.pages = append(make([]*page[T], t.base-number, int(t.base-number)+len(t.pages)), t.pages...)
		t.base = number
	}
	k := int(number - t.base)
	for k >= len(t.pages) {
		t.pages = append(t.pages, nil)
	}
	if len(t.spare) == 0 {
		t.make(1 + t.made/8)
	}
	n := len(t.spare) - 1
	t.pages[k] = t.spare[n]
	t.spare = t.spare[:n]
	return t.pages[k]
}

// make makes spare pages.
func (t *Table[I, T]) make(n int) {
	t.made += n
	block := make([]page[T], n)
	for i := range block {
		t.spare = append(t.spare, &block[i])
	}
}

// Drop takes the row of an id away if it has one.
func (t *Table[I, T]) Drop(i I) {
	p := t.page(uint32(i))
	k := uint32(i) & pageMask
	bit := uint64(1) << (k & 63)
	if p == nil || p.has[k>>6]&bit == 0 {
		return
	}
	p.has[k>>6] &^= bit
	p.rows[k] = t.blank
	t.n--
	if p.n--; p.n == 0 {
		t.close(uint32(i) >> pageBits)
	}
}

// DropAll drops the rows of n ids.
func (t *Table[I, T]) DropAll(first I, n uint32) {
	for i := first; t.n > 0 && i < first+I(n); i++ {
		t.Drop(i)
	}
}

// close takes a page without rows away. Now and then that leaves the beginning of the directory without pages, and then
// it is cut off.
func (t *Table[I, T]) close(number uint32) {
	k := number - t.base
	t.spare = append(t.spare, t.pages[k])
	t.pages[k] = nil
	if t.freed++; t.freed < 64 || t.freed < len(t.pages)/2 {
		return
	}
	t.freed = 0
	first := 0
	for first < len(t.pages) && t.pages[first] == nil {
		first++
	}
	t.pages = t.pages[first:]
	t.base += uint32(first)
}

// Clear drops all rows. The memory stays for others.
func (t *Table[I, T]) Clear() {
	for _, p := range t.pages {
		if p == nil {
			continue
		}
		for i := range p.rows {
			p.rows[i] = t.blank
		}
		p.has, p.n = [pageRows / 64]uint64{}, 0
		t.spare = append(t.spare, p)
	}
	clear(t.pages)
	t.pages, t.base, t.n, t.freed = t.pages[:0], 0, 0, 0
}

// All goes through the rows in the order of ids. Rows may be dropped meanwhile.
func (t *Table[I, T]) All() iter.Seq2[I, *T] {
	return func(yield func(I, *T) bool) {
		for i, ok := t.next(0); ok; i, ok = t.next(uint64(i) + 1) {
			if !yield(i, t.Of(i)) {
				return
			}
		}
	}
}

// next returns the first id of at least from that has a row.
func (t *Table[I, T]) next(from uint64) (i I, ok bool) {
	from = max(from, uint64(t.base)<<pageBits)
	for k := from>>pageBits - uint64(t.base); k < uint64(len(t.pages)); k++ {
		p := t.pages[k]
		for w := from & pageMask >> 6; p != nil && w < uint64(len(p.has)); w++ {
			if left := p.has[w] >> (from & 63); left != 0 {
				return I(from + uint64(bits.TrailingZeros64(left))), true
			}
			from = (from>>6 + 1) << 6
		}
		from = (k + uint64(t.base) + 1) << pageBits
	}
	return 0, false
}
