package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/trace"
)

// srewReality is Table 3 on real jobs: 6,939 of the Google trace, with every task's duration.
type srewReality struct {
	note     string // why there is none
	runs     int
	clusters []int
	loads    []float64
	tables   []*series // by cluster
}

// realLoad is the load of the surrogate on the paper's cluster.
const realLoad = 0.55

func newSREWReality(sc *srewScale, o *Options) (*srewReality, error) {
	r := &srewReality{runs: sc.real}
	if sc.real == 0 {
		return r, nil
	}
	path, ok := o.Trace("google-2011", "GOOG_subtrace.first7000.tr.gz")
	if !ok {
		r.note = "Skipped, because the folder of traces lacks it: google-2011/GOOG_subtrace.first7000.tr.gz, 7,000 real jobs of the Google trace."
		return r, nil
	}
	all, err := trace.Load(path, nil, o.Seed)
	if err != nil {
		return nil, err
	}
	w, err := (&trace.Filter{Skip: 61}).Apply(all)
	if err != nil {
		return nil, err
	}
	busy := w.WorkSeconds() / w.Horizon().Seconds()
	for _, machines := range []int{int(math.Round(busy/realLoad/100)) * 100, srewMachines} {
		r.clusters, r.loads = append(r.clusters, machines), append(r.loads, busy/float64(machines))
		r.tables = append(r.tables, newSeries(o.Seed, machines, 1, sc.real, specsOfRows(srewRows), func(uint64) (*trace.Workload, error) { return w, nil }))
	}
	return r, nil
}

func (r *srewReality) steps() (steps []func(context.Context) error) {
	for _, s := range r.tables {
		steps = append(steps, s.steps()...)
	}
	return steps
}

func (r *srewReality) sections() []report.Section {
	if r.runs == 0 {
		return nil
	}
	sec := report.Section{Title: "Table 3 on real jobs"}
	if r.note != "" {
		sec.Text = []string{r.note}
		return []report.Section{sec}
	}
	sec.Text = []string{
		fmt.Sprintf("6,939 jobs of the same trace, with every task's duration, that arrived within seven hours: the first 7,000 of a public extract without the 61 that came long before the others. "+
			"%d runs with different random draws for clones; ± covers only these.", r.runs),
		"What the paper claims is not enforced here, because these are not its jobs: most have a single task, of which a clone in this service model lasts exactly as long, and a few have " +
			"tasks that last for days. Where SREW is worse, its rule explains it: SREW fills free slots with clones, which are not preempted, and later jobs wait until clones end.",
	}
	for k, s := range r.tables {
		where := fmt.Sprintf("%d machines, load %.2f", r.clusters[k], r.loads[k])
		sec.Tables = append(sec.Tables, flowTable(fmt.Sprintf("real%d", r.clusters[k]), where, s, realRows()))
		for _, c := range reductionClaims(s, "real jobs, "+where+": ") {
			c.Verdict = report.Reported
			sec.Claims = append(sec.Claims, c)
		}
	}
	return []report.Section{sec}
}

// realRows are the rows without the published numbers, which are about other jobs.
func realRows() (rows []srewRow) {
	for _, r := range srewRows {
		rows = append(rows, srewRow{policy: r.policy, reading: r.reading, spec: r.spec})
	}
	return rows
}
