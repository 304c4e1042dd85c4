package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sim"
)

// geoMiddle is moderate load, jobs per second on 100 sites.
const geoMiddle = 0.07

// geoSites are the figures that vary the cluster.
type geoSites struct {
	*geoScale
	skews []*geoRun // Figure 9
	sites []*geoRun // Figure 10, and 12
}

func newGeoSites(s *geoScale, o *Options) *geoSites {
	f := &geoSites{geoScale: s}
	for _, a := range s.skews {
		f.skews = append(f.skews, waxman(o, fmt.Sprintf("skew %g", a), "facebook", s.size, a, geoMiddle, s.window, s.runs, geoSpecs()))
	}
	for _, n := range s.sites {
		// the same work per slot
		f.sites = append(f.sites, waxman(o, fmt.Sprintf("%d sites", n), "facebook", n, 1, geoMiddle*float64(n)/100, s.window, s.runs, geoSpecs()))
	}
	return f
}

func (f *geoSites) steps() []func(context.Context) error {
	return stepsOf(slices.Concat(f.skews, f.sites))
}

func (f *geoSites) sections() []report.Section {
	return []report.Section{
		sweep("figure9", "Figure 9: sites of different sizes", "Zipf's exponent", f.geoScale.skews, f.skews),
		sweep("figure10", "Figure 10: scale", "number of sites", numbers(f.geoScale.sites), f.sites), f.overhead(),
	}
}

// sweep is a figure that varies the cluster.
func sweep(name, title, x string, grid []float64, runs []*geoRun) report.Section {
	less := report.Plot{Name: name, X: x, Y: "less than Flutter (%)"}
	for p := range rowFlutter {
		less.Series = append(less.Series, errorBars(geoRows[p].name, grid, func(i int) sim.Estimate {
			e := runs[i].reduction(p, rowFlutter)
			return sim.Estimate{Mean: 100 * e.Mean, Half: 100 * e.Half}
		}))
	}
	first, last := runs[0], runs[len(runs)-1]
	rise := first.estimate(func(k int) float64 {
		return last.less(rowGeoclone, rowFlutter, k) - first.less(rowGeoclone, rowFlutter, k)
	})
	return report.Section{
		Title: title, Tables: []report.Table{flowTimes(name, x, grid, runs)}, Plots: []report.Plot{less},
		Claims: []report.Claim{judge(rise, math.SmallestNonzeroFloat64, 1, fmt.Sprintf("GeoClone's reduction grows with %s, from %g to %g", x, grid[0], grid[len(grid)-1]), "grows", "by "+percent(rise))},
	}
}

// slowestLink is what the least of the links of the paper's world carries, bytes per second: 15 Mbit/s.
const slowestLink = 15e6 / 8

func (f *geoSites) overhead() report.Section {
	t := report.Table{Name: "figure12", Columns: []string{"sites", "reports (MB)", "per second (kB)", "per task (bytes)"}}
	rate := func(c *geoCell) float64 { return c.bytes / c.Makespan }
	line := report.Series{Name: "GeoClone", Kind: report.Line}
	for i, g := range f.sites {
		bytes, second := g.mean(rowGeoclone, func(c *geoCell) float64 { return c.bytes }).Mean, g.mean(rowGeoclone, rate).Mean
		t.Add(f.geoScale.sites[i], bytes/1e6, second/1e3, g.mean(rowGeoclone, func(c *geoCell) float64 { return c.bytes / float64(c.tasks) }).Mean)
		line.X, line.Y = append(line.X, float64(f.geoScale.sites[i])), append(line.Y, second/1e3)
	}
	part := f.sites[len(f.sites)-1].mean(rowGeoclone, func(c *geoCell) float64 { return rate(c) / slowestLink })
	return report.Section{
		Title:  "Figure 12: what the profiler hears",
		Text:   []string{"Each attempt that ends is reported in 16 bytes: site, stage, duration; and each fetch from another site in 24: both sites, bytes, duration. One fetch of a projection is 8.3 MB."},
		Tables: []report.Table{t}, Plots: []report.Plot{{Name: "figure12", X: "number of sites", Y: "reports (kB/s)", Series: []report.Series{line}}},
		Claims: []report.Claim{judge(part, 0, 0.01, "the profiler's reports of all sites together are less than a hundredth of one link of 15 Mbit/s", "negligible", fmt.Sprintf("%.3f ± %.3f %%", 100*part.Mean, 100*part.Half))},
	}
}

// geoLearning is what it costs to learn how slow sites are.
type geoLearning struct{ *geoRun }

func newGeoLearning(s *geoScale, o *Options) geoLearning {
	return geoLearning{waxman(o, "the price of learning", "facebook", s.size, 1, geoMiddle, s.window, s.runs,
		[]string{"geoclone", "geoclone:truth=true", "geoclone:copies=4", "geoclone:truth=true,copies=4", "flutter", "flutter:truth=true"})}
}

func (g geoLearning) sections() []report.Section {
	price := report.Table{Name: "learning", Columns: []string{"policy", "learns (s)", "±", "knows the truth (s)", "±", "learning costs (%)", "±"}}
	for p := 0; p < len(g.specs); p += 2 {
		ours, truth, cost := g.mean(p, meanFlowOf), g.mean(p+1, meanFlowOf), g.reduction(p+1, p)
		price.Add(g.specs[p], ours.Mean, ours.Half, truth.Mean, truth.Half, 100*cost.Mean, 100*cost.Half)
	}
	return []report.Section{{
		Title:  "Not in the paper: what learning costs",
		Text:   []string{"GeoClone and Flutter with what they learned, and told the simulator's laws of the sites and the bandwidths of the links."},
		Tables: []report.Table{price},
	}}
}
