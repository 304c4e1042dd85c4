package kit

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
)

// heapIDs are small, in the first page of a table, and elsewhere.
var heapIDs = []int{0, 1, 2, 3, 4, 5, 254, 255, 256, 257, 511, 512, 100_000, 100_001, 200_000, 300_000}

// TestHeapTwin compares the indexed heap with a sorted map.
func TestHeapTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Heap[Rising[int]]
		twin := map[int]int{}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			id := rapid.SampledFrom(heapIDs).Draw(t, "id")
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0, 1, 2:
				h.Drop(id)
				delete(twin, id)
			case 3:
				h.Clear()
				clear(twin)
			default:
				x := rapid.IntRange(0, 6).Draw(t, "key")
				h.Set(id, Rising[int]{x})
				twin[id] = x
			}
			compareHeap(t, &h, twin, rapid.IntRange(-1, 7).Draw(t, "bound"))
		}
	})
}

func compareHeap(t *rapid.T, h *Heap[Rising[int]], twin map[int]int, bound int) {
	var want, within []int
	for id := range twin {
		want = append(want, id)
	}
	slices.SortFunc(want, func(a, b int) int { return cmp.Or(cmp.Compare(twin[a], twin[b]), cmp.Compare(a, b)) })
	if h.Len() != len(want) || len(want) > 0 && (h.Top() != want[0] || h.TopKey().X != twin[want[0]]) {
		t.Fatalf("heap %+v, want %v", h.nodes, want)
	}
	for _, id := range heapIDs {
		if _, ok := twin[id]; h.Has(id) != ok {
			t.Fatalf("has(%d) = %v", id, !ok)
		}
	}
	cut, _ := slices.BinarySearchFunc(want, bound, func(id, b int) int { return cmp.Or(cmp.Compare(twin[id], b), -1) })
	within, next, more := h.Within(Rising[int]{bound}, nil)
	slices.Sort(within)
	first := slices.Sorted(slices.Values(want[:cut]))
	if !slices.Equal(within, first) || more != (cut < len(want)) || more && next.X != twin[want[cut]] {
		t.Fatalf("within %d: %v next %v %v, want %v of %v", bound, within, next, more, first, twin)
	}
}

// TestMedianTwin compares the running median with sorted[floor(n/2)], from whichever value on it is asked for, in
// memory that had another use before.
func TestMedianTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var mem Arena[sched.Time]
		var m Median
		for range 3 {
			durations := rapid.SliceOfN(rapid.Int64Range(0, 20), 1, 60).Draw(t, "durations")
			asked := rapid.IntRange(1, len(durations)).Draw(t, "asked from")
			m.Reset(len(durations), &mem)
			var all []sched.Time
			for _, x := range durations {
				m.Add(sched.Time(x))
				all = append(all, sched.Time(x))
				slices.Sort(all)
				if m.Len() != len(all) || len(all) >= asked && m.Value() != all[len(all)/2] {
					t.Fatalf("median of %v is %v", all, m.Value())
				}
			}
		}
	})
}

// TestPercentileTwin compares the changing percentile with sorted[floor(p n)].
func TestPercentileTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := Percentile{P: rapid.SampledFrom([]float64{0, 0.25, 0.5, 0.9, 1}).Draw(t, "p")}
		twin := map[int]float64{}
		var numbers []int
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			x := float64(rapid.IntRange(0, 9).Draw(t, "x"))
			i := 0
			if len(numbers) > 0 {
				i = rapid.IntRange(0, len(numbers)-1).Draw(t, "i")
			}
			switch what := rapid.IntRange(0, 3).Draw(t, "what"); {
			case what < 2 || len(numbers) == 0:
				n := q.Add(x)
				if _, taken := twin[n]; taken {
					t.Fatalf("number %d given out twice", n)
				}
				twin[n] = x
				numbers = append(numbers, n)
			case what == 2:
				q.Set(numbers[i], x)
				twin[numbers[i]] = x
			default:
				q.Release(numbers[i])
				delete(twin, numbers[i])
				numbers = slices.Delete(numbers, i, i+1)
			}
			var all []float64
			for _, x := range twin {
				all = append(all, x)
			}
			slices.Sort(all)
			at := int(q.P * float64(len(all)))
			got, ok := q.Value()
			if ok != (at < len(all)) || ok && got != all[at] {
				t.Fatalf("percentile %g of %v is %v, %v", q.P, all, got, ok)
			}
		}
	})
}
