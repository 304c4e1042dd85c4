package policy

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
)

// TestHeapTwin compares the indexed heap with a sorted map.
func TestHeapTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h heap[rising[int]]
		twin := map[int]int{}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			id := rapid.IntRange(0, 15).Draw(t, "id")
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0, 1, 2:
				h.drop(id)
				delete(twin, id)
			case 3:
				h.clear()
				clear(twin)
			default:
				x := rapid.IntRange(0, 6).Draw(t, "key")
				h.set(id, rising[int]{x})
				twin[id] = x
			}
			compareHeap(t, &h, twin, rapid.IntRange(-1, 7).Draw(t, "bound"))
		}
	})
}

func compareHeap(t *rapid.T, h *heap[rising[int]], twin map[int]int, bound int) {
	var want, within []int
	for id := range twin {
		want = append(want, id)
	}
	slices.SortFunc(want, func(a, b int) int { return cmp.Or(cmp.Compare(twin[a], twin[b]), cmp.Compare(a, b)) })
	if h.len() != len(want) || len(want) > 0 && (h.top() != want[0] || h.topKey().x != twin[want[0]]) {
		t.Fatalf("heap %+v, want %v", h.nodes, want)
	}
	for id := range 16 {
		if _, ok := twin[id]; h.has(id) != ok {
			t.Fatalf("has(%d) = %v", id, !ok)
		}
	}
	cut, _ := slices.BinarySearchFunc(want, bound, func(id, b int) int { return cmp.Or(cmp.Compare(twin[id], b), -1) })
	within, next, more := h.within(rising[int]{bound}, nil)
	slices.Sort(within)
	first := slices.Sorted(slices.Values(want[:cut]))
	if !slices.Equal(within, first) || more != (cut < len(want)) || more && next.x != twin[want[cut]] {
		t.Fatalf("within %d: %v next %v %v, want %v of %v", bound, within, next, more, first, twin)
	}
}

// TestMedianTwin compares the running median with sorted[floor(n/2)], from whichever value on it is asked for, in memory that had another use before.
func TestMedianTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var mem arena[sched.Time]
		var m median
		for range 3 {
			durations := rapid.SliceOfN(rapid.Int64Range(0, 20), 1, 60).Draw(t, "durations")
			asked := rapid.IntRange(1, len(durations)).Draw(t, "asked from")
			m.reset(len(durations), &mem)
			var all []sched.Time
			for _, x := range durations {
				m.add(sched.Time(x))
				all = append(all, sched.Time(x))
				slices.Sort(all)
				if m.len() != len(all) || len(all) >= asked && m.value() != all[len(all)/2] {
					t.Fatalf("median of %v is %v", all, m.value())
				}
			}
		}
	})
}

// TestPercentileTwin compares the changing percentile with sorted[floor(p n)].
func TestPercentileTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := percentile{p: rapid.SampledFrom([]float64{0, 0.25, 0.5, 0.9, 1}).Draw(t, "p")}
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
				n := q.add(x)
				if _, taken := twin[n]; taken {
					t.Fatalf("number %d given out twice", n)
				}
				twin[n] = x
				numbers = append(numbers, n)
			case what == 2:
				q.set(numbers[i], x)
				twin[numbers[i]] = x
			default:
				q.release(numbers[i])
				delete(twin, numbers[i])
				numbers = slices.Delete(numbers, i, i+1)
			}
			var all []float64
			for _, x := range twin {
				all = append(all, x)
			}
			slices.Sort(all)
			at := int(q.p * float64(len(all)))
			got, ok := q.value()
			if ok != (at < len(all)) || ok && got != all[at] {
				t.Fatalf("percentile %g of %v is %v, %v", q.p, all, got, ok)
			}
		}
	})
}
