package reproduce

import (
	"fmt"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/report"
)

// FillSRPT, which is not the paper's, on the instances by which Theorem 2 defeats every online policy.

var fillSRPT = overlap.Discipline{Kind: overlap.FillSRPT}

// leastWorse is what the larger of a policy's two ratios to the given lower bounds is at least, if it does not know
// which of the two adversaries it serves. All that they have in common is the time up to k^2, and all that counts of it
// is f, the map work of type 2 that is done by then: at most k^2-f of type 1 is, too. Jobs are counted by the work that
// is left, in the largest jobs that can have it.
func leastWorse(k int, bounds [2]float64) float64 {
	n := float64(k)
	low, high := 0.0, n*n
	ratios := func(f float64) [2]float64 {
		large := n*n - f // map work of type 2 that is left, in jobs of k
		start := (n*n+n)*n*n - large*large/2 - large*f - f*f/(2*n)
		// from k^2 on, while a job of 1 comes every second; then they are served to their end
		first := n*n*n*(large/n+f+0.5) + large/n*(f+1) + (f+1)*(f+1)/2 + large*large/(2*n)
		// type 1 left half of the shuffle station idle, which is late from 2k^2 on
		late := max(0, n*n/2-f)
		second := large/n*f + f*f/2 + large*large/(2*n)
		second += 1.5 * n * n * n * n * (1 + late/(1.5*n))
		second += (late + 1.5*n) * (late + 1.5*n) / (3 * n)
		return [2]float64{(start + first) / bounds[0], (start + second) / bounds[1]}
	}
	for range 60 {
		f := (low + high) / 2
		if r := ratios(f); r[0] < r[1] {
			low = f
		} else {
			high = f
		}
	}
	return min(ratios(low)[1], ratios(high)[0])
}

func adversarySection() report.Section {
	policies := []overlap.Discipline{maxSRPT, split, fillSRPT}
	table := report.Table{Name: "theorem2", Caption: "Total response time over the lower bound, for both adversaries", Columns: []string{
		"k", "MaxSRPT, first", "second", "SplitSRPT, first", "second", "FillSRPT, first", "second", "worse of the two, least possible",
	}}
	s := report.Section{
		Title: "Theorem 2: no online policy is safe, FillSRPT nearly as safe as one can be",
		Text: []string{
			"At 0 arrive k² jobs (1, 1/2) and k jobs (k, 3k/2). Who maps the small ones first, as MaxSRPT does, leaves the shuffle station half idle, " +
				"and regrets it when jobs (k, 3k/2) follow: the second adversary. Who maps the large ones too, as SplitSRPT does, has small jobs left, and " +
				"regrets it when jobs (1, 1/2) follow: the first. FillSRPT maps as many large ones as keep the shuffle station half as idle.",
			"The last column is proven: up to k² both are the same, and by the map work that was done by then a policy has a ratio of at least so much " +
				"on one of them. No online policy stays below 2 on both for k = 16 and 32.",
		},
	}
	better, worst := true, 0.0
	for _, k := range []int{4, 8, 16, 32} {
		var jobs [len(theorem2Streams)][]overlap.Demand
		var bounds [2]float64
		for i := range jobs {
			jobs[i] = theorem2Jobs(k, i)
			bounds[i] = lowerBound(jobs[i]) * float64(len(jobs[i]))
		}
		row := []any{k}
		var worse [3]float64
		for p, policy := range policies {
			for i := range jobs {
				ratio := totalFlow(policy, jobs[i]) / bounds[i]
				row = append(row, ratio)
				worse[p] = max(worse[p], ratio)
			}
		}
		least := leastWorse(k, bounds)
		table.Add(append(row, least)...)
		better = better && worse[2] < min(worse[0], worse[1])
		worst = max(worst, worse[2]/least)
	}
	s.Tables = []report.Table{table}
	s.Claims = []report.Claim{
		report.Check(better, "FillSRPT's larger ratio of the two is below MaxSRPT's and SplitSRPT's for every k", "", "in the table"),
		report.Check(worst < 1.2, "FillSRPT's larger ratio over the least that any online policy can have, at most", "", fmt.Sprintf("%.3f", worst)),
	}
	return s
}
