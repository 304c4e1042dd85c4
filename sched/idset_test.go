package sched

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestIDSetAgainstMap drives the tree of bits and a map together. Sizes reach the fourth level (64^3 = 262,144 ids), and
// growing in the middle adds levels under members that are there already.
func TestIDSetAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s idSet
		twin := map[int]bool{}
		size := rapid.SampledFrom([]int{1, 63, 64, 65, 4095, 4096, 4097, 262_144, 262_145, 300_000})
		n := 0
		id := func() int { // edges of words more often than chance would have it
			i := rapid.IntRange(0, n-1).Draw(t, "id")
			if rapid.Bool().Draw(t, "edge") {
				i = min(n-1, i|63)
			}
			return i
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch what := rapid.SampledFrom([]string{"grow", "add", "add", "remove", "next", "has", "empty"}).Draw(t, "what"); {
			case n == 0 || what == "grow":
				n = max(n, size.Draw(t, "size"))
				s.grow(n)
			case what == "add":
				i := id()
				s.add(i)
				twin[i] = true
			case what == "remove":
				i := id()
				if m := lowest(twin, i); m >= 0 { // a member if there is one
					i = m
				}
				s.remove(i)
				delete(twin, i)
			case what == "has":
				if i := id(); s.has(i) != twin[i] {
					t.Fatalf("has(%d) = %v", i, s.has(i))
				}
			case what == "empty":
				s.empty()
				n = 0
				clear(twin)
			case what == "next":
				i := rapid.IntRange(0, n+64).Draw(t, "from")
				if got, want := s.next(i), lowest(twin, i); got != want {
					t.Fatalf("next(%d) = %d, want %d", i, got, want)
				}
			}
		}
		var members []int
		for i := s.next(0); i >= 0; i = s.next(i + 1) {
			members = append(members, i)
		}
		var want []int
		for m := range twin {
			want = append(want, m)
		}
		slices.Sort(want)
		if !slices.Equal(members, want) {
			t.Fatalf("members %v, want %v", members, want)
		}
	})
}

func lowest(set map[int]bool, from int) int {
	least := -1
	for m := range set {
		if m >= from && (least < 0 || m < least) {
			least = m
		}
	}
	return least
}

func TestIDSetFullAndEmptied(t *testing.T) {
	const n = 300_000
	var s idSet
	if s.next(0) != -1 {
		t.Error("a set without room has a member")
	}
	for i := range n { // one id at a time, as tables grow
		s.grow(i + 1)
		s.add(i)
	}
	for i := range n {
		if got := s.next(i); got != i {
			t.Fatalf("next(%d) = %d in a full set", i, got)
		}
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for _, i := range rng.Perm(n) {
		s.remove(i)
	}
	if got := s.next(0); got != -1 {
		t.Errorf("the emptied set has member %d", got)
	}
	for l, level := range s.levels {
		if slices.Max(level) != 0 {
			t.Errorf("level %d of the emptied set is not empty", l)
		}
	}
}
