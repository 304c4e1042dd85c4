package sched

import (
	"cmp"
	"slices"
)

// sorter puts facts into canonical order, in place and stably. It allocates nothing once its tables have grown to the
// longest batch.
//
// Batches are short and nearly always in order already, so short ones are sorted by insertion. A long one, as when a
// whole cluster reports in one instant, must not cost the square of its length. Its facts differ in kind and one id:
// small integers that are sorted instead of events.
type sorter struct {
	keys  []uint64 // kind, id and index, from the highest bit
	facts []Event  // before they were sorted
}

const (
	indexBits = 28
	kindShift = 32 + indexBits
)

func (s *sorter) sort(facts []Event) {
	if len(facts) <= 32 {
		insert(facts)
		return
	}
	if inOrder(facts) {
		return
	}
	if last := &facts[len(facts)-1]; facts[0].At == last.At && len(facts) < 1<<indexBits {
		s.sortByID(facts)
		if inOrder(facts) {
			return
		}
	}
	slices.SortStableFunc(facts, func(a, b Event) int { return a.compare(&b) })
}

// sortByID sorts by kind and the id that is not 0. Facts whose order is the same keep theirs, so that a stable sort can
// follow where this was not enough: where there are several instants, ids or reports of one attempt.
func (s *sorter) sortByID(facts []Event) {
	s.keys, s.facts = s.keys[:0], append(s.facts[:0], facts...)
	for i := range facts {
		f := &facts[i]
		id := cmp.Or(uint32(f.Attempt.row()), uint32(f.Job), uint32(f.Machine))
		s.keys = append(s.keys, uint64(f.Kind)<<kindShift|uint64(id)<<indexBits|uint64(i))
	}
	slices.Sort(s.keys)
	for i, k := range s.keys {
		facts[i] = s.facts[k&(1<<indexBits-1)]
	}
}

func inOrder(facts []Event) bool {
	return slices.IsSortedFunc(facts, func(a, b Event) int { return a.compare(&b) })
}

// insert sorts by insertion.
func insert(facts []Event) {
	for i := 1; i < len(facts); i++ {
		for j := i; j > 0 && facts[j].compare(&facts[j-1]) < 0; j-- {
			facts[j], facts[j-1] = facts[j-1], facts[j]
		}
	}
}
