package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sim"
)

// shedFigure is Figures 2 and 3 under one model: PoCD against the deadline, for jobs of 5, 10 and 20 tasks.
type shedFigure struct {
	model shedModel
	seed  uint64
	met   [len(shedClasses)][len(shedDeadlines)][][]float64 // by repetition, then policy
	lost  [len(shedClasses)][len(shedDeadlines)][][]float64 // likewise, the share of jobs that it gave up
}

func newShedFigure(m shedModel, seed uint64, repeats int) *shedFigure {
	f := &shedFigure{model: m, seed: seed}
	for c := range shedClasses {
		for d := range shedDeadlines {
			f.met[c][d], f.lost[c][d] = make([][]float64, repeats), make([][]float64, repeats)
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
						model: f.model, slots: shedSlots, seed: seed, launch: shedLaunch, progress: exactly,
						workload: shedArrivals(alike(shedJobs, tasks, float64(deadline)), shedGap, seed),
					}
					f.met[c][d][k], f.lost[c][d][k], err = r.met(ctx, shedPolicies[:])
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
				"Hadoop, so where that does well Dolly clones little, and a looser deadline can leave it worse off. The paper's own Figure 5 has it below Hadoop.",
			gaveUpText,
		},
	}
	prefix := slug(f.model.name)
	for c, tasks := range shedClasses {
		table := report.Table{
			Name: fmt.Sprintf("figure2_%s_%d", prefix, tasks), Caption: fmt.Sprintf("PoCD, jobs of %d tasks", tasks),
			Columns: []string{"deadline (s)", "Shed", "±", "Dolly", "±", "Dolly as printed", "±", "Hadoop", "±", "no clones, computed", "given up by Shed"},
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
			table.Add(append(row, noClones(f.model.law, tasks, float64(deadline)), column(f.lost[c][d], 0).Mean)...)
		}
		s.Tables, s.Plots = append(s.Tables, table), append(s.Plots, plot)
	}
	s.Claims = f.claims()
	return s
}

// gaveUpText is said of all tables with the share of deadlines met.
const gaveUpText = "A job that Shed gives up, because its deadline has passed, counts as one that missed it. The other policies give up none."

// slack is by how much a mean of repetitions may fall short of what it is compared with.
const shedSlack = 0.05

// hadoopColumn is Hadoop's place in shedPolicies; Shed's is the first, and the two forms of Dolly are between.
const hadoopColumn = len(shedPolicies) - 1

func (f *shedFigure) claims() []report.Claim {
	var sum [len(shedPolicies)]float64
	loose, lead, fall, dolly := worst{}, worst{}, worst{}, worst{}
	for c, tasks := range shedClasses {
		for d, deadline := range shedDeadlines {
			rows := f.met[c][d]
			where := fmt.Sprintf("%d tasks, %d s", tasks, deadline)
			for p := range shedPolicies {
				sum[p] += column(rows, p).Mean
				if p > 0 {
					lead.add(difference(rows, 0, rows, p), where+", "+shedNames[p])
				}
				if d > 0 && (p == 0 || p == hadoopColumn) {
					fall.add(difference(rows, p, f.met[c][d-1], p), where+", "+shedNames[p])
				}
			}
			dolly.add(difference(rows, 1, rows, hadoopColumn), where)
			if d == len(shedDeadlines)-1 {
				loose.add(column(rows, 0), where)
			}
		}
	}
	n := float64(len(shedClasses) * len(shedDeadlines))
	at := f.model.name + ": "
	return []report.Claim{
		loose.atLeast(0.95, at+"Shed meets at least 0.95 of the deadlines of 620 s, in each class", "up to 1"),
		lead.atLeast(-shedSlack, at+"Shed is no worse than Dolly and Hadoop in any setting, within 0.05", "much better"),
		dolly.atLeast(-shedSlack, at+"Dolly is no worse than Hadoop in any setting, within 0.05", "better in most"),
		fall.atLeast(-shedSlack, at+"PoCD of Shed and Hadoop rises with the deadline, within 0.05", "rises"),
		{
			What: at + "PoCD on average over all settings", Published: "Shed near 1, Dolly around 0.6, Hadoop around 0.4", Verdict: report.Reported,
			Measured: fmt.Sprintf("Shed %.2f, Dolly %.2f (as printed %.2f), Hadoop %.2f", sum[0]/n, sum[1]/n, sum[2]/n, sum[hadoopColumn]/n),
		},
	}
}

// difference estimates by how much one column of repetitions is above another, of repetitions that had the same jobs.
func difference(rows [][]float64, i int, others [][]float64, j int) sim.Estimate {
	var x []float64
	for k := range rows {
		x = append(x, rows[k][i]-others[k][j])
	}
	return sim.EstimateOf(x)
}

// worst is the least of several estimates, and where it is.
type worst struct {
	sim.Estimate
	where string
	some  bool
}

func (w *worst) add(e sim.Estimate, where string) {
	if !w.some || e.Mean < w.Mean {
		*w = worst{e, where, true}
	}
}

// atLeast is the claim that none of them is below a bound.
func (w *worst) atLeast(low float64, what, published string) report.Claim {
	return judge(w.Estimate, low, math.Inf(1), what, published, fmt.Sprintf("least %.3f ± %.3f (%s)", w.Mean, w.Half, w.where))
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
