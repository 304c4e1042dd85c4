package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sim"
)

// geoLoads are Figures 6 to 8, in the paper's world of 100 sites.
type geoLoads struct {
	*geoScale
	mixes [2][]*geoRun // Facebook-like and HPC-like, by lambda
}

var mixNames = [2]string{"facebook", "hpc"}

func newGeoLoads(s *geoScale, o *Options) *geoLoads {
	f := &geoLoads{geoScale: s}
	for m, mix := range mixNames {
		specs := geoSpecs()
		if m == 0 {
			specs = append(specs, geoRows[rowDollyFree].spec)
		}
		for _, l := range s.lambdas[m] {
			f.mixes[m] = append(f.mixes[m], waxman(o, fmt.Sprintf("%s, %g jobs/s", mix, l), mix, s.size, 1, l, s.windows[m], s.runs, specs))
		}
	}
	return f
}

func (f *geoLoads) steps() []func(context.Context) error {
	return stepsOf(slices.Concat(f.mixes[0], f.mixes[1]))
}

func (f *geoLoads) sections() []report.Section {
	return []report.Section{f.overall(0), f.overall(1), f.distribution(), f.replicas()}
}

// at is the Facebook-like jobs at light (0), moderate (1) or high (2) load.
func (f *geoLoads) at(which int) *geoRun { return f.mixes[0][f.load(0, which)] }

var loadNames = []string{"light", "moderate", "high"}

func (f *geoLoads) overall(mix int) report.Section {
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
	if mix == 0 { // the paper has the range at all loads
		sec.Claims = append(sec.Claims, orderClaims(mixNames[mix]+", high load", f.at(2))...)
		return sec
	}
	small, large := f.at(0), runs[0]
	more := small.estimate(func(k int) float64 {
		return small.less(rowGeoclone, rowFlutter, k) - large.less(rowGeoclone, rowFlutter, k)
	})
	sec.Claims = append(sec.Claims, judge(more, math.SmallestNonzeroFloat64, 1, "light load: GeoClone lowers Flutter's mean flow time of Facebook-like jobs by more than that of HPC-like jobs", "more", "by "+percent(more)+" more"))
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
				g.mean(p, perTask).Mean, g.fruitless(p), 100 * g.mean(p, func(c *geoCell) float64 { return c.used }).Mean, g.failed(p)}
			if p == 0 {
				row[0] = grid[i]
			}
			t.Add(row...)
		}
	}
	return t
}

