package reproduce

import (
	"fmt"
	"slices"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/report"
)

// Theorem 2: the adversary lets k² jobs of size (1, 1/2) and k jobs of size (k, 3k/2) arrive at 0. It looks at how much
// map work of the large jobs is done by k². If it is k²/5 or more, small jobs follow, one each second, and find the map
// station behind with small ones. Otherwise large jobs follow from 2k² on, and find the shuffle station behind.

var (
	theorem2Streams = [...]string{"small jobs follow", "large jobs follow"}
	theorem2Sizes   = [...]int{8, 16, 32, 64}
	theorem2Against = [...]overlap.Discipline{maxSRPT, split, {Kind: overlap.KLPS, K: 100}, allPS, fcfs, fillSRPT}
)

// theorem2Jobs is one of the two streams.
func theorem2Jobs(k, which int) []overlap.Demand {
	small, large := overlap.Demand{Map: 1, Shuffle: 0.5}, overlap.Demand{Map: float64(k), Shuffle: 1.5 * float64(k)}
	jobs := append(slices.Repeat([]overlap.Demand{small}, k*k), slices.Repeat([]overlap.Demand{large}, k)...)
	for i := range k*k*k + 1 {
		j := small
		j.Arrival = float64(k*k + i)
		if which == 1 {
			j = large
			j.Arrival = float64(2*k*k) + float64(i)*large.Shuffle
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// theorem2Best is the total response time of the proof's own schedule, which knows what comes: small jobs before large
// ones throughout, or the large ones before the small ones and then in order of arrival.
func theorem2Best(k, which int) float64 {
	jobs := theorem2Jobs(k, which)
	if which == 0 {
		return totalFlow(maxSRPT, jobs)
	}
	first := append(slices.Clone(jobs[k*k:k*k+k]), jobs[:k*k]...)
	copy(jobs, first)
	return totalFlow(fcfs, jobs)
}

// theorem2Choice is the stream that the adversary chooses against a policy.
func theorem2Choice(p overlap.Discipline, k int) int {
	s := overlap.New(p, func(overlap.Completion) {})
	for _, j := range theorem2Jobs(k, 0)[:k*k+k] {
		s.Arrive(j)
	}
	s.Advance(float64(k * k))
	left := 0.0
	for _, l := range s.Left() {
		if l.Index >= int64(k*k) {
			left += l.Map
		}
	}
	if done := float64(k*k) - left; done >= float64(k*k)/5 {
		return 0
	}
	return 1
}

func theorem2Section(quick bool) report.Section {
	sizes := theorem2Sizes[:]
	if quick {
		sizes = sizes[:len(sizes)-1]
	}
	s := report.Section{
		Title: "Theorem 2: no online policy is within a constant of the optimum",
		Text: []string{
			"k² jobs of size (1, 1/2) and k jobs of size (k, 3k/2) arrive at 0. If a policy has done k²/5 or more map work of the large jobs at k², the adversary sends " +
				"k³+1 small jobs, one each second; otherwise as many large ones from 2k² on, one each 3k/2 seconds. Ratios are to the total response time of the " +
				"proof's own schedule for the stream, which knows it. The proof's ratio grows with k, the cube root of the number of jobs.",
			"The last column is the gap: the total of the best known schedule over the tight lower bound.",
		},
	}
	table := report.Table{Name: "theorem2_proof", Caption: "Total response time over that of the proof's schedule; the stream that the adversary chooses is marked *",
		Columns: []string{"stream", "k", "jobs"}}
	for _, p := range theorem2Against {
		table.Columns = append(table.Columns, p.Kind.String())
	}
	table.Columns = append(table.Columns, "best known over bound")
	var worst [len(theorem2Against)][len(theorem2Sizes)]float64 // of the chosen stream
	var ratios [len(theorem2Streams)][len(theorem2Against)][]float64
	for which, stream := range theorem2Streams {
		for n, k := range sizes {
			jobs := theorem2Jobs(k, which)
			best := theorem2Best(k, which)
			least := best
			row := []any{stream, k, len(jobs)}
			for i, p := range theorem2Against {
				total := totalFlow(p, jobs)
				least = min(least, total)
				ratio := total / best
				ratios[which][i] = append(ratios[which][i], ratio)
				cell := fmt.Sprintf("%.3g", ratio)
				if theorem2Choice(p, k) == which {
					cell += " *"
					worst[i][n] = ratio
				}
				row = append(row, cell)
			}
			table.Add(append(row, least/float64(len(jobs))/tightBound(jobs))...)
		}
	}
	s.Tables = []report.Table{table}
	for which, stream := range theorem2Streams {
		s.Plots = append(s.Plots, ratioPlot(which, stream, sizes, ratios[which][:]), presentPlot(which, stream))
	}
	last := len(sizes) - 1
	for i, p := range theorem2Against {
		grows := worst[i][last] / worst[i][last-1]
		s.Claims = append(s.Claims, report.Check(grows > 1.5, fmt.Sprintf("Theorem 2: from k = %d to %d the ratio of %v grows by, on its stream",
			sizes[last-1], sizes[last], p.Kind), "→ 2", fmt.Sprintf("%.3g (to %.3g)", grows, worst[i][last])))
	}
	return s
}

// ratioPlot has the ratio of every policy against k.
func ratioPlot(which int, stream string, sizes []int, ratios [][]float64) report.Plot {
	p := report.Plot{Name: fmt.Sprintf("theorem2_stream%d", which), Title: "Theorem 2: " + stream, X: "k", Y: "total over that of the proof's schedule", LogX: true, LogY: true}
	for i, d := range theorem2Against {
		series := report.Series{Name: d.Kind.String(), Kind: report.Line}
		for n, k := range sizes {
			series.X, series.Y = append(series.X, float64(k)), append(series.Y, ratios[i][n])
		}
		p.Series = append(p.Series, series)
	}
	return p
}

// presentPlot has the number of present jobs against time for the least k.
func presentPlot(which int, stream string) report.Plot {
	k := theorem2Sizes[0]
	p := report.Plot{Name: fmt.Sprintf("theorem2_stream%d_present", which), Title: fmt.Sprintf("Theorem 2, k = %d: %s", k, stream), X: "time", Y: "jobs present"}
	jobs := theorem2Jobs(k, which)
	for _, d := range theorem2Against[:3] {
		done := fluidRun(d, jobs)
		end := slices.Max(done)
		series := report.Series{Name: d.Kind.String(), Kind: report.Steps}
		slices.Sort(done)
		for t, arrived, left := 0.0, 0, 0; t <= end; t += end / 400 {
			for arrived < len(jobs) && jobs[arrived].Arrival <= t {
				arrived++
			}
			for left < len(done) && done[left] <= t {
				left++
			}
			series.X, series.Y = append(series.X, t), append(series.Y, float64(arrived-left))
		}
		p.Series = append(p.Series, series)
	}
	return p
}

// tightBound is the tighter lower bound on the mean response time.
func tightBound(jobs []overlap.Demand) float64 {
	b := overlap.NewTight(0)
	for _, j := range jobs {
		b.Arrive(j)
	}
	b.Drain()
	return b.Mean()
}
