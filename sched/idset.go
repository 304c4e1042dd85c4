package sched

import "math/bits"

// idSet is a set of small integers that yields its members in order: a bit per id, and above each 64 words a
// word that tells which of them are not empty. Add, remove and next cost one step per level, three for 200,000 ids, so
// "the lowest free machine" and "the next waiting task" are answered in nanoseconds however large the cluster.
type idSet struct {
	levels [][]uint64 // levels[0] has a bit per id, levels[k+1] a bit per word of levels[k]
	n      int        // ids are 0..n-1
}

// grow makes room for ids 0..n-1. New ids are not members.
func (s *idSet) grow(n int) {
	if n <= s.n {
		return
	}
	s.n = n
	for l, size := 0, n; ; l++ {
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
func (s *idSet) empty() { s.levels, s.n = s.levels[:0], 0 }

func (s *idSet) has(i int) bool { return s.levels[0][i>>6]&(1<<(i&63)) != 0 }

func (s *idSet) add(i int) {
	for l := range s.levels {
		w := &s.levels[l][i>>6]
		old := *w
		*w |= 1 << (i & 63)
		if old != 0 {
			return // the levels above know already
		}
		i >>= 6
	}
}

func (s *idSet) remove(i int) {
	for l := range s.levels {
		w := &s.levels[l][i>>6]
		*w &^= 1 << (i & 63)
		if *w != 0 {
			return
		}
		i >>= 6
	}
}

// next returns the smallest member that is at least i, or -1.
func (s *idSet) next(i int) int {
	if i >= s.n {
		return -1
	}
	for l := 0; l < len(s.levels); l++ {
		if i>>6 >= len(s.levels[l]) {
			return -1
		}
		if w := s.levels[l][i>>6] >> (i & 63); w != 0 {
			i += bits.TrailingZeros64(w)
			for ; l > 0; l-- {
				i = i<<6 + bits.TrailingZeros64(s.levels[l-1][i])
			}
			return i
		}
		i = i>>6 + 1
	}
	return -1
}
