package reproduce

import (
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/report"
)

// Theorems 1 and 2: how hard the problem is, without and with knowledge of what arrives.

// hardSection runs Theorem 1's reduction on two instances of numerical matching with target sums, one with a matching
// and one without, and the makespan rule of Section 3.1.
func hardSection() report.Section {
	s := report.Section{
		Title: "Theorem 1: the reduction, and the rule for the makespan",
		Text: []string{
			"A numerical matching asks for permutations with f + g = h for every h. The proof makes jobs of its numbers, and a total response time Y that some " +
				"schedule stays within if and only if there is a matching. Here are the best of all orders of six of its jobs before the two long ones, both " +
				"stations in the same order.",
			"The makespan of a batch is least, the paper says, if jobs with y ≥ x go before the others at both stations.",
		},
	}
	table := report.Table{Name: "theorem1", Columns: []string{"f", "g", "h", "matching", "Y", "best order", "above Y"}}
	ok, measured := true, ""
	for _, c := range []struct {
		f, g, h  [2]float64
		matching bool
	}{
		{[2]float64{1, 3}, [2]float64{13, 18}, [2]float64{16, 19}, true},
		{[2]float64{1, 3}, [2]float64{13, 18}, [2]float64{15, 20}, false},
	} {
		jobs, y := theorem1(c.f, c.g, c.h)
		best := bestOrder(jobs, 6)
		above := math.Round(best - y)
		table.Add(fmt.Sprint(c.f), fmt.Sprint(c.g), fmt.Sprint(c.h), c.matching, y, best, above)
		ok = ok && (above == 0) == c.matching && above >= 0
		measured += fmt.Sprintf("; %+.0f", above)
	}
	rule, tried := makespanRule()
	s.Tables = []report.Table{table}
	s.Claims = []report.Claim{
		report.Check(ok, "Theorem 1: the best order reaches Y with a matching, and exceeds it without", "0; above 0", measured[2:]),
		report.Check(rule == tried, "Section 3.1: jobs with y ≥ x first has the least makespan of all orders, in random batches of five jobs", "all",
			fmt.Sprintf("%d of %d", rule, tried)),
	}
	return s
}

// theorem1 makes the jobs of the proof, the two long ones last, and Y.
func theorem1(f, g, h [2]float64) (jobs []overlap.Demand, y float64) {
	const q = 2
	sumF, sumG := f[0]+f[1], g[0]+g[1]
	a := 2 * (sumG + 2*sumF) * sumG
	m := 9 * q * a
	for i := range q {
		jobs = append(jobs, overlap.Demand{Map: a, Shuffle: a + f[i]}, overlap.Demand{Map: a, Shuffle: a + g[i]}, overlap.Demand{Map: a, Shuffle: a - h[i]})
	}
	jobs = append(jobs, overlap.Demand{Map: a, Shuffle: a + m}, overlap.Demand{Map: a, Shuffle: a + m})
	return jobs, (9.0*q*q/2+3.0*q/2)*a + 2*sumF + sumG + 6*q*a + 3*m + 3*a
}

// bestOrder is the least total response time of a batch in all orders of its first n jobs, both stations alike.
func bestOrder(jobs []overlap.Demand, n int) float64 {
	best := math.Inf(1)
	orders(slices.Clone(jobs), n, func(jobs []overlap.Demand) { best = min(best, totalFlow(fcfs, jobs)) })
	return best
}

// orders calls f with every order of the first n jobs, and the others behind.
func orders(jobs []overlap.Demand, n int, f func([]overlap.Demand)) {
	if n <= 1 {
		f(jobs)
		return
	}
	for i := range n {
		jobs[i], jobs[n-1] = jobs[n-1], jobs[i]
		orders(jobs, n-1, f)
		jobs[i], jobs[n-1] = jobs[n-1], jobs[i]
	}
}

// makespanRule compares the rule with all orders of random batches.
func makespanRule() (best, tried int) {
	for seed := range uint64(100) {
		jobs := batch(5, seed)
		rule := slices.Clone(jobs)
		slices.SortStableFunc(rule, func(a, b overlap.Demand) int { return side(a) - side(b) })
		least := math.Inf(1)
		orders(slices.Clone(jobs), len(jobs), func(jobs []overlap.Demand) { least = min(least, slices.Max(fluidRun(fcfs, jobs))) })
		if slices.Max(fluidRun(fcfs, rule)) <= least*(1+1e-9) {
			best++
		}
		tried++
	}
	return best, tried
}

// side is 0 for jobs with y >= x and 1 for others.
func side(j overlap.Demand) int {
	if j.Shuffle >= j.Map {
		return 0
	}
	return 1
}

// batch is jobs of Section 5.3's sizes that arrive at 0.
func batch(n int64, seed uint64) []overlap.Demand {
	jobs := slices.Collect(overlap.Synthetic(n, 1, seed))
	for i := range jobs {
		jobs[i].Arrival = 0
	}
	return jobs
}
