package reproduce

import (
	"context"
	"fmt"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// srewTold is Table 3 again with what policies are told of progress as an axis. SREW itself needs no reports; what it
// is compared with does.
type srewTold struct {
	scale  *srewScale
	kinds  []reportsKind
	rows   []srewRow
	tables []*series // by kind
}

// reportsKind is what a policy is told of an attempt's progress.
type reportsKind struct {
	name string
	sim.Progress
}

// tenSeconds is Mantri's span between reports.
const tenSeconds = 10 * sched.Second

var reportsKinds = []reportsKind{
	{"exact from the launch on", sim.Progress{Exact: true}},
	{"every 10 s, no error", sim.Progress{Every: tenSeconds}},
	{"independent errors of 20 %", sim.Progress{Every: tenSeconds, Noise: 0.2}},
	{"independent errors of 50 %", sim.Progress{Every: tenSeconds, Noise: 0.5}},
	{"persistent errors of 20 %", sim.Progress{Every: tenSeconds, Noise: 0.2, Persists: true}},
	{"persistent errors of 50 %", sim.Progress{Every: tenSeconds, Noise: 0.5, Persists: true}},
}

func newSREWTold(sc *srewScale, o *Options) *srewTold {
	t := &srewTold{scale: sc, kinds: sc.kinds, rows: toldRows}
	small := *sc
	small.window = sc.window / sched.Time(sc.jobs) * sched.Time(sc.toldJobs)
	var specs []string
	for _, r := range t.rows {
		specs = append(specs, r.spec)
	}
	for k := range t.kinds {
		s := newSeries(o.Seed, sc.cluster, sc.told, 1, specs, small.surrogateOf(sc.toldJobs))
		s.reports = &t.kinds[k].Progress
		t.tables = append(t.tables, s)
	}
	return t
}

func (t *srewTold) steps() (steps []func(context.Context) error) {
	for _, s := range t.tables {
		steps = append(steps, s.steps()...)
	}
	return steps
}

func (t *srewTold) sections() []report.Section {
	sec := report.Section{
		Title: "What reports are worth",
		Text: []string{
			fmt.Sprintf("%d workloads of %d jobs in a window of %.0f s, at the load of Table 3. SREW without line 7 looks at no report. The others find stragglers by "+
				"reports: of the remaining time that follows from a report, an error of 20 %% is the standard deviation. An independent error is another in each report, so that a "+
				"later report corrects it. A persistent error is the same in all reports of an attempt, as when an attempt is misjudged for as long as it runs.",
				t.scale.told, t.scale.toldJobs, (t.scale.window / sched.Time(t.scale.jobs) * sched.Time(t.scale.toldJobs)).Seconds()),
			"Real reports have errors of both kinds. The paper does not say which reports its baselines had.",
		},
	}
	flows := report.Table{Name: "reports", Caption: "Mean flow time (s)", Columns: []string{"reports"}}
	less := report.Table{Name: "reports_less", Caption: "By how much SREW+C(0.7) is below (%)", Columns: []string{"reports"}}
	for i, r := range t.rows {
		flows.Columns = append(flows.Columns, r.name(), "±")
		if i > 0 {
			less.Columns = append(less.Columns, r.name(), "±")
		}
	}
	for k, s := range t.tables {
		flow, part := []any{t.kinds[k].name}, []any{t.kinds[k].name}
		for i := range t.rows {
			e := s.Mean(i, sim.MeanFlow)
			flow = append(flow, e.Mean, e.Half)
			if i > 0 {
				e := s.reduction(i)
				part = append(part, 100*e.Mean, 100*e.Half)
				sec.Claims = append(sec.Claims, report.Claim{
					What: fmt.Sprintf("reports %s: SREW+C(0.7) against %s", t.kinds[k].name, t.rows[i].name()), Measured: lessOrMore(e), Verdict: report.Reported,
				})
			}
		}
		flows.Add(flow...)
		less.Add(part...)
	}
	sec.Tables = []report.Table{flows, less}
	for _, persists := range []bool{false, true} {
		sec.Plots = append(sec.Plots, t.plot(persists))
	}
	return []report.Section{sec}
}

// plot shows the mean flow times over the errors of reports that persist, or that do not.
func (t *srewTold) plot(persists bool) report.Plot {
	p := report.Plot{Name: "reports_independent", Title: "Independent errors", X: "error of the remaining time (%)", Y: "mean flow time (s)"}
	if persists {
		p.Name, p.Title = "reports_persistent", "Persistent errors"
	}
	var kinds []int
	var errors []float64
	for k := range t.kinds {
		if x := &t.kinds[k]; x.Every > 0 && (x.Noise == 0 || x.Persists == persists) {
			kinds, errors = append(kinds, k), append(errors, 100*x.Noise)
		}
	}
	for i, r := range t.rows {
		p.Series = append(p.Series, errorBars(r.name(), errors, func(at int) sim.Estimate { return t.tables[kinds[at]].Mean(i, sim.MeanFlow) }))
	}
	return p
}
