package reproduce

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/overlap/study"
	"github.com/tailcut/tailcut/internal/report"
)

// overlapDay is Figure 7 on one workload: mean response times against load, the capacity scaled, with the workload's
// own ratios of shuffle to map size and with their cube roots.
type overlapDay struct {
	name, title, about string
	jobs               []overlap.Demand
	traced             bool                                                     // recorded by a cluster, not made up
	flows              [len(dayRatios)][len(dayLoads)][len(dayPolicies)]float64 // mean flow times (s)
	bounds, tight      [len(dayRatios)][len(dayLoads)]float64
}

var (
	dayLoads    = [...]float64{0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75}
	dayPolicies = [...]overlap.Discipline{{Kind: overlap.KLPS, K: 100}, maxSRPT, split, allPS, fcfs, fillSRPT}
	dayRatios   = [...]string{"original", "cube-root"}
)

// overlapDays returns the workloads, and what there is to say of those that are missing.
func overlapDays(o *Options) (days []*overlapDay, notes []string, err error) {
	days = append(days, surrogateMonth(o.Seed))
	for _, year := range []string{"2009", "2010"} {
		file := "FB-" + year + "_samples_24_times_1hr_0.tsv.gz"
		path, ok := o.Trace("swim-facebook", file)
		if !ok {
			notes = append(notes, "Skipped, because the folder of traces lacks it: swim-facebook/"+file+".")
			continue
		}
		r, err := os.Open(path)
		if err != nil {
			return nil, nil, err
		}
		defer r.Close()
		all, err := study.FluidJobs(r, path)
		if err != nil {
			return nil, nil, err
		}
		jobs := slices.DeleteFunc(slices.Clone(all), func(j overlap.Demand) bool { return j.Map == 0 || j.Shuffle == 0 })
		days = append(days, &overlapDay{
			name: "fb" + year, title: "a day at Facebook, " + year, jobs: jobs, traced: true, about: fmt.Sprintf("Map input and shuffle bytes with the arrivals of a production "+
				"cluster, 24 sampled hours (SWIM). As the paper does, jobs without one of the phases are left out: %d of %d are left.", len(jobs), len(all)),
		})
	}
	return days, notes, nil
}

func (d *overlapDay) steps() (steps []func(context.Context) error) {
	for r := range dayRatios {
		for l := range dayLoads {
			steps = append(steps, func(context.Context) error { return d.run(r, l) })
		}
	}
	return steps
}

// run simulates all policies at one load.
func (d *overlapDay) run(ratio, load int) error {
	jobs := slices.Clone(d.jobs)
	if err := overlap.ScaleToLoad(jobs, dayLoads[load]); err != nil {
		return err
	}
	if dayRatios[ratio] == "cube-root" {
		overlap.CubeRootRatios(jobs)
		if err := overlap.ScaleToLoad(jobs, dayLoads[load]); err != nil {
			return err
		}
	}
	for i, p := range dayPolicies {
		d.flows[ratio][load][i] = totalFlow(p, jobs) / float64(len(jobs))
	}
	d.bounds[ratio][load], d.tight[ratio][load] = lowerBound(jobs), tightBound(jobs)
	return nil
}

