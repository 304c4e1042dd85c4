package reproduce

import (
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sim"
)

// geoFigures are Figures 6 to 13, in the paper's world of 100 sites unless a figure varies that.
type geoFigures struct {
	*geoScale
	mixes  [2][]*geoRun // Figure 6, and 7 and 8: Facebook-like and HPC-like, by lambda
	skews  []*geoRun    // Figure 9
	sites  []*geoRun    // Figure 10, and 12
	loads  []*geoRun    // Figures 11 and 13: the policies are epsilons, then Mantri and Flutter
	truths *geoRun      // what learning costs
}

var mixNames = [2]string{"facebook", "hpc"}

func newGeoFigures(s *geoScale, o *Options) *geoFigures {
	f := &geoFigures{geoScale: s}
	var specs []string
	for _, r := range geoRows {
		specs = append(specs, r.spec)
	}
	for m, mix := range mixNames {
		for _, l := range s.lambdas[m] {
			f.mixes[m] = append(f.mixes[m], waxman(o, fmt.Sprintf("%s, %g jobs/s", mix, l), mix, s.size, 1, l, s.windows[m], s.runs, specs))
		}
	}
	const middle = 0.07
	for _, a := range s.skews {
		f.skews = append(f.skews, waxman(o, fmt.Sprintf("skew %g", a), "facebook", s.size, a, middle, s.window, s.runs, specs))
	}
	for _, n := range s.sites {
		// the same work per slot
		f.sites = append(f.sites, waxman(o, fmt.Sprintf("%d sites", n), "facebook", n, 1, middle*float64(n)/100, s.window, s.runs, specs))
	}
	var high []string
	for _, e := range s.epsilons {
		high = append(high, fmt.Sprintf("geoclone:epsilon=%g", e))
	}
	high = append(high, geoRows[rowGeoMantri].spec, geoRows[rowFlutter].spec)
	for _, l := range s.loads {
		f.loads = append(f.loads, waxman(o, fmt.Sprintf("%g jobs/s", l), "facebook", s.size, 1, l, s.busy, s.runs, high))
	}
	f.truths = waxman(o, "the price of learning", "facebook", s.size, 1, middle, s.window, s.runs,
		[]string{"geoclone", "geoclone:truth=true", "geoclone:copies=4", "geoclone:truth=true,copies=4", "flutter", "flutter:truth=true"})
	return f
}

// all returns everything that has to be run.
func (f *geoFigures) all() []*geoRun {
	all := append(slices.Clone(f.mixes[0]), f.mixes[1]...)
	all = append(append(all, f.skews...), f.sites...)
	return append(append(all, f.loads...), f.truths)
}

func (f *geoFigures) sections() []report.Section {
	sections := []report.Section{f.overall(0), f.overall(1), f.distribution(), f.replicas()}
	return append(sections, f.sweep("figure9", "Figure 9: sites of different sizes", "Zipf's exponent", f.skewGrid(), f.skews),
		f.sweep("figure10", "Figure 10: scale", "number of sites", numbers(f.geoScale.sites), f.sites), f.busy(), f.overhead())
}

func (f *geoFigures) skewGrid() []float64 { return f.geoScale.skews }

var loadNames = []string{"light", "moderate", "high"}

func (f *geoFigures) overall(mix int) report.Section {
	name := "figure6-" + mixNames[mix]
	grid, runs := f.lambdas[mix], f.mixes[mix]
	sec := report.Section{
		Title: []string{"Figure 6: mean flow time, Facebook-like jobs", "Figure 6: mean flow time, HPC-like jobs"}[mix], Tables: []report.Table{flowTimes(name, "λ (jobs/s)", grid, runs)},
		Plots: []report.Plot{flowPlot(name, "λ (jobs/s)", grid, runs)},
	}
	if mix == 1 {
		sec.Text = []string{"These jobs have 4.8 times as many tasks, so at 0.07 jobs per second they need all slots without a single clone, and at the paper's highest rate, 0.15, more than twice as many as there are: a mean flow time " +
			"would only say for how long jobs arrived. So 0.07 is moderate load here and the end."}
	}
	for which := range 2 {
		sec.Claims = append(sec.Claims, orderClaims(mixNames[mix]+", "+loadNames[which]+" load", runs[f.load(mix, which)])...)
	}
	return sec
}

