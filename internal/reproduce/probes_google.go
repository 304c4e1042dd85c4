package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// probesGoogle is Hawk's comparison on one kind of workload: percentiles of the flow times of short and of long jobs,
// relative to Sparrow's, by the size of the cluster.
type probesGoogle struct {
	name, title string
	text        []string
	judged      bool // the published numbers are about such a workload
	rows        []probesRow
	loads       []float64
	tables      []*byLength // by load
}

// longTasks is Hawk's cutoff for the Google trace: a job is long if its tasks take longer on average.
const longTasks = 1129 * sched.Second

// Lengths of jobs, and the percentiles that are compared.
const (
	short = iota
	long
)

var (
	lengths     = [...]string{"short", "long"}
	percentiles = [...]float64{0.5, 0.9}
)

// byLength is a series with the percentiles of flow times.
type byLength struct {
	*series
	flows [][][2][2]float64 // by policy and run: seconds by length and percentile
}

func newByLength(s *series) *byLength {
	b := &byLength{series: s, flows: make([][][2][2]float64, len(s.policies))}
	for p := range b.flows {
		b.flows[p] = make([][2][2]float64, s.Runs)
	}
	s.limits = sched.DefaultLimits()
	s.reports = &sim.Progress{}
	s.seen = func(policy, at int, w *trace.Workload, jobs []sim.JobResult) {
		var all [2][]float64
		for i := range jobs {
			if x := &jobs[i]; !x.Failed {
				k := lengthOf(w, i)
				all[k] = append(all[k], (x.Completion - x.Arrival).Seconds())
			}
		}
		for k := range all {
			slices.Sort(all[k])
			for q, share := range percentiles {
				if n := len(all[k]); n > 0 {
					b.flows[policy][at][k][q] = all[k][max(0, int(math.Ceil(share*float64(n)))-1)]
				}
			}
		}
	}
	return b
}

// lengthOf tells whether a job is short or long, by what the workload states for its tasks.
func lengthOf(w *trace.Workload, j int) int {
	work, tasks := sched.Time(0), sched.Time(0)
	for _, st := range w.StagesOf(j) {
		work += st.Mean * sched.Time(st.Tasks)
		tasks += sched.Time(st.Tasks)
	}
	if work > longTasks*tasks {
		return long
	}
	return short
}

// flow estimates a percentile of a policy's flow times, ratio what it is relative to Sparrow's.
func (b *byLength) flow(policy, length, q int) sim.Estimate {
	all := make([]float64, b.Runs)
	for k := range all {
		all[k] = b.flows[policy][k][length][q]
	}
	return sim.EstimateOf(all)
}

func (b *byLength) ratio(policy, length, q int) sim.Estimate {
	all := make([]float64, b.Runs)
	for k := range all {
		all[k] = b.flows[policy][k][length][q] / b.flows[rowSparrow][k][length][q]
	}
	return sim.EstimateOf(all)
}

// busy returns how many slots would be in use on average while jobs arrive, if each task began when its job arrives.
func busy(w *trace.Workload) float64 {
	last, sum := w.Jobs[len(w.Jobs)-1].Arrival, 0.0
	for j := range w.Jobs {
		left := last - w.Jobs[j].Arrival
		for _, st := range w.StagesOf(j) {
			for _, d := range w.DurationsOf(&st) {
				sum += min(d, left).Seconds()
			}
		}
	}
	return sum / w.Horizon().Seconds()
}

// newProbesReal is the comparison on real jobs.
func newProbesReal(sc *probesScale, o *Options) (*probesGoogle, error) {
	x := &probesGoogle{name: "google", title: "Hawk against Sparrow: the Google trace", rows: sc.rows, loads: sc.loads, judged: true}
	path, ok := o.Trace("google-2011", "GOOG_subtrace.first7000.tr.gz")
	if !ok {
		x.text = []string{"Skipped, because the folder of traces lacks it: google-2011/GOOG_subtrace.first7000.tr.gz, 7,000 real jobs of the Google trace."}
		return x, nil
	}
	all, err := trace.Load(path, nil, o.Seed)
	if err != nil {
		return nil, err
	}
	only := trace.Filter{Skip: 61}
	if sc.window > 0 {
		only.To = all.Jobs[only.Skip].Arrival + sched.Time(sc.window)*sched.Second
	}
	w, err := only.Apply(all)
	if err != nil {
		return nil, err
	}
	x.describe(w, "jobs of the Google trace of 2011, with every task's duration, that arrived within %.1f hours: the first 7,000 of a public extract without the 61 that came long before the others. "+
		"The paper has 506,460 jobs of a month. All repetitions are on these jobs, so ± covers only the draws of probes, steals and clones.")
	x.simulate(sc, o, busy(w), 1, sc.runs, func(uint64) (*trace.Workload, error) { return w, nil })
	return x, nil
}