func (d *overlapDay) section() report.Section {
	s := report.Section{Title: "Figure 7: " + d.title, Text: []string{
		d.about,
		"Loads by scaling the capacity. Relative E[T] is the mean response time over the lower bound of Section 5.1, which is loose. The best policy of " +
			"a row is at most by the last column above the optimum, whose mean is at least the tight bound. The paper prints " +
			"curves of its own trace and no numbers; what it says of them is judged here if it does not depend on that trace.",
	}}
	for r, ratio := range dayRatios {
		table := report.Table{
			Name: "figure7_" + d.name + "_" + ratio, Caption: "Relative E[T], " + ratio + " ratios",
			Columns: []string{"load", "k-LPS", "MaxSRPT", "SplitSRPT", "PS", "FCFS", "FillSRPT", "lower bound (s)", "tight bound (s)", "best over tight (%)"},
		}
		plot := report.Plot{Name: table.Name + "_plot", Title: fmt.Sprintf("Figure 7(%c): %s, %s ratios", 'a'+r, d.title, ratio), X: "load", Y: "relative E[T]"}
		for i := range 3 {
			series := report.Series{Name: dayPolicies[i].Kind.String(), Kind: report.Line}
			for l, load := range dayLoads {
				series.X, series.Y = append(series.X, load), append(series.Y, d.relative(r, l, i))
			}
			plot.Series = append(plot.Series, series)
		}
		for l, load := range dayLoads {
			row := []any{load}
			for i := range dayPolicies {
				row = append(row, d.relative(r, l, i))
			}
			best := slices.Min(d.flows[r][l][:])
			table.Add(append(row, d.bounds[r][l], d.tight[r][l], 100*(best/d.tight[r][l]-1))...)
		}
		s.Tables, s.Plots = append(s.Tables, table), append(s.Plots, plot)
		s.Claims = append(s.Claims, d.beatsFair(r), d.fills(r))
	}
	s.Claims = append(s.Claims, d.nearOptimal())
	s.Claims = append(s.Claims, d.better(0, 2, 1, "SplitSRPT is better than MaxSRPT at high load"), d.better(1, 1, 2, "MaxSRPT is better than SplitSRPT at high load"))
	return s
}

func (d *overlapDay) relative(ratio, load, policy int) float64 {
	return d.flows[ratio][load][policy] / d.bounds[ratio][load]
}

// beatsFair is the claim that both SRPTs are better than k-LPS whatever the load.
func (d *overlapDay) beatsFair(ratio int) report.Claim {
	ok, worst, least := true, 0.0, 0.0
	for l := range dayLoads {
		srpt := max(d.relative(ratio, l, 1), d.relative(ratio, l, 2))
		klps := d.relative(ratio, l, 0)
		ok = ok && srpt < klps
		worst, least = max(worst, srpt), max(least, klps)
	}
	return report.Check(ok, fmt.Sprintf("%s, %s ratios: both SRPTs are better than k-LPS at all loads; largest relative E[T]", d.title, dayRatios[ratio]),
		"much better", fmt.Sprintf("%.2f, k-LPS %.2f", worst, least))
}

// nearOptimal is what the paper concludes from a loose bound, with the tight one: how far the worse of the two SRPTs is
// from the optimum at most. "Near" has no number, so that nothing is enforced.
func (d *overlapDay) nearOptimal() report.Claim {
	worst := 0.0
	for r := range dayRatios {
		for l := range dayLoads {
			worst = max(worst, max(d.flows[r][l][1], d.flows[r][l][2])/d.tight[r][l])
		}
	}
	return report.Claim{
		What: d.title + ": both SRPTs are near-optimal; largest mean over the tight bound, all loads and ratios", Published: "near-optimal",
		Measured: fmt.Sprintf("%.3f", worst), Verdict: report.Reported,
	}
}

// fills is the claim that FillSRPT is at no load much worse than the better of MaxSRPT and SplitSRPT.
func (d *overlapDay) fills(ratio int) report.Claim {
	worst, best := math.Inf(-1), math.Inf(1)
	for l := range dayLoads {
		off := over([3]float64{d.relative(ratio, l, 1), d.relative(ratio, l, 2), d.relative(ratio, l, 5)})
		worst, best = max(worst, off), min(best, off)
	}
	return report.Check(worst <= 0.02, fmt.Sprintf("%s, %s ratios: FillSRPT is at most 2 %% worse than the better of MaxSRPT and SplitSRPT at all loads", d.title,
		dayRatios[ratio]), "", fmt.Sprintf("%+.1f to %+.1f %%", 100*best, 100*worst))
}

// better compares two policies at the highest load. Which is better depends on the workload, so nothing is enforced.
func (d *overlapDay) better(ratio, a, b int, what string) report.Claim {
	last := len(dayLoads) - 1
	x, y := d.relative(ratio, last, a), d.relative(ratio, last, b)
	answer := "no"
	if x < y {
		answer = "yes"
	}
	return report.Claim{
		What: fmt.Sprintf("%s, %s ratios: %s", d.title, dayRatios[ratio], what), Published: "yes (on its trace)",
		Measured: fmt.Sprintf("%s: %.3f against %.3f", answer, x, y), Verdict: report.Reported,
	}
}
