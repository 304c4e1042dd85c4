package reproduce

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sim"
)

// srewFigure3 is Figure 3: SREW over the number of machines and over the length of a slot. The paper has SREW alone;
// here its baselines stand beside it, as the authors seem to have run them and at their best.
type srewFigure3 struct {
	scale    *srewScale
	machines []*series // Figure 3a: by number of machines
	slots    []*series // Figure 3b: by length of a slot
}

// bestRows are the readings of the baselines that were best in the full run of Table 3, in the order of baselines. The
// sweeps do not wait for the table of their own run.
var bestRows = []srewRow{
	{policy: "SCA", reading: "a Pareto law", spec: "sca:slot=5s,law=pareto"},
	{policy: "Dolly", reading: "Fair, Mantri underneath", spec: "dolly:budget=0.05,threshold=0.8,order=fair,under=mantri"},
	{policy: "Grass", reading: "Fair, switch by size", spec: "grass:order=fair,switch=size"},
	{policy: "Mantri", reading: "Fair, three attempts, kills", spec: "mantri:delta=0.25,order=fair"},
}

// sweptRows are SREW, the baselines as their authors seem to have run them, and the baselines at their best.
var sweptRows = append(append([]srewRow{}, srewRows[:printedRows]...), bestRows...)

func newSREWFigure3(sc *srewScale, o *Options) *srewFigure3 {
	f := &srewFigure3{scale: sc}
	all := sc.surrogateOf(sc.jobs)
	for _, m := range sc.machines {
		f.machines = append(f.machines, newSeries(o.Seed, m, sc.sweep, 1, specsOfRows(sweptRows), all))
	}
	for _, t := range sc.slots {
		specs := specsOfRows(sweptRows)
		for i := range specs { // Dolly, Grass and Mantri have no slots
			specs[i] = strings.Replace(specs[i], "slot=5s", fmt.Sprintf("slot=%ds", t), 1)
		}
		f.slots = append(f.slots, newSeries(o.Seed, sc.cluster, sc.sweep, 1, specs, all))
	}
	return f
}

func (f *srewFigure3) steps() (steps []func(context.Context) error) {
	for _, x := range append(f.machines, f.slots...) {
		steps = append(steps, x.steps()...)
	}
	return steps
}

func (f *srewFigure3) sections() []report.Section {
	return []report.Section{f.machinesSection(), f.slotSection()}
}

func (f *srewFigure3) machinesSection() report.Section {
	sec := f.swept("figure3a", "machines", f.scale.machines, f.machines)
	sec.Title = "Figure 3(a): the number of machines"
	sec.Claims = machinesClaims(f.scale.machines, f.gains())
	return sec
}

func (f *srewFigure3) slotSection() report.Section {
	sec := f.swept("figure3b", "slot (s)", f.scale.slots, f.slots)
	sec.Title = "Figure 3(b): the length of a slot"
	sec.Text = append(sec.Text, "SCA decides once a slot, as SREW does. Dolly, Grass and Mantri decide whenever something happens, so their means do not depend on the slot.")
	first, last := 0, len(f.slots)-1
	var rises []float64
	for k := range f.scale.sweep {
		rises = append(rises, f.slots[last].Of(rowSREW)[k].MeanFlow-f.slots[first].Of(rowSREW)[k].MeanFlow)
	}
	rise := sim.EstimateOf(rises)
	sec.Claims = []report.Claim{judge(rise, 0, math.Inf(1), fmt.Sprintf("the mean flow time increases with the length of a slot, from %d to %d s", f.scale.slots[first], f.scale.slots[last]),
		"increases", fmt.Sprintf("by %.0f ± %.0f s", rise.Mean, rise.Half))}
	return sec
}

