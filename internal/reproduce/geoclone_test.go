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
	for _, want := range []string{"figure4", "figure6-facebook", "figure6-hpc", "figure7-light", "figure8", "figure9", "figure10", "figure11", "figure12", "learning", "Skipped"} {
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
	if got := g.reductions(0, 1); len(got) != 1 || got[0] != 0.5 {
		t.Errorf("reductions %v, want one of 0.5", got)
	}
	g.cells[0][0].Failed, g.cells[0][0].Succeeded = 1, 3
	if got := g.failed(0); got != 25 {
		t.Errorf("failed %v %%, want 25", got)
	}
}
