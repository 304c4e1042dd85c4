package plan

import (
	"slices"
	"testing"
)

// The shortlist of a rounded sample has the optima of the exact grid, or policies as good.
func TestShortlistOfRounded(t *testing.T) {
	const n, lambda = 300, 0.1
	l := heavy(t, n)
	rounded := Rounded(l, 90)
	if rounded.Distinct() > 90 || rounded.Size() != l.Size() || !near(rounded.Mean(), l.Mean(), 1e-12) {
		t.Fatalf("rounded: %d distinct of %d, mean %v of %v", rounded.Distinct(), rounded.Size(), rounded.Mean(), l.Mean())
	}
	if rounded.Quantile(1) != l.Quantile(1) || rounded.Quantile(0.95) != l.Quantile(0.95) {
		t.Error("the largest values were rounded")
	}
	e := exact(t, l, n)
	want := Optimise(EvaluateAll(e.Grid(4), Policies(n, 4)), n, lambda)
	list := Shortlist(EvaluateAll(exact(t, rounded, n).Grid(4), Policies(n, 4)), n, lambda)
	if len(list) > 40 || list[0] != (Policy{}) {
		t.Fatalf("shortlist %v", list)
	}
	got := Optimise(EvaluateAll(e, slices.Values(list)), n, lambda)
	if got.LatencySensitive.Latency > want.LatencySensitive.Latency*1.005 || got.LatencySensitive.Cost > want.Baseline.Cost*(1+tie) {
		t.Errorf("latency-sensitive %+v, exact %+v", got.LatencySensitive, want.LatencySensitive)
	}
	if got.Objective > want.Objective*1.0001 {
		t.Errorf("objective %v, exact %v", got.Objective, want.Objective)
	}
	if Rounded(l, n) != l {
		t.Error("a small sample was rounded")
	}
}