// flowTimes is a table of mean flow times.
func flowTimes(name, x string, grid []float64, runs []*geoRun) report.Table {
	t := report.Table{Name: name, Columns: []string{x, "policy", "mean flow (s)", "±", "less than Flutter (%)", "±", "attempts per task", "fruitless (%)", "slots used (%)", "failed (%)"}}
	for i, g := range runs {
		for p := range g.specs {
			less := g.reduction(p, rowFlutter)
			flow := g.mean(p, meanFlowOf)
			row := []any{nil, geoRows[p].name, flow.Mean, flow.Half, 100 * less.Mean, 100 * less.Half,
				g.mean(p, perTask).Mean,
				100 * g.mean(p, func(c *geoCell) float64 { return c.Fruitless / max(c.Fruitful+c.Fruitless, 1e-9) }).Mean,
				100 * g.mean(p, func(c *geoCell) float64 { return c.used }).Mean, g.failed(p)}
			if p == 0 {
				row[0] = grid[i]
			}
			t.Add(row...)
		}
	}
	return t
}

func flowPlot(name, x string, grid []float64, runs []*geoRun) report.Plot {
	plot := report.Plot{Name: name, X: x, Y: "mean flow time (s)"}
	for p := range geoRows {
		plot.Series = append(plot.Series, errorBars(geoRows[p].name, grid, func(i int) sim.Estimate { return runs[i].mean(p, meanFlowOf) }))
	}
	return plot
}

// orderClaims are the order of the policies, and GeoClone's gain, in one world. The order of two is that of their means
// over the runs, which met the same luck. The paper claims nothing of the row with four attempts, so that is reported.
func orderClaims(where string, g *geoRun) (claims []report.Claim) {
	pair := func(less, more int) report.Claim {
		return judge(g.reduction(less, more), math.SmallestNonzeroFloat64, 1, where+": "+geoRows[less].name+" is quicker than "+geoRows[more].name, "quicker", "by "+percent(g.reduction(less, more)))
	}
	for _, geo := range []int{rowGeoclone, rowGeocloneFour} {
		own := []report.Claim{pair(geo, rowGeoDolly), pair(geo, rowGeoMantri),
			judge(g.reduction(geo, rowFlutter), 0.4, 0.65, where+": "+geoRows[geo].name+" lowers Flutter's mean flow time by 40 to 65 %", "40 to 65 %", percent(g.reduction(geo, rowFlutter)))}
		for i := range own {
			if geo == rowGeocloneFour {
				own[i].Verdict = report.Reported
			}
		}
		claims = append(claims, own...)
	}
	return append(claims, pair(rowGeoDolly, rowFlutter), pair(rowGeoMantri, rowFlutter), judge(g.reduction(rowFlutter, rowIridium), -0.05, 1,
		where+": Flutter is quicker than Iridium, or as quick within 5 %", "quicker or equal", "by "+percent(g.reduction(rowFlutter, rowIridium))))
}

// published70 is the reduction that 70 % of the jobs exceed (Section VI-B), by load and row; 0 where none is printed.
var published70 = [3][rowFlutter]float64{{0.914, 0, 0.852, 0.743}, {}, {0.496, 0, 0, 0.411}}

func (f *geoFigures) distribution() report.Section {
	sec := report.Section{
		Title: "Figure 7: reductions of jobs",
		Text: []string{"A job's reduction is 1 - (its flow time)/(its flow time under Flutter), both averaged over the runs. In a mean, clones alone cannot gain more than E s = 4.7-fold, a reduction of 0.79; 0.914 needs " +
			"queueing in Flutter, or a job's maximum."},
	}
	t := report.Table{Name: "figure7", Columns: []string{"load", "policy", "published: 70 % of the jobs exceed", "70 % of the jobs exceed", "median", "jobs that gain nothing (%)"}}
	for which, name := range loadNames {
		plot := report.Plot{Name: "figure7-" + name, Title: name + " load", X: "reduction", Y: "share of jobs"}
		g := f.mixes[0][f.load(0, which)]
		for p := range rowFlutter {
			all := g.reductions(p, rowFlutter)
			slices.Sort(all)
			share := make([]float64, len(all))
			lost := 0
			for i, x := range all {
				share[i] = float64(i+1) / float64(len(all))
				if x <= 0 {
					lost++
				}
			}
			plot.Series = append(plot.Series, report.Series{Name: geoRows[p].name, Kind: report.Steps, X: all, Y: share})
			t.Add(name, geoRows[p].name, absent(published70[which][p]), all[int(0.3*float64(len(all)))], all[len(all)/2], 100*float64(lost)/float64(len(all)))
		}
		sec.Plots = append(sec.Plots, plot)
	}
	sec.Tables = []report.Table{t}
	light, high := f.mixes[0][f.load(0, 0)].reduction(rowGeoDolly, rowFlutter), f.mixes[0][f.load(0, 2)].reduction(rowGeoDolly, rowFlutter)
	gain := make([]float64, f.runs)
	for k := range gain {
		of := func(which int) float64 { return f.mixes[0][f.load(0, which)].less(rowGeoDolly, rowFlutter, k) }
		gain[k] = of(2) - 0.5*of(0)
	}
	sec.Claims = []report.Claim{judge(sim.EstimateOf(gain), math.Inf(-1), 0, "Dolly's benefit collapses: at high load it is less than half of that at light load", "collapses",
		fmt.Sprintf("%s at light, %s at high load", percent(light), percent(high)))}
	return sec
}

