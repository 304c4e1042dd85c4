package reproduce

import (
	"context"
	"fmt"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sim"
)

// geoBusy is Figures 11 and 13, rates above those of Figure 6. Its policies are GeoClone by epsilon, then the others.
type geoBusy struct {
	*geoScale
	rates []*geoRun
}

// Behind the epsilons.
const (
	busyMantri = iota
	busyFlutter
	busyDolly
)

func newGeoBusy(s *geoScale, o *Options) *geoBusy {
	f := &geoBusy{geoScale: s}
	var specs []string
	for _, e := range s.epsilons {
		specs = append(specs, fmt.Sprintf("geoclone:epsilon=%g", e))
	}
	specs = append(specs, geoRows[rowGeoMantri].spec, geoRows[rowFlutter].spec, geoRows[rowGeoDolly].spec)
	for _, l := range s.loads {
		f.rates = append(f.rates, waxman(o, fmt.Sprintf("%g jobs/s", l), "facebook", s.size, 1, l, s.busy, s.runs, specs))
	}
	return f
}

func (f *geoBusy) steps() []func(context.Context) error { return stepsOf(f.rates) }

// best is the epsilon with the least mean flow time, by its place in the list.
func (f *geoBusy) best(g *geoRun) (best int) {
	for p := range f.epsilons {
		if g.mean(p, meanFlowOf).Mean < g.mean(best, meanFlowOf).Mean {
			best = p
		}
	}
	return best
}

func (f *geoBusy) sections() []report.Section {
	n := len(f.epsilons)
	t := report.Table{Name: "figure11", Columns: []string{"λ (jobs/s)", "policy", "mean flow (s)", "±", "less than Flutter (%)", "±", "slots used (%)", "fruitless (%)", "jobs that gain nothing (%)"}}
	best := report.Table{Name: "figure13", Columns: []string{"λ (jobs/s)", "best ε", "published ε", "quicker than the worst (%)", "±"}}
	published := []float64{0.6, 0.6, 0.8, 0.8, 0.9}
	names := []string{"Flutter+Mantri", "Flutter", "Flutter+Dolly"}
	sec := report.Section{
		Title: "Figures 11 and 13: high utilisation",
		Text: []string{fmt.Sprintf("Rates above those of Figure 6, at which Flutter's attempts would need more than half of the slots for ever; jobs arrive for %.0f s. The paper prints the best ε of five rates, which are illegible: the published column has "+
			"them in order. In the picture GeoClone has the ε that is best at each rate.", f.geoScale.busy)},
	}
	for i, g := range f.rates {
		for p := range g.specs {
			flow, less, name := g.mean(p, meanFlowOf), g.reduction(p, n+busyFlutter), g.specs[p]
			if p >= n {
				name = names[p-n]
			}
			row := []any{nil, name, flow.Mean, flow.Half, 100 * less.Mean, 100 * less.Half, 100 * g.mean(p, func(c *geoCell) float64 { return c.used }).Mean, g.fruitless(p),
				100 * g.ofJobs(p, n+busyFlutter, useless).Mean}
			if p == 0 {
				row[0] = f.geoScale.loads[i]
			}
			t.Add(row...)
		}
		first, worst := f.best(g), 0
		for p := range f.epsilons {
			if g.mean(p, meanFlowOf).Mean > g.mean(worst, meanFlowOf).Mean {
				worst = p
			}
		}
		gap := g.reduction(first, worst)
		best.Add(f.geoScale.loads[i], f.epsilons[first], published[min(i*len(published)/len(f.rates), len(published)-1)], 100*gap.Mean, 100*gap.Half)
		by := g.reduction(first, n+busyMantri)
		sec.Claims = append(sec.Claims, judge(by, -0.05, 1, fmt.Sprintf("λ = %g: GeoClone is quicker than Mantri, or as quick within 5 %%", f.geoScale.loads[i]), "better or similar", "by "+percent(by)))
	}
	sec.Tables, sec.Plots = []report.Table{t, best}, []report.Plot{f.plot()}
	return []report.Section{sec}
}

// plot is Figure 11.
func (f *geoBusy) plot() report.Plot {
	n := len(f.epsilons)
	plot := report.Plot{Name: "figure11", X: "λ (jobs/s)", Y: "mean flow time (min)"}
	series := func(name string, which func(g *geoRun) int) {
		plot.Series = append(plot.Series, errorBars(name, f.geoScale.loads, func(i int) sim.Estimate { return f.rates[i].mean(which(f.rates[i]), flowMinutes) }))
	}
	series("GeoClone, best ε", f.best)
	series("Flutter+Mantri", func(*geoRun) int { return n + busyMantri })
	series("Flutter", func(*geoRun) int { return n + busyFlutter })
	series("Flutter+Dolly", func(*geoRun) int { return n + busyDolly })
	return plot
}
