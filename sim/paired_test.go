package sim

import (
	"math"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// TestPaired: jobs that failed on either side are in no mean, whichever run was done first.
func TestPaired(t *testing.T) {
	job := func(flow int, failed bool) JobResult {
		return JobResult{Arrival: 5 * sched.Second, Completion: sched.Time(5+flow) * sched.Second, Failed: failed}
	}
	first := []JobResult{job(10, false), job(20, false), job(1, true), job(40, false)}
	other := []JobResult{job(6, false), job(2, true), job(30, false), job(24, false)}
	none := []JobResult{job(1, true), job(1, true), job(1, false), job(1, true)}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		x := Comparison{Cells: []Cell{{Policy: 0}, {Policy: 1}, {Policy: 2}}, Runs: 1}
		p := newPairing(3, 0, 1)
		for _, i := range order {
			p.add(&x.Cells[i], [][]JobResult{first, other, none}[i])
		}
		if got := x.Versus(1); got.Jobs != 2 || got.First != 25 || got.Difference.Mean != -10 {
			t.Errorf("order %v: %+v, want 10 s less than 25 s over 2 jobs", order, got)
		}
		if got := x.Versus(2); got.Jobs != 0 || !math.IsNaN(got.Difference.Mean) {
			t.Errorf("order %v, no job in common: %+v", order, got)
		}
		if p.runs[0].first != nil || p.runs[0].waiting != nil {
			t.Errorf("order %v: flow times are kept that nobody needs", order)
		}
	}
}

// TestVersusIsDifference: where no job failed, it is the difference of the mean flow times, to the bit.
func TestVersusIsDifference(t *testing.T) {
	e := experiment(t)
	x, err := e.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v, d := x.Versus(1), x.Difference(1, 0, MeanFlow)
	if v.Difference != d || v.First != x.Mean(0, MeanFlow).Mean || v.Jobs != float64(len(e.Workload.Jobs)) {
		t.Errorf("%+v, want %+v of %v", v, d, x.Mean(0, MeanFlow))
	}
}