// publishedReplicas are the 75th percentiles of Figure 8 that the text prints, by load and row; publishedUse what it
// says of the share of slots.
var (
	publishedReplicas = [3][rowFlutter]float64{{4, 0, 0, 2}, {}, {0, 0, 3, 0}}
	publishedUse      = [3][rowFlutter]string{{"37 % in 90 % of the time", "", "often above 50 %", ""}, {}, {}}
)

func (f *geoFigures) replicas() report.Section {
	sec := report.Section{
		Title: "Figure 8: attempts per task",
		Text: []string{
			"Over tasks, of all runs together, those that end in the second half of the window. An attempt races if it runs when the first of its task ends; GeoClone and Dolly start all attempts of a task together, Mantri gives up " +
				"attempts that are late and starts others, so that more are launched than race.",
			"With p the best case, GeoClone's count of four does not come out. Step 1 gives each task of a job at most M/(ε N σ) attempts, of M slots for N jobs with σ tasks that wait each, and step 2 takes nothing " +
				"away while slots are idle. For four attempts there would have to be 30,000/(4 · 0.8) = 9,400 waiting tasks at once, where at light load there are some hundreds. With p the expected time of one attempt the rule " +
				"stops at four attempts when 20 % of the slots are used, and at more when fewer are. The paper's own numbers say that its light load is heavier than ours: Dolly often uses more than half of the slots there.",
		},
	}
	t := report.Table{Name: "figure8", Columns: []string{"load", "policy", "published: 75 %", "racing: 25 %", "50 %", "75 %", "launched: 75 %", "published: slots used", "in 90 % of the time at most (%)"}}
	for which, name := range loadNames {
		g := f.mixes[0][f.load(0, which)]
		for p := range rowFlutter {
			var racing, launched tallied
			for k := range g.runs {
				racing.merge(g.cells[p][k].racing)
				launched.merge(g.cells[p][k].launched)
			}
			upper := racing.quantile(0.75)
			t.Add(name, geoRows[p].name, absent(publishedReplicas[which][p]), racing.quantile(0.25), racing.quantile(0.5), upper, launched.quantile(0.75),
				publishedUse[which][p], 100*g.mean(p, func(c *geoCell) float64 { return c.most }).Mean)
			if want := publishedReplicas[which][p]; want > 0 {
				sec.Claims = append(sec.Claims, report.Check(math.Abs(upper-want) <= 2 && upper > 1,
					fmt.Sprintf("%s load: attempts per task of %s, 75th percentile, more than one and within 2", name, geoRows[p].name), fmt.Sprint(want),
					fmt.Sprintf("%g racing, %g launched", upper, launched.quantile(0.75))))
			}
		}
	}
	sec.Tables = []report.Table{t}
	used := f.mixes[0][f.load(0, 2)].mean(rowFlutter, func(c *geoCell) float64 { return c.used })
	sec.Claims = append(sec.Claims, judge(used, 0.40, 0.50, "high load: Flutter's attempts use 45 % of the slots, within 5 points", "45 %", percent(used)))
	return sec
}

