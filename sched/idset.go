package sched

import "math/bits"

// idSet is a set of small integers that yields its members in order: a bit per id, and above each 64 words a
// word that tells which of them are not empty. Add, remove and next cost one step per level, three for 200,000 ids, so
// "the lowest free machine" and "the next waiting task" are answered in nanoseconds however large the cluster.
//
// Where no id is a member there are no bits either: a chunk of 4096 of them that has become empty is used elsewhere. So
// ids may ascend for ever. What stays of those that are gone is 4 bytes for a thousand.
type idSet struct {
	chunks []*chunk   // a bit per id; nil where there is no member
	levels [][]uint64 // levels[0] has a bit per word of the chunks, levels[k+1] a bit per word of levels[k]
	n      int        // ids are 0..n-1
	spare  []*chunk
	stays  bool // its ids do not retire, so chunks stay where they are
	idle   int  // a chunk that stays although it may be empty: often the next member comes where the last one went
}

// chunk is the bits below one word of levels[0].
type chunk [64]uint64

const (
	chunkBits = 12
	chunkMask = 1<<chunkBits - 1
)

// grow makes room for ids 0..n-1. New ids are not members.
func (s *idSet) grow(n int) {
	if n <= s.n {
		return
	}
	s.n = n
	for len(s.chunks)<<chunkBits < n {
		s.chunks = append(s.chunks, nil)
	}
	for l, size := 0, len(s.chunks)*64; ; l++ {
		words := (size + 63) / 64
		if l == len(s.levels) {
			if l < cap(s.levels) { // a level of an emptied set, or none yet
				s.levels = s.levels[:l+1]
				s.levels[l] = s.levels[l][:0]
			} else {
				s.levels = append(s.levels, nil)
			}
			if l > 0 { // a new top level summarises what is below it
				s.levels[l] = append(s.levels[l], 0)
				for i, w := range s.levels[l-1] {
					if w != 0 {
						s.levels[l][0] |= 1 << i
					}
				}
			}
		}
		for len(s.levels[l]) < words {
			s.levels[l] = append(s.levels[l], 0)
		}
		if words <= 1 {
			return
		}
		size = words
	}
}

// empty takes all ids out of the set, which keeps its memory.
func (s *idSet) empty() {
	for _, c := range s.chunks {
		if c != nil {
			*c = chunk{}
			s.spare = append(s.spare, c)
		}
	}
	s.chunks, s.levels, s.n, s.idle = s.chunks[:0], s.levels[:0], 0, 0
}

func (s *idSet) has(i int) bool {
	c := s.chunks[i>>chunkBits]
	return c != nil && c[i&chunkMask>>6]&(1<<(i&63)) != 0
}

func (s *idSet) add(i int) {
	c := s.chunks[i>>chunkBits]
	if c == nil {
		c = s.open(i >> chunkBits)
	}
	w := &c[i&chunkMask>>6]
	old := *w
	*w |= 1 << (i & 63)
	for l := 0; old == 0 && l < len(s.levels); l++ { // else the levels above know already
		i >>= 6
		w = &s.levels[l][i>>6]
		old = *w
		*w |= 1 << (i & 63)
	}
}

// open gives ids a chunk.
func (s *idSet) open(k int) *chunk {
	if n := len(s.spare); n > 0 {
		s.chunks[k] = s.spare[n-1]
		s.spare = s.spare[:n-1]
	} else {
		s.chunks[k] = new(chunk)
	}
	return s.chunks[k]
}

func (s *idSet) remove(i int) {
	c := s.chunks[i>>chunkBits]
	if c == nil {
		return
	}
	w := &c[i&chunkMask>>6]
	if *w &^= 1 << (i & 63); *w != 0 {
		return
	}
	k := i >> chunkBits
	for l := 0; l < len(s.levels); l++ {
		i >>= 6
		w = &s.levels[l][i>>6]
		if *w &^= 1 << (i & 63); *w != 0 {
			return
		}
		if l == 0 && k != s.idle && !s.stays {
			s.rest(k)
		}
	}
}

// rest makes an empty chunk the idle one. The one that was is used elsewhere if it is empty.
func (s *idSet) rest(k int) {
	if c := s.chunks[s.idle]; c != nil && s.levels[0][s.idle] == 0 {
		s.chunks[s.idle] = nil
		s.spare = append(s.spare, c)
	}
	s.idle = k
}

// next returns the smallest member that is at least i, or -1.
func (s *idSet) next(i int) int {
	if i >= s.n {
		return -1
	}
	if c := s.chunks[i>>chunkBits]; c != nil {
		if w := c[i&chunkMask>>6] >> (i & 63); w != 0 {
			return i + bits.TrailingZeros64(w)
		}
	}
	i = i>>6 + 1
	for l := 0; l < len(s.levels); l++ {
		if i>>6 >= len(s.levels[l]) {
			return -1
		}
		if w := s.levels[l][i>>6] >> (i & 63); w != 0 {
			i += bits.TrailingZeros64(w)
			for ; l > 0; l-- {
				i = i<<6 + bits.TrailingZeros64(s.levels[l-1][i])
			}
			return i<<6 + bits.TrailingZeros64(s.chunks[i>>6][i&63])
		}
		i = i>>6 + 1
	}
	return -1
}
