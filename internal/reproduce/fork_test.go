package reproduce

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every claim of the paper that is enforced holds, also with few simulated jobs. The real job is left out: it needs a trace.
func TestForkClaims(t *testing.T) {
	o := Options{Quick: true, Seed: 1, Workers: 2}
	steps := 0
	o.Progress = func(done, total int) { steps = total - done }
	page, err := forkPaper.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range page.Failed() {
		t.Errorf("%s: published %s, measured %s", c.What, c.Published, c.Measured)
	}
	if steps != 0 {
		t.Errorf("%d steps are left", steps)
	}
}

// A curve through two points, and a jump.
func TestQuantiles(t *testing.T) {
	if diff := cmp.Diff([]float64{1.25, 1.75, 5, 5}, quantiles(4, [][2]float64{{0, 1}, {.5, 2}, {.5, 5}, {1, 5}})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