// swept describes a sweep: SREW alone, as in the paper, and beside its baselines in both readings.
func (f *srewFigure3) swept(name, x string, at []int, points []*series) report.Section {
	flows := make([][]sim.Estimate, len(sweptRows))
	for i := range sweptRows {
		var cells [][]sim.Cell
		for _, p := range points {
			cells = append(cells, p.Of(i))
		}
		flows[i] = levelled(cells)
	}
	alone := report.Table{Name: name, Columns: []string{x, "mean flow (s)", "±"}}
	beside := report.Table{Name: name + "_baselines", Caption: "SREW+C(0.7) against its baselines", Columns: []string{
		x, "baseline", "as the authors seem to have run it", "mean flow (s)", "SREW less by (%)", "±", "at its best", "mean flow (s)", "SREW less by (%)", "±",
	}}
	for k, p := range points {
		alone.Add(at[k], flows[rowSREW][k].Mean, flows[rowSREW][k].Half)
		for b, baseline := range baselines {
			row := []any{at[k], baseline}
			for _, i := range []int{rowSCA + b, printedRows + b} {
				less := p.reduction(i)
				row = append(row, sweptRows[i].reading, flows[i][k].Mean, 100*less.Mean, 100*less.Half)
			}
			beside.Add(row...)
		}
	}
	plot := func(name, title string, from int) report.Plot {
		plot := report.Plot{Name: name, Title: title, X: x, Y: "mean flow time (s)"}
		for _, i := range append([]int{rowSREW}, from, from+1, from+2, from+3) {
			plot.Series = append(plot.Series, errorBars(sweptRows[i].policy, numbers(at), func(k int) sim.Estimate { return flows[i][k] }))
		}
		return plot
	}
	return report.Section{
		Text: []string{
			fmt.Sprintf("%d workloads, the same for each point. Intervals of means are about the differences between points: what workloads differ by at all points is taken out. Those of "+
				"reductions are of the paired differences.", f.scale.sweep),
			"The paper has SREW alone, and the claims are about SREW. The baselines are added: as their authors seem to have run them, and in the readings that were best in the full run of Table 3.",
		},
		Tables: []report.Table{alone, beside},
		Plots: []report.Plot{
			plot(name, "baselines as the authors seem to have run them", rowSCA),
			plot(name+"_best", "baselines at their best", printedRows),
		},
	}
}

// gains returns the seconds by which SREW's mean flow time falls per 1,000 machines between a number of machines and
// the next.
func (f *srewFigure3) gains() (gains []sim.Estimate) {
	for i := 1; i < len(f.machines); i++ {
		per := make([]float64, f.scale.sweep)
		for k := range per {
			fall := f.machines[i-1].Of(rowSREW)[k].MeanFlow - f.machines[i].Of(rowSREW)[k].MeanFlow
			per[k] = 1000 * fall / float64(f.scale.machines[i]-f.scale.machines[i-1])
		}
		gains = append(gains, sim.EstimateOf(per))
	}
	return gains
}

// machinesClaims say that the mean flow time falls with the number of machines, steeply below 7,000 and little past
// 10,000.
func machinesClaims(machines []int, gains []sim.Estimate) []report.Claim {
	var least, steepest, flattest sim.Estimate
	least.Mean, flattest.Mean = math.Inf(1), math.Inf(-1)
	steepest.Mean = math.Inf(1)
	for i, g := range gains {
		if g.Mean < least.Mean {
			least = g
		}
		if machines[i+1] <= 7000 && g.Mean < steepest.Mean {
			steepest = g
		}
		if machines[i] >= 10_000 && g.Mean > flattest.Mean {
			flattest = g
		}
	}
	return []report.Claim{
		judge(least, 0, math.Inf(1), "the mean flow time falls with the number of machines; least fall per 1,000 more", "falls", wholeSeconds(least)),
		judge(sim.Estimate{Mean: flattest.Mean - steepest.Mean/2, Half: math.Hypot(flattest.Half, steepest.Half/2), N: flattest.N}, math.Inf(-1), 0,
			"1,000 machines more gain less than half as much past 10,000 as below 7,000", "near-linear below 7,000, little gain past 10,000",
			fmt.Sprintf("%s against %s", wholeSeconds(flattest), wholeSeconds(steepest))),
	}
}

// levelled estimates a sweep's points, from the runs of each that met the same workloads. What the workloads differ by
// at all points alike is taken out of the intervals (Cousineau 2005, with Morey's correction of 2008), for what a sweep
// shows is the difference between its points.
func levelled(points [][]sim.Cell) (all []sim.Estimate) {
	level := make([]float64, len(points[0])) // of each workload
	mean := 0.0
	for _, cells := range points {
		for k := range cells {
			level[k] += cells[k].MeanFlow / float64(len(points))
			mean += cells[k].MeanFlow / float64(len(points)*len(cells))
		}
	}
	correction := math.Sqrt(float64(len(points)) / float64(len(points)-1))
	for _, cells := range points {
		rest := make([]float64, len(cells))
		for k := range cells {
			rest[k] = cells[k].MeanFlow - level[k] + mean
		}
		e := sim.EstimateOf(rest)
		e.Half *= correction
		all = append(all, e)
	}
	return all
}
