package reproduce

import (
	"context"
	"fmt"

	"github.com/tailcut/tailcut/report"
	"github.com/tailcut/tailcut/sim"
)

// shedFigure is Figures 2 and 3 under one model: PoCD against the deadline, for jobs of 5, 10 and 20 tasks.
type shedFigure struct {
	model shedModel
	seed  uint64
	met   [len(shedClasses)][len(shedDeadlines)][][]float64 // by repetition, then policy
}

func newShedFigure(m shedModel, seed uint64, repeats int) *shedFigure {
	f := &shedFigure{model: m, seed: seed}
	for c := range shedClasses {
		for d := range shedDeadlines {
			f.met[c][d] = make([][]float64, repeats)
		}
	}
	return f
}

func (f *shedFigure) steps() (steps []func(context.Context) error) {
	for c, tasks := range shedClasses {
		for d, deadline := range shedDeadlines {
			for k := range f.met[c][d] {
				steps = append(steps, func(ctx context.Context) (err error) {
					seed := repetition(f.seed, k)
					r := shedRun{
						model: f.model, slots: shedSlots, seed: seed, progress: exactly,
						workload: shedArrivals(alike(shedJobs, tasks, float64(deadline)), shedGap, seed),
					}
					f.met[c][d][k], err = r.met(ctx, shedPolicies[:])
					return err
				})
			}
		}
	}
	return steps
}

// at estimates the PoCD of a policy.
func (f *shedFigure) at(class, deadline, policy int) sim.Estimate {
	return column(f.met[class][deadline], policy)
}

// column estimates a mean from one column of repetitions.
func column(rows [][]float64, i int) sim.Estimate {
	var x []float64
	for _, row := range rows {
		x = append(x, row[i])
	}
	return sim.EstimateOf(x)
}

func (f *shedFigure) section() report.Section {
	s := report.Section{
		Title: "Figures 2 and 3: " + f.model.name,
		Text: []string{
			f.model.about + " The paper's curves have no printed values but these: Shed up to 100 %, Hadoop around 40 % in most settings, Dolly around 60 %.",
			"Dolly has two columns: the number of attempts as Dolly's authors have it, and with the exponent 1/p as printed here. Its p is the share of jobs that are late under " +
				"Hadoop, so where that does well Dolly clones little, and a looser deadline can leave it worse off. So Dolly's order is judged on average, and where attempts " +
				"are independent; the paper's own Figure 5 has it below Hadoop.",
		},
	}
	prefix := slug(f.model.name)
	for c, tasks := range shedClasses {
		table := report.Table{
			Name: fmt.Sprintf("figure2_%s_%d", prefix, tasks), Caption: fmt.Sprintf("PoCD, jobs of %d tasks", tasks),
			Columns: []string{"deadline (s)", "Shed", "±", "Dolly", "±", "Dolly as printed", "±", "Hadoop", "±", "no clones, reckoned"},
		}
		plot := report.Plot{
			Name: table.Name + "_plot", Title: fmt.Sprintf("Figure 2(%c): %d tasks, %s", 'a'+c, tasks, f.model.name), X: "deadline (s)", Y: "PoCD",
		}
		for p, name := range shedNames {
			series := report.Series{Name: name, Kind: report.Line}
			for d, deadline := range shedDeadlines {
				e := f.at(c, d, p)
				series.X, series.Y = append(series.X, float64(deadline)), append(series.Y, e.Mean)
				series.Low, series.High = append(series.Low, e.Mean-e.Half), append(series.High, e.Mean+e.Half)
			}
			plot.Series = append(plot.Series, series)
		}
		for d, deadline := range shedDeadlines {
			row := []any{deadline}
			for p := range shedPolicies {
				e := f.at(c, d, p)
				row = append(row, e.Mean, e.Half)
			}
			table.Add(append(row, noClones(f.model.law, tasks, float64(deadline)))...)
		}
		s.Tables, s.Plots = append(s.Tables, table), append(s.Plots, plot)
	}
	s.Claims = f.claims()
	return s
}

// slack is by how much a mean of repetitions may fall short of what it is compared with.
const shedSlack = 0.05

// hadoopColumn is Hadoop's place in shedPolicies; Shed's is the first, and the two forms of Dolly are between.
const hadoopColumn = len(shedPolicies) - 1

func (f *shedFigure) claims() []report.Claim {
	last := len(shedDeadlines) - 1
	loose, lead, fall := 1.0, 1.0, 0.0
	var sum [len(shedPolicies)]float64
	dolly := 0 // settings in which Dolly is better than Hadoop
	for c := range shedClasses {
		loose = min(loose, f.at(c, last, 0).Mean)
		for d := range shedDeadlines {
			var m [len(shedPolicies)]float64
			for p := range shedPolicies {
				m[p] = f.at(c, d, p).Mean
				sum[p] += m[p]
				lead = min(lead, m[0]-m[p])
				if d > 0 && (p == 0 || p == hadoopColumn) {
					fall = max(fall, f.at(c, d-1, p).Mean-m[p])
				}
			}
			if m[1] >= m[hadoopColumn]-shedSlack {
				dolly++
			}
		}
	}
	settings := len(shedClasses) * len(shedDeadlines)
	n := float64(settings)
	claims := []report.Claim{
		report.Check(loose >= 0.95, f.model.name+": Shed meets nearly all deadlines of 620 s; least of the classes, at least 0.95", "up to 1", fmt.Sprintf("%.3f", loose)),
		report.Check(lead >= -shedSlack, f.model.name+": Shed is no worse than Dolly and Hadoop in any setting; least difference, at least -0.05", "much better", fmt.Sprintf("%+.3f", lead)),
		{What: f.model.name + ": settings in which Dolly is no worse than Hadoop, but for 0.05", Published: "most", Measured: fmt.Sprintf("%d of %d", dolly, settings), Verdict: report.Reported},
		report.Check(fall <= shedSlack, f.model.name+": PoCD of Shed and Hadoop rises with the deadline; largest fall, at most 0.05", "rises", fmt.Sprintf("%.3f", fall)),
		{
			What: f.model.name + ": PoCD on average over all settings", Published: "Shed near 1, Dolly around 0.6, Hadoop around 0.4", Verdict: report.Reported,
			Measured: fmt.Sprintf("Shed %.2f, Dolly %.2f (as printed %.2f), Hadoop %.2f", sum[0]/n, sum[1]/n, sum[2]/n, sum[hadoopColumn]/n),
		},
	}
	if !f.model.contended {
		over := (sum[1] - sum[hadoopColumn]) / n
		claims = append(claims, report.Check(over >= -shedSlack, f.model.name+": Dolly is no worse than Hadoop on average; difference, at least -0.05", "+0.2", fmt.Sprintf("%+.3f", over)))
	}
	return claims
}

// slug makes one word of a name.
func slug(name string) string {
	b := []byte(name)
	for i, c := range b {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9') {
			b[i] = '_'
		}
	}
	return string(b)
}
