package reproduce

import (
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/report"
)

// worstCaseSection runs the families that show Corollaries 4 and 6 to be tight.
func worstCaseSection() report.Section {
	s := report.Section{
		Title: "Corollaries 4 and 6: the worst batches",
		Text: []string{"How much longer the total response time is than that of the schedule that the paper names. No batch is worse than the limit: " +
			"2a/(1+a) under MaxSRPT, if no job's phases differ by more than a factor a; 1+1/b under SplitSRPT, if all differ by a factor b or more."},
	}
	table := report.Table{Name: "worst", Columns: []string{"policy", "a or b", "limit", "n = 100", "n = 10,000", "n = 100,000"}}
	farthest := [2]float64{}
	for _, imbalance := range []float64{1.5, 2, 4, 16} {
		limits := [2]float64{2 * imbalance / (1 + imbalance), 1 + 1/imbalance}
		for i, family := range []func(int, float64) float64{corollary4, corollary6} {
			row := []any{[]string{"maxsrpt", "splitsrpt"}[i], imbalance, limits[i]}
			ratio := 0.0
			for _, n := range []int{100, 10_000, 100_000} {
				ratio = family(n, imbalance)
				row = append(row, ratio)
			}
			table.Add(row...)
			farthest[i] = max(farthest[i], math.Abs(ratio/limits[i]-1))
		}
	}
	s.Tables = []report.Table{table}
	for i, what := range []string{"Corollary 4 is tight: 100,000 jobs, largest distance from 2a/(1+a)", "Corollary 6 is tight: 100,000 jobs, largest distance from 1+1/b"} {
		s.Claims = append(s.Claims, report.Check(farthest[i] < 1e-3, what, "→ 0", fmt.Sprintf("%.2g %%", 100*farthest[i])))
	}
	return s
}

// corollary4 is half (a-e, 1) and half (1, a): MaxSRPT serves one half and then the other, the alternative a pair at a
// time.
func corollary4(n int, a float64) float64 {
	h := n / 2
	jobs := slices.Repeat([]overlap.Demand{{Map: a * (1 - 1e-5), Shuffle: 1}}, h)
	jobs = append(jobs, slices.Repeat([]overlap.Demand{{Map: 1, Shuffle: a}}, h)...)
	var pairs []overlap.Demand
	for range h {
		pairs = append(pairs, jobs[h], jobs[0])
	}
	return totalFlow(maxSRPT, jobs) / totalFlow(fcfs, pairs)
}

// corollary6 is n-1 jobs (b, 1) and one of (n-1, (n-1)b): SplitSRPT serves the one beside the others, the alternative
// after them.
func corollary6(n int, b float64) float64 {
	jobs := slices.Repeat([]overlap.Demand{{Map: b, Shuffle: 1}}, n-1)
	jobs = append(jobs, overlap.Demand{Map: float64(n - 1), Shuffle: float64(n-1) * b})
	return totalFlow(split, jobs) / totalFlow(fcfs, jobs)
}
