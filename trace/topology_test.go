package trace

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestTopological: an order has everything once and behind what it needs, and where there is none the thing that is named is on a circle.
func TestTopological(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 8).Draw(t, "n")
		needs := make([][]uint32, n)
		for i := range needs {
			needs[i] = rapid.SliceOfN(rapid.Uint32Range(0, uint32(n-1)), 0, 2).Draw(t, "needs")
		}
		order, circle := topological(n, func(i int) []uint32 { return needs[i] })
		if order == nil {
			if circle < 0 || circle >= n || !reaches(needs, circle, circle) {
				t.Fatalf("thing %d of %v is on no circle", circle, needs)
			}
			return
		}
		placed := map[uint32]bool{}
		for _, i := range order {
			if slices.ContainsFunc(needs[i], func(k uint32) bool { return !placed[k] }) || placed[i] {
				t.Fatalf("order %v of %v", order, needs)
			}
			placed[i] = true
		}
		if len(placed) != n {
			t.Fatalf("order %v leaves out some of %d", order, n)
		}
	})
}

// reaches reports whether a walk of at least one step along needs leads from one thing to another.
func reaches(needs [][]uint32, from, to int) bool {
	seen := map[uint32]bool{}
	next := slices.Clone(needs[from])
	for len(next) > 0 {
		i := next[0]
		next = next[1:]
		if int(i) == to {
			return true
		}
		if !seen[i] {
			seen[i] = true
			next = append(next, needs[i]...)
		}
	}
	return false
}