// sweep is a figure that varies the cluster.
func (f *geoFigures) sweep(name, title, x string, grid []float64, runs []*geoRun) report.Section {
	less := report.Plot{Name: name, X: x, Y: "less than Flutter (%)"}
	for p := range rowFlutter {
		less.Series = append(less.Series, errorBars(geoRows[p].name, grid, func(i int) sim.Estimate {
			e := runs[i].reduction(p, rowFlutter)
			return sim.Estimate{Mean: 100 * e.Mean, Half: 100 * e.Half}
		}))
	}
	first, last := runs[0], runs[len(runs)-1]
	rise := make([]float64, first.runs)
	for k := range rise {
		rise[k] = last.less(rowGeoclone, rowFlutter, k) - first.less(rowGeoclone, rowFlutter, k)
	}
	c := judge(sim.EstimateOf(rise), 0, math.Inf(1), fmt.Sprintf("GeoClone's reduction grows with %s, from %g to %g", x, grid[0], grid[len(grid)-1]),
		"grows", "by "+percent(sim.EstimateOf(rise)))
	c.Verdict = report.Reported
	return report.Section{Title: title, Tables: []report.Table{flowTimes(name, x, grid, runs)}, Plots: []report.Plot{less}, Claims: []report.Claim{c}}
}

func (f *geoFigures) busy() report.Section {
	t := report.Table{Name: "figure11", Columns: []string{"λ (jobs/s)", "best ε", "published ε", "GeoClone (s)", "±", "Mantri (s)", "±", "Flutter (s)", "±", "slots used by GeoClone (%)", "by Flutter (%)"}}
	published := []string{"0.6", "0.6", "0.8", "0.8", "0.9"}
	sec := report.Section{
		Title: "Figures 11 and 13: high utilisation",
		Text:  []string{"At rates above those of Figure 6, GeoClone with the ε that is best there. The paper prints best values of ε, their rates are illegible: the published column has them in order."},
	}
	n := len(f.epsilons)
	for i, g := range f.loads {
		best := 0
		for p := range n {
			if g.mean(p, meanFlowOf).Mean < g.mean(best, meanFlowOf).Mean {
				best = p
			}
		}
		ours, mantri, flutter := g.mean(best, meanFlowOf), g.mean(n, meanFlowOf), g.mean(n+1, meanFlowOf)
		t.Add(f.geoScale.loads[i], f.epsilons[best], published[min(i, len(published)-1)], ours.Mean, ours.Half, mantri.Mean, mantri.Half, flutter.Mean, flutter.Half,
			100*g.mean(best, func(c *geoCell) float64 { return c.used }).Mean, 100*g.mean(n+1, func(c *geoCell) float64 { return c.used }).Mean)
		c := judge(g.reduction(best, n), -0.05, 1, fmt.Sprintf("λ = %g: GeoClone is quicker than Mantri, or as quick within 5 %%", f.geoScale.loads[i]), "better or similar", "by "+percent(g.reduction(best, n)))
		c.Verdict = report.Reported
		sec.Claims = append(sec.Claims, c)
	}
	sec.Tables = []report.Table{t}
	return sec
}

func (f *geoFigures) overhead() report.Section {
	t := report.Table{Name: "figure12", Columns: []string{"sites", "reports (MB)", "per second (kB)", "per task (bytes)"}}
	for i, g := range f.sites {
		bytes := g.mean(rowGeoclone, func(c *geoCell) float64 { return c.bytes }).Mean
		rate := g.mean(rowGeoclone, func(c *geoCell) float64 { return c.bytes / c.Makespan }).Mean
		tasks := g.mean(rowGeoclone, func(c *geoCell) float64 { return c.bytes / float64(c.tasks) }).Mean
		t.Add(f.geoScale.sites[i], bytes/1e6, rate/1e3, tasks)
	}
	price := report.Table{Name: "learning", Columns: []string{"policy", "learns (s)", "±", "knows the truth (s)", "±", "learning costs (%)", "±"}}
	for p := 0; p < len(f.truths.specs); p += 2 {
		ours, truth, cost := f.truths.mean(p, meanFlowOf), f.truths.mean(p+1, meanFlowOf), f.truths.reduction(p+1, p)
		price.Add(f.truths.specs[p], ours.Mean, ours.Half, truth.Mean, truth.Half, 100*cost.Mean, 100*cost.Half)
	}
	return report.Section{
		Title: "Figure 12: what the profiler hears, and what learning costs",
		Text: []string{"Each attempt that ends is reported in 16 bytes: site, stage, duration; and each fetch from another site in 24: both sites, bytes, duration. One fetch of a projection is 8.3 MB. Below: GeoClone and Flutter with what they " +
			"learned, and told the simulator's laws of the sites and the bandwidths of the links."},
		Tables: []report.Table{t, price},
	}
}
