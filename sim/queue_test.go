package sim

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
)

// TestQueueAgainstSortedTwin plays random pushes, removals and pops against a slice that is sorted every time.
func TestQueueAgainstSortedTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const keys = 40
		var q queue
		q.grow(keys)
		var twin []entry
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				key := rapid.Uint32Range(0, keys-1).Draw(t, "key")
				if q.at[key] > 0 {
					t.Skip("it is there already")
				}
				e := entry{sched.Time(rapid.IntRange(0, 9).Draw(t, "time")), uint64(rapid.Uint32().Draw(t, "upper"))<<32 | uint64(key)}
				q.push(e.id, e.time)
				twin = append(twin, e)
			},
			"remove": func(t *rapid.T) {
				key := rapid.Uint32Range(0, keys-1).Draw(t, "key")
				q.remove(key)
				twin = slices.DeleteFunc(twin, func(e entry) bool { return e.key() == key })
			},
			"pop": func(t *rapid.T) {
				if len(twin) == 0 {
					t.Skip("it is empty")
				}
				if id := q.pop(); id != twin[0].id {
					t.Fatalf("popped %d, want %+v", id, twin[0])
				}
				twin = twin[1:]
			},
			"": func(t *rapid.T) {
				slices.SortFunc(twin, func(a, b entry) int {
					if a.before(b) {
						return -1
					}
					return 1
				})
				want := sched.Never
				if len(twin) > 0 {
					want = twin[0].time
				}
				if q.next() != want || q.size() != len(twin) {
					t.Fatalf("next %v of %d, want %v of %d", q.next(), q.size(), want, len(twin))
				}
				for key, i := range q.at {
					if i > 0 && q.heap[i].key() != uint32(key) {
						t.Fatalf("key %d is not at %d", key, i)
					}
				}
			},
		})
	})
}
