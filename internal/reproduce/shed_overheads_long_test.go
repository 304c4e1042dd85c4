//go:build long

package reproduce

import (
	"fmt"
	"testing"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// TestOverheads: in the settings that laxity meets least of the bound in, much of what it lacks is what launches take and the time until an attempt
// reports. With a tenth of both it has more than 0.95 of the bound.
func TestOverheads(t *testing.T) {
	x := newShedGrid(&Options{Seed: 1}, 4)
	for c := range x.cells {
		cell := &x.cells[c]
		if x.laws[cell.law].size.Mean() == 1 || cell.valued || cell.told != toldNothing || cell.load != 1.6 {
			continue
		}
		as, without := 0.0, 0.0
		for k := range x.met[c] {
			seed := repetition(x.seed, k)
			w := x.workload(cell, seed)
			least, _ := x.laws[cell.law].times(w)
			bound := mostInTime(w, shedSlots, least) * float64(len(x.met[c]))
			as += x.laxity(t, cell, w, seed, shedLaunch, reportGap) / bound
			without += x.laxity(t, cell, w, seed, shedLaunch/10, reportGap/10) / bound
		}
		t.Logf("%s: %.3f of the bound, %.3f with a tenth of the overhead", x.describe(cell), as, without)
		if without < 0.95 || without < as+0.01 {
			t.Errorf("%s: %.3f of the bound, %.3f with a tenth of the overhead", x.describe(cell), as, without)
		}
	}
}

// laxity returns the share of the deadlines that it meets.
func (x *shedGrid) laxity(t *testing.T, cell *gridCell, w *trace.Workload, seed uint64, launch, report sched.Time) float64 {
	share, err := x.play(t.Context(), cell, w, fmt.Sprintf("laxity:launch=%v", launch), seed, launch, report)
	if err != nil {
		t.Fatal(err)
	}
	return share
}
