package sched

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestTableAgainstMap drives a table and a map together. Ids ascend with gaps, and now and then an old one has its turn.
func TestTableAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := Table[TaskID, int]{blank: -1}
		twin := map[TaskID]int{}
		newest := TaskID(rapid.SampledFrom([]uint32{0, 255, 1 << 31, 1<<32 - 100_000}).Draw(t, "first"))
		id := func() TaskID {
			back := rapid.SampledFrom([]int{0, 1, 10, 300, 30_000}).Draw(t, "back")
			return newest - min(newest, TaskID(rapid.IntRange(0, back).Draw(t, "by")))
		}
		for step := range rapid.IntRange(1, 200).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"new", "new", "fill", "at", "drop", "drop all", "get", "clear"}).Draw(t, "what") {
			case "new":
				newest += min(TaskID(rapid.SampledFrom([]int{1, 1, 70, 256, 20_000}).Draw(t, "gap")), 1<<32-1-newest)
				*table.At(newest) = step
				twin[newest] = step
			case "fill":
				n := min(TaskID(rapid.SampledFrom([]int{0, 1, 100, 256, 1000}).Draw(t, "rows")), 1<<32-1-newest)
				table.Fill(newest+1, uint32(n), step)
				for range n {
					newest++
					twin[newest] = step
				}
			case "at":
				i := id()
				if x := *table.At(i); x != twin[i] { // a row that is new is zero, and so is what a map has not
					t.Fatalf("At(%d) is %d, want %d", i, x, twin[i])
				}
				*table.Of(i) = step
				twin[i] = step
			case "drop":
				i := id()
				table.Drop(i)
				delete(twin, i)
			case "drop all":
				first := id()
				n := min(TaskID(rapid.IntRange(0, 1000).Draw(t, "n")), 1<<32-1-first)
				table.DropAll(first, uint32(n))
				for i := range n {
					delete(twin, first+i)
				}
			case "get":
				i := id()
				want, has := twin[i]
				if !has {
					want = -1
				}
				if table.Has(i) != has || table.Get(i) != want {
					t.Fatalf("Get(%d) is %d, want %d", i, table.Get(i), want)
				}
			case "clear":
				if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
					table.Clear()
					clear(twin)
				}
			}
		}
		pages := map[TaskID]bool{}
		for i := range twin {
			pages[i>>pageBits] = true
		}
		got, last := map[TaskID]int{}, TaskID(0)
		for i, x := range table.All() {
			if i < last {
				t.Fatalf("%d comes after %d", i, last)
			}
			got[i], last = *x, i
		}
		if diff := cmp.Diff(twin, got); diff != "" || table.Len() != len(twin) || table.Pages() != len(pages) {
			t.Fatalf("%d rows in %d pages, want %d in %d: %s", table.Len(), table.Pages(), len(twin), len(pages), diff)
		}
	})
}

// However many ids there were, a table has the memory of those that there are at a time, and so has a set of them. One
// that stays for ever costs its page, and the directory until there.
func TestTablesForget(t *testing.T) {
	var table Table[TaskID, int]
	var set idSet
	const n, alive = 5_000_000, 1000
	for i := range TaskID(n) {
		*table.At(i) = 1
		set.grow(int(i) + 1)
		set.add(int(i))
		if i >= alive {
			table.Drop(i - alive)
			set.remove(int(i) - alive)
		}
	}
	const most = alive/pageRows + 2
	if table.Pages() > most || len(table.spare) > most || cap(table.pages) > 2000 {
		t.Errorf("%d pages are in use, %d are spare, and the directory has room for %d", table.Pages(), len(table.spare), cap(table.pages))
	}
	chunks := len(set.spare)
	for _, c := range set.chunks {
		if c != nil {
			chunks++
		}
	}
	if chunks > 4 {
		t.Errorf("a set has %d chunks for %d members", chunks, alive)
	}
	if got := set.next(0); got != n-alive {
		t.Errorf("the first member is %d, want %d", got, n-alive)
	}
}