// newProbesSurrogate is the comparison on workloads drawn anew for each repetition.
func newProbesSurrogate(sc *probesScale, o *Options) (*probesGoogle, error) {
	x := &probesGoogle{name: "surrogate", title: "The same on a surrogate", rows: sc.rows, loads: sc.loads}
	if sc.surrogate == 0 {
		return x, nil
	}
	draw := func(seed uint64) (*trace.Workload, error) {
		g := trace.DefaultGoogleJobs(seed)
		g.Window = g.Window / sched.Time(g.Jobs) * sched.Time(sc.surrogate)
		g.Jobs = sc.surrogate
		return g.Workload("surrogate")
	}
	used := 0.0
	for k := range sc.runs {
		w, err := draw(sim.RunSeed(o.Seed, k))
		if err != nil {
			return nil, err
		}
		used += busy(w) / float64(sc.runs)
		if k == 0 {
			x.describe(w, "jobs of synth:google in a window of %.1f hours, drawn anew for each repetition. These are fitted to the jobs of SREW's extract, of which each has many tasks; shares are of the first repetition. "+
				"The load is the average over repetitions.")
		}
	}
	x.simulate(sc, o, used, sc.runs, 1, draw)
	return x, nil
}

// describe says what a workload consists of.
func (x *probesGoogle) describe(w *trace.Workload, format string) {
	var jobs [2]float64
	var work [2]float64
	for j := range w.Jobs {
		k := lengthOf(w, j)
		jobs[k]++
		for _, st := range w.StagesOf(j) {
			for _, d := range w.DurationsOf(&st) {
				work[k] += d.Seconds()
			}
		}
	}
	x.text = []string{
		fmt.Sprintf("%d "+format, len(w.Jobs), w.Horizon().Seconds()/3600),
		fmt.Sprintf("A job is long if its tasks take longer than 1,129 s on average, as in the paper: %.1f %% of the jobs, with %.1f %% of the work. In the paper it is 10 %% and 83.65 %%.",
			100*jobs[long]/float64(len(w.Jobs)), 100*work[long]/(work[short]+work[long])),
		"The load is the slots that would be in use on average while jobs arrive, if no task had to wait, by the slots of the cluster. After the last arrival the cluster runs empty. " +
			"Policies with clones run under the default limits, and nobody reports progress. A clone lasts as long as a random task of its job.",
	}
}

func (x *probesGoogle) simulate(sc *probesScale, o *Options, used float64, workloads, runs int, draw func(uint64) (*trace.Workload, error)) {
	for _, load := range sc.loads {
		x.tables = append(x.tables, newByLength(newSeries(o.Seed, int(math.Round(used/load)), workloads, runs, specsOf(sc.rows), draw)))
	}
}

func (x *probesGoogle) steps() (steps []func(context.Context) error) {
	for _, b := range x.tables {
		steps = append(steps, b.steps()...)
	}
	return steps
}

func (x *probesGoogle) sections() []report.Section {
	if x.text == nil {
		return nil
	}
	sec := report.Section{Title: x.title, Text: x.text}
	if x.tables == nil {
		return []report.Section{sec}
	}
	sec.Tables = []report.Table{x.table(short), x.table(long)}
	sec.Plots = []report.Plot{x.hawk(), x.all(short), x.all(long)}
	sec.Claims = x.claims()
	return []report.Section{sec}
}