func flowPlot(name, x string, grid []float64, runs []*geoRun) report.Plot {
	plot := report.Plot{Name: name, X: x, Y: "mean flow time (min)"}
	for p := range runs[0].specs {
		plot.Series = append(plot.Series, errorBars(geoRows[p].name, grid, func(i int) sim.Estimate { return runs[i].mean(p, flowMinutes) }))
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

// geoCloning are the rows of Figures 7 and 8: those that start more than one attempt.
var geoCloning = []int{rowGeoclone, rowGeocloneFour, rowGeoDolly, rowGeoMantri, rowGeoLeast, rowGeoBest, rowDollyFree}

// published70 is the reduction that 70 % of the jobs exceed (Section VI-B), by load and row; 0 where none is printed.
var published70 = [3][rowFlutter]float64{{0.914, 0, 0.852, 0.743}, {}, {0.496, 0, 0, 0.411}}

// publishedUseless is the share of the jobs that Dolly has no positive impact on at high load.
const publishedUseless = 0.634

func (f *geoLoads) distribution() report.Section {
	sec := report.Section{
		Title: "Figure 7: reductions of jobs",
		Text: []string{"A job's reduction is 1 - (its flow time)/(its flow time under Flutter), both averaged over the runs; intervals are by the jackknife. In a mean, clones alone cannot gain more than E s = 4.7-fold, a reduction of 0.79; " +
			"0.914 needs queueing in Flutter, or a job's maximum."},
	}
	t := report.Table{Name: "figure7", Columns: []string{"load", "policy", "published: 70 % of the jobs exceed", "70 % of the jobs exceed", "±", "median", "jobs that gain nothing (%)", "±"}}
	for which, name := range loadNames {
		plot := report.Plot{Name: "figure7-" + name, Title: name + " load", X: "reduction", Y: "share of jobs"}
		g := f.at(which)
		for _, p := range geoCloning {
			all := g.reductions(p, rowFlutter, -1)
			share := make([]float64, len(all))
			for i := range all {
				share[i] = float64(i+1) / float64(len(all))
			}
			plot.Series = append(plot.Series, report.Series{Name: geoRows[p].name, Kind: report.Steps, X: all, Y: share})
			most, lost, printed := g.ofJobs(p, rowFlutter, exceeded), g.ofJobs(p, rowFlutter, useless), 0.0
			if p < rowFlutter {
				printed = published70[which][p]
			}
			t.Add(name, geoRows[p].name, absent(printed), most.Mean, most.Half, all[len(all)/2], 100*lost.Mean, 100*lost.Half)
			if printed > 0 {
				sec.Claims = append(sec.Claims, agrees(most, printed, fmt.Sprintf("%s load: the reduction that 70 %% of the jobs exceed under %s", name, geoRows[p].name)))
			}
		}
		sec.Plots = append(sec.Plots, plot)
	}
	sec.Tables = []report.Table{t}
	light, high := f.at(0).reduction(rowGeoDolly, rowFlutter), f.at(2).reduction(rowGeoDolly, rowFlutter)
	gain := f.at(0).estimate(func(k int) float64 {
		return f.at(2).less(rowGeoDolly, rowFlutter, k) - 0.5*f.at(0).less(rowGeoDolly, rowFlutter, k)
	})
	sec.Claims = append(sec.Claims, judge(gain, math.Inf(-1), 0, "Dolly's benefit collapses: at high load it is less than half of that at light load", "collapses",
		fmt.Sprintf("%s at light, %s at high load", percent(light), percent(high))))
	for _, p := range []int{rowGeoDolly, rowDollyFree} {
		c := agrees(f.at(2).ofJobs(p, rowFlutter, useless), publishedUseless, "high load: jobs that gain nothing under "+geoRows[p].name)
		if p == rowDollyFree {
			c.Verdict = report.Reported
		}
		sec.Claims = append(sec.Claims, c)
	}
	return sec
}

// publishedReplicas are the 75th percentiles of Figure 8 that the text prints, by load and row; publishedUse what it
// says of the share of slots.
var (
	publishedReplicas = [3][rowFlutter]float64{{4, 0, 0, 2}, {}, {0, 0, 3, 0}}
	publishedUse      = [3][rowFlutter]string{{"37 % in 90 % of the time", "", "often above 50 %", ""}, {}, {}}
)

func (f *geoLoads) replicas() report.Section {
	sec := report.Section{
		Title: "Figure 8: attempts per task",
		Text: []string{
			"Over tasks, of all runs together, those that end in the second half of the window. An attempt races if it runs when the first of its task ends; GeoClone and Dolly start all attempts of a task together, Mantri gives up " +
				"attempts that are late and starts others, so that more are launched than race. In the picture a dot is a median, and its line goes from the lower quartile to the upper one.",
			"With p the best case, GeoClone's count of four does not come out. Step 1 gives each task of a job at most M/(ε N σ) attempts, of M slots for N jobs with σ tasks that wait each, and step 2 takes nothing " +
				"away while slots are idle. For four attempts there would have to be 30,000/(4 · 0.8) = 9,400 waiting tasks at once, where at light load there are some hundreds. With p the expected time of one attempt the rule " +
				"stops at four attempts when 20 % of the slots are used, and at more when fewer are. The paper's own numbers say that its light load is heavier than ours: Dolly often uses more than half of the slots there.",
		},
	}
	t := report.Table{Name: "figure8", Columns: []string{"load", "policy", "published: 75 %", "racing: 25 %", "50 %", "75 %", "launched: 75 %", "published: slots used", "in 90 % of the time at most (%)", "above 50 % of the slots (% of the time)"}}
	for which, name := range loadNames {
		g := f.at(which)
		for _, p := range geoCloning {
			racing, launched, want, use := g.racing(p), g.launched(p), 0.0, ""
			if p < rowFlutter {
				want, use = publishedReplicas[which][p], publishedUse[which][p]
			}
			upper := racing.quantile(0.75)
			t.Add(name, geoRows[p].name, absent(want), racing.quantile(0.25), racing.quantile(0.5), upper, launched.quantile(0.75),
				use, 100*g.mean(p, func(c *geoCell) float64 { return c.most }).Mean, 100*g.mean(p, aboveHalf).Mean)
			if want > 0 {
				sec.Claims = append(sec.Claims, report.Check(math.Abs(upper-want) <= 2 && upper > 1,
					fmt.Sprintf("%s load: attempts per task of %s, 75th percentile, more than one and within 2", name, geoRows[p].name), fmt.Sprint(want),
					fmt.Sprintf("%g racing, %g launched", upper, launched.quantile(0.75))))
			}
		}
	}
	sec.Tables, sec.Plots = []report.Table{t}, []report.Plot{f.occupied(), f.boxes()}
	if len(f.at(0).racing(rowGeoclone)) == 0 {
		sec.Plots = sec.Plots[:1]
	}
	used := f.at(2).mean(rowFlutter, func(c *geoCell) float64 { return c.used })
	most, often := f.at(0).mean(rowGeoclone, func(c *geoCell) float64 { return c.most }), f.at(0).mean(rowGeoDolly, aboveHalf)
	sec.Claims = append(sec.Claims, judge(used, 0.40, 0.50, "high load: Flutter's attempts use 45 % of the slots, within 5 points", "45 %", percent(used)),
		agrees(most, 0.37, "light load: the share of slots that GeoClone exceeds in a tenth of the time"),
		judge(often, 0.1, 1, "light load: Flutter+Dolly uses more than half of the slots in a tenth of the time or more", "often", percent(often)+" of the time"))
	return sec
}

// aboveHalf is the part of the time in which more than half of the slots were in use.
func aboveHalf(c *geoCell) float64 {
	all, above := 0.0, 0.0
	for percent, seconds := range c.busy {
		if all += seconds; percent >= 50 {
			above += seconds
		}
	}
	return above / max(all, 1e-9)
}

// boxes are the quartiles of Figure 8, side by side at the rates of the three loads.
func (f *geoLoads) boxes() report.Plot {
	plot := report.Plot{Name: "figure8-attempts", Title: "attempts that race: quartiles", X: "λ (jobs/s), policies side by side", Y: "attempts per task", LogY: true}
	for i, p := range geoCloning {
		s := report.Series{Name: geoRows[p].name, Kind: report.Points}
		for which := range loadNames {
			racing := f.at(which).racing(p)
			if len(racing) == 0 {
				continue // no task has ended in the second half of a very short window
			}
			s.X = append(s.X, f.lambdas[0][f.load(0, which)]+0.0025*(float64(i)-float64(len(geoCloning)-1)/2))
			s.Y, s.Low, s.High = append(s.Y, racing.quantile(0.5)), append(s.Low, racing.quantile(0.25)), append(s.High, racing.quantile(0.75))
		}
		plot.Series = append(plot.Series, s)
	}
	return plot
}

// occupied is how much of the time so many slots were in use, at light load.
func (f *geoLoads) occupied() report.Plot {
	plot := report.Plot{Name: "figure8-slots", Title: "slots in use at light load", X: "slots in use (%)", Y: "share of the time at most"}
	for _, p := range geoCloning {
		s, all := report.Series{Name: geoRows[p].name, Kind: report.Steps}, f.at(0).occupancy(p)
		sum, whole := 0.0, 0.0
		for _, seconds := range all {
			whole += seconds
		}
		for percent, seconds := range all {
			if sum += seconds; seconds > 0 {
				s.X, s.Y = append(s.X, float64(percent+1)), append(s.Y, sum/whole)
			}
		}
		plot.Series = append(plot.Series, s)
	}
	return plot
}
