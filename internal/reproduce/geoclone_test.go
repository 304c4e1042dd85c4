package reproduce

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"
)

// The whole experiment on few jobs: every figure is there and can be drawn, and the same seed gives the same bytes.
func TestGeoclonePage(t *testing.T) {
	scale := geoScale{
		runs: 2, windows: [2]float64{60, 60}, lambdas: [2][]float64{{0.05, 0.1, 0.15}, {0.05, 0.1}}, window: 60, skews: []float64{0, 1}, size: 4, sites: []int{5, 10},
		busy: 60, loads: []float64{0.1}, epsilons: []float64{0.5, 0.9}, testbed: 1, clouds: 1,
	}
	var pages [2]bytes.Buffer
	for i := range pages {
		page, err := scale.run(context.Background(), Options{Seed: 1, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		checkKnown(t, geoKnown, page.Sections)
		checkKnown(t, geoQuickKnown, page.Sections)
		if len(page.Known) != len(geoKnown) {
			t.Errorf("known: %v; what fails in quick runs only is no excuse for others", page.Known)
		}
		if err := page.WriteHTML(&pages[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(pages[0].Bytes(), pages[1].Bytes()) {
		t.Error("two runs with one seed differ")
	}
	for _, want := range []string{
		"figure4", "figure5a", "figure5b", "figure6-facebook", "figure6-hpc", "figure7-light", "figure8-slots", "figure9", "figure10", "figure11", "figure12", "figure13", "learning", "Skipped",
	} {
		if !strings.Contains(pages[0].String(), want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

// TestGeoFailed: jobs that failed under either policy are in no reduction.
func TestGeoFailed(t *testing.T) {
	nan := math.NaN()
	g := geoRun{runs: 1, cells: [][]geoCell{{{flows: []float64{10, nan, 10}}}, {{flows: []float64{20, 500, nan}}}}}
	if got := g.reduction(0, 1).Mean; got != 0.5 {
		t.Errorf("reduction %v, want 0.5 of the one job that both finished", got)
	}
	if got := g.ofJobs(0, 1, exceeded).Mean; got != 0.5 {
		t.Errorf("70 %% of the one job exceed %v, want 0.5", got)
	}
	if got := g.reductions(0, 1, -1); len(got) != 1 || got[0] != 0.5 {
		t.Errorf("reductions %v, want one of 0.5", got)
	}
	g.cells[0][0].Failed, g.cells[0][0].Succeeded = 1, 3
	if got := g.failed(0); got != 25 {
		t.Errorf("failed %v %%, want 25", got)
	}
}

// TestGeoParts: a part alone has the tables that it has in the whole.
func TestGeoParts(t *testing.T) {
	scale := geoScale{testbed: 2, runs: 1, window: 60, size: 4}
	page, err := scale.run(context.Background(), Options{Seed: 1, Workers: 2, Only: []string{"learning", "testbed"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Sections) != 2 || page.Sections[0].Tables[0].Name != "figure4" || page.Sections[1].Tables[0].Name != "learning" {
		t.Errorf("%d sections, want the testbed's and what learning costs", len(page.Sections))
	}
}

// TestGeoJackknife: of three runs of three jobs, the reduction that 70 % exceed is that of the worst job: (1-2/4), (1-4/4)
// and (1-3/4) in the runs, 1-9/12 of the averages.
func TestGeoJackknife(t *testing.T) {
	ours := [][]float64{{2, 1, 1}, {4, 1, 1}, {3, 1, 1}}
	g := geoRun{runs: 3, cells: make([][]geoCell, 2)}
	for _, flows := range ours {
		g.cells[0] = append(g.cells[0], geoCell{flows: flows})
		g.cells[1] = append(g.cells[1], geoCell{flows: []float64{4, 4, 4}})
	}
	e := g.ofJobs(0, 1, exceeded)
	if math.Abs(e.Mean-0.25) > 1e-12 || e.N != 3 || math.Abs(e.Half-4.3026527*0.25/math.Sqrt(3)) > 1e-6 {
		t.Errorf("%v ± %v of %d, want 0.25 with the interval of 0.5, 0, 0.25", e.Mean, e.Half, e.N)
	}
	if got := useless([]float64{-0.1, 0, 0.2, 0.3}); got != 0.5 {
		t.Errorf("%v of the jobs gain nothing, want half", got)
	}
}

// TestTestbedJobs: three shapes in turn, of the sizes that were drawn, as near as whole stages come.
func TestTestbedJobs(t *testing.T) {
	w, err := testbedWorkload(7)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Jobs) != 88 || len(w.Sites) != 11 {
		t.Fatalf("%d jobs at %d machines, want 88 at 10", len(w.Jobs), len(w.Sites)-1)
	}
	deepest := [3]int{}
	for j := range w.Jobs {
		stages := w.StagesOf(j)
		deepest[j%3] = max(deepest[j%3], len(stages))
		for _, in := range w.InputsOf(&stages[0]) {
			if x := w.SourcesOf(in); len(x) != 1 || x[0].Site < 1 || x[0].Site > 10 || x[0].Bytes != testbedBlock {
				t.Fatalf("job %d reads %v, want a block of one of the machines", j, x)
			}
		}
		for _, e := range w.EdgesOf(j) {
			if e.From >= e.To || int(e.To) >= len(stages) || len(w.BytesOf(&e)) != 1 {
				t.Fatalf("job %d of %d stages has the edge %+v", j, len(stages), e)
			}
		}
	}
	if deepest != [3]int{2, 5, 3} {
		t.Errorf("up to %v stages, want two, five and three", deepest)
	}
	if mean := float64(w.Tasks()) / 88; mean < 30 || mean > 200 {
		t.Errorf("%v tasks a job, want about 90", mean)
	}
}