// table has the percentiles of one length of jobs.
func (x *probesGoogle) table(length int) report.Table {
	t := report.Table{
		Name: x.name + "_" + lengths[length], Caption: "Flow times of " + lengths[length] + " jobs",
		Columns: []string{"load", "machines", "policy", "p50 (s)", "±", "p90 (s)", "±", "p50 by Sparrow's", "±", "p90 by Sparrow's", "±"},
	}
	for k, b := range x.tables {
		for p, r := range x.rows {
			row := []any{x.loads[k], b.machines, r.name}
			for q := range percentiles {
				e := b.flow(p, length, q)
				row = append(row, e.Mean, e.Half)
			}
			for q := range percentiles {
				e := b.ratio(p, length, q)
				row = append(row, e.Mean, e.Half)
			}
			t.Add(row...)
		}
	}
	return t
}

// hawk is Hawk's figure: its percentiles by Sparrow's.
func (x *probesGoogle) hawk() report.Plot {
	p := report.Plot{Name: x.name + "_hawk", Title: "Hawk by Sparrow", X: "load", Y: "flow time by Sparrow's"}
	for length, name := range lengths {
		for q, at := range percentiles {
			p.Series = append(p.Series, errorBars(fmt.Sprintf("%s jobs, p%.0f", name, 100*at), x.loads, func(k int) sim.Estimate { return x.tables[k].ratio(rowHawk, length, q) }))
		}
	}
	return p
}

// all is the 90th percentile of all policies by Sparrow's.
func (x *probesGoogle) all(length int) report.Plot {
	p := report.Plot{Name: x.name + "_" + lengths[length], Title: "p90 of " + lengths[length] + " jobs", X: "load", Y: "flow time by Sparrow's", LogY: true}
	for i, r := range x.rows[1:] {
		p.Series = append(p.Series, errorBars(r.name, x.loads, func(k int) sim.Estimate { return x.tables[k].ratio(i+1, length, 1) }))
	}
	return p
}

// claims are Hawk's and Eagle's. The published sizes are about the paper's jobs under high load.
func (x *probesGoogle) claims() (claims []report.Claim) {
	published := [2][2]string{{"80 % less", "90 % less"}, {"35 % less", "10 % less"}}
	below := math.Nextafter(1, 0)
	for k, b := range x.tables {
		where := fmt.Sprintf("%s, load %.1f: ", x.name, x.loads[k])
		for q, at := range percentiles {
			less := func(policy, length int) (e sim.Estimate, measured string) {
				e = b.ratio(policy, length, q)
				return e, lessOrMore(sim.Estimate{Mean: 1 - e.Mean, Half: e.Half, N: e.N})
			}
			add := func(policy, length int, low, high float64, what, print string) {
				e, measured := less(policy, length)
				c := judge(e, low, high, fmt.Sprintf("%sp%.0f of %s jobs: %s", where, 100*at, lengths[length], what), print, measured)
				if !x.judged {
					c.Verdict = report.Reported
				}
				claims = append(claims, c)
			}
			if x.loads[k] >= 0.8 {
				add(rowHawk, short, 0, below, "Hawk is below Sparrow", published[short][q])
				add(rowHawk, long, 0, 1.05, "Hawk is not above Sparrow by more than 5 %", published[long][q])
				add(rowEagle, short, 0, below, "Eagle is below Sparrow", "")
			}
		}
	}
	if x.judged {
		claims = append(claims, x.largest(0, 0.2), x.largest(1, 0.1))
	}
	return claims
}

// largest is the claim that at some load a percentile of short jobs is by Sparrow's what Hawk prints, within ten
// points.
func (x *probesGoogle) largest(q int, printed float64) report.Claim {
	best, at := sim.Estimate{Mean: math.Inf(1)}, 0.0
	for k, b := range x.tables {
		if e := b.ratio(rowHawk, short, q); e.Mean < best.Mean {
			best, at = e, x.loads[k]
		}
	}
	what := fmt.Sprintf("%s, p%.0f of short jobs: Hawk's largest gain on Sparrow is the published one, within 10 points", x.name, 100*percentiles[q])
	less := sim.Estimate{Mean: 1 - best.Mean, Half: best.Half, N: best.N}
	return judge(best, printed-0.1, printed+0.1, what, fmt.Sprintf("%.0f %% less", 100*(1-printed)), fmt.Sprintf("%s, at a load of %.1f", lessOrMore(less), at))
}
