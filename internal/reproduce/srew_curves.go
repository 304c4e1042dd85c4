package reproduce

import (
	"fmt"

	"github.com/tailcut/tailcut/internal/report"
)

// cdf is one of Figures 4 and 5: the distribution of flow times of SREW and two baselines, by their places in
// baselines.
type cdf struct {
	name, title string
	rivals      [2]int
	from, to    float64 // seconds
}

var cdfs = []cdf{
	{"figure4a", "Figure 4(a): small jobs", [2]int{0, 3}, 0, 300},
	{"figure4b", "Figure 4(b): large jobs", [2]int{0, 3}, 300, 4000},
	{"figure5a", "Figure 5(a): small jobs", [2]int{1, 2}, 0, 300},
	{"figure5b", "Figure 5(b): large jobs", [2]int{1, 2}, 300, 4000},
}

// curves is Figures 4 and 5, each with the baselines as the authors seem to have run them, and with them at their best.
func (t *table3) curves() report.Section {
	s := t.main
	sec := report.Section{Title: "Figures 4 and 5: distributions of flow times", Text: []string{
		"Each figure twice: first with the baselines as the authors seem to have run them, then with the reading of each that has the smallest mean in Table 3. " +
			"The tables name the readings. There SREW too has a second line, the form of its own rows with the smallest mean.",
	}}
	for _, f := range cdfs {
		p := report.Plot{Name: f.name, Title: f.title, X: "flow time (s)", Y: "share of jobs"}
		best := report.Plot{Name: f.name + "_best", Title: f.title + ", baselines at their best", X: p.X, Y: p.Y}
		p.Series = append(p.Series, f.curve(s, rowSREW))
		best.Series = append(best.Series, f.curve(s, rowSREW), s.curve("SREW at its best", t.bestSREW(), f.from, f.to))
		for _, b := range f.rivals {
			p.Series = append(p.Series, f.curve(s, rowSCA+b))
			best.Series = append(best.Series, s.curve(baselines[b], t.bestReading(baselines[b]), f.from, f.to))
		}
		p.Series = append(p.Series, f.printed())
		sec.Plots = append(sec.Plots, p, best)
	}
	sec.Tables = []report.Table{t.shareTable(), t.shareBeside()}
	for k, at := range []float64{300, 1500} {
		for i, r := range srewRows[:printedRows] {
			if r.shares[k] > 0 {
				sec.Claims = append(sec.Claims, report.Claim{
					What: fmt.Sprintf("share of jobs done within %.0f s under %s", at, r.name()), Published: fmt.Sprintf("%.0f %%", r.shares[k]), Measured: percent(s.share(i, at)),
					Verdict: report.Reported,
				})
			}
		}
	}
	return sec
}

func (f *cdf) curve(s *series, row int) report.Series {
	return s.curve(srewRows[row].name(), row, f.from, f.to)
}

// printed is the shares that the paper prints for the figure.
func (f *cdf) printed() report.Series {
	printed := report.Series{Name: "published", Kind: report.Points, Published: true}
	for _, i := range []int{rowSREW, rowSCA + f.rivals[0], rowSCA + f.rivals[1]} {
		for k, at := range []float64{300, 1500} {
			if y := srewRows[i].shares[k]; y > 0 && (at == 300) == (f.to == 300) {
				printed.X, printed.Y = append(printed.X, at), append(printed.Y, y/100)
			}
		}
	}
	return printed
}

func (t *table3) shareTable() report.Table {
	table := report.Table{Name: "shares", Caption: "Share of jobs done (%)", Columns: []string{"policy"}}
	limits := []float64{60, 150, 300, 600, 1500, 3000}
	for _, at := range limits {
		table.Columns = append(table.Columns, fmt.Sprintf("≤ %.0f s", at), "±")
	}
	for i, r := range srewRows {
		row := []any{r.name()}
		for _, at := range limits {
			e := t.main.share(i, at)
			row = append(row, 100*e.Mean, 100*e.Half)
		}
		table.Add(row...)
	}
	return table
}

// shareBeside says by how much more jobs are done in time under SREW than under each baseline, in both readings.
func (t *table3) shareBeside() report.Table {
	table := report.Table{Name: "shares_baselines", Caption: "Share of jobs done under SREW+C(0.7) beyond that under a baseline (points)", Columns: []string{
		"baseline", "as the authors seem to have run it", "≤ 300 s", "±", "≤ 1500 s", "±", "at its best", "≤ 300 s", "±", "≤ 1500 s", "±",
	}}
	for b, baseline := range baselines {
		row := []any{baseline}
		for _, i := range []int{rowSCA + b, t.bestReading(baseline)} {
			row = append(row, srewRows[i].reading)
			for _, at := range []float64{300, 1500} {
				e := t.main.shareAbove(rowSREW, i, at)
				row = append(row, 100*e.Mean, 100*e.Half)
			}
		}
		table.Add(row...)
	}
	return table
}
