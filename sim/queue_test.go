package sim

import (
	"cmp"
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
		now := sched.Time(0) // the last instant popped
		span := rapid.OneOf(rapid.Just(sched.Time(0)), rapid.Map(rapid.IntRange(0, 9), func(n int) sched.Time { return sched.Time(n) }),
			rapid.Map(rapid.Int64Range(0, 1<<40), func(n int64) sched.Time { return sched.Time(n) }))
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				key := rapid.Uint32Range(0, keys-1).Draw(t, "key")
				if q.at[key].bucket > 0 {
					t.Skip("it is there already")
				}
				e := entry{now + span.Draw(t, "span"), uint64(rapid.Uint32().Draw(t, "upper"))<<32 | uint64(key)}
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
				now, twin = twin[0].time, twin[1:]
			},
			"": func(t *rapid.T) {
				slices.SortFunc(twin, func(a, b entry) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.key(), b.key())) })
				want := sched.Never
				if len(twin) > 0 {
					want = twin[0].time
				}
				if q.next() != want || q.empty() != (len(twin) == 0) {
					t.Fatalf("next %v, empty %v; want %v of %d", q.next(), q.empty(), want, len(twin))
				}
			},
		})
	})
}

// TestQueueSight pushes everything first: then entries come into sight once, in small groups, and before they are popped; all but the first ones of large buckets.
func TestQueueSight(t *testing.T) {
	const n = 5_000
	var q queue
	q.grow(n)
	for i := range uint32(n) {
		q.push(uint64(i), sched.Time(draw(1, forService, i, 0, 0)>>30))
	}
	seen, groups, missed := map[sched.AttemptID]bool{}, 0, 0
	for range n {
		id := sched.AttemptID(q.pop())
		for _, a := range q.ahead {
			if seen[a] {
				t.Fatalf("%d came into sight twice", a)
			}
			seen[a] = true
		}
		if len(q.ahead) > 0 {
			groups++
		}
		if len(q.ahead) > sight {
			t.Fatalf("%d in sight at once", len(q.ahead))
		}
		if !seen[id] {
			missed++
			seen[id] = true
		}
	}
	if groups > n/8 || missed > n/20 {
		t.Errorf("%d groups for %d entries, %d were never in sight", groups, n, missed)
	}
}
