package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// shedSingle is Figures 5 and 6: jobs of 10 tasks with a deadline of 500 s, how long they take and how many slots are
// in use.
type shedSingle struct {
	model shedModel
	seed  uint64
	runs  [][len(shedPolicies)]singleRun // by repetition
}

type singleRun struct {
	flows []float64 // by job, seconds; not a number if it was given up
	met   float64
	used  usage
}

// usage is how many slots were in use, as a step function.
type usage struct {
	sched.Policy
	at   []sched.Time
	live []int
}

// Decide takes a reading after the policy's decision.
func (u *usage) Decide(v *sched.View, act *sched.Actions) {
	u.Policy.Decide(v, act)
	if n := len(u.live); n == 0 || u.live[n-1] != v.Cluster().Live() {
		u.at, u.live = append(u.at, v.Now()), append(u.live, v.Cluster().Live())
	}
}

func newShedSingle(m shedModel, seed uint64, repeats int) *shedSingle {
	return &shedSingle{model: m, seed: seed, runs: make([][len(shedPolicies)]singleRun, repeats)}
}

func (x *shedSingle) steps() (steps []func(context.Context) error) {
	for k := range x.runs {
		steps = append(steps, func(ctx context.Context) error { return x.run(ctx, k) })
	}
	return steps
}

func (x *shedSingle) run(ctx context.Context, k int) error {
	seed := repetition(x.seed, k)
	r := shedRun{model: x.model, slots: shedSlots, seed: seed, launch: shedLaunch, progress: exactly, workload: shedArrivals(alike(shedJobs, 10, 500), shedGap, seed)}
	watch := func(i int, p sched.Policy) sched.Policy {
		x.runs[k][i].used.Policy = p
		return &x.runs[k][i].used
	}
	return r.each(ctx, shedPolicies[:], watch, func(i int, res *sim.Result) {
		run := &x.runs[k][i]
		for j := range res.Jobs {
			flow := (res.Jobs[j].Completion - res.Jobs[j].Arrival).Seconds()
			if res.Jobs[j].Failed {
				flow = math.NaN()
			}
			run.flows = append(run.flows, flow)
		}
		run.met = ratioMet(res.Jobs)
	})
}

func (x *shedSingle) section() report.Section {
	prefix := slug(x.model.name)
	s := report.Section{Title: "Figures 5 and 6: " + x.model.name, Text: []string{
		"Jobs of 10 tasks, deadline 500 s: the times that jobs take, and the slots in use, in the first hour of the first repetition. Utilisation is the time average.",
		"Times are of the jobs that were done. A policy is compared with Hadoop over the jobs that were done under both.",
	}}
	t := report.Table{Name: "figure5_" + prefix, Columns: []string{
		"policy", "done by 500 s", "published", "mean (s)", "published (s)", "slowest (s)", "published (s) ", "given up", "less than Hadoop (s)", "±", "over jobs", "utilisation", "published ",
	}}
	cdf := report.Plot{Name: t.Name + "_plot", Title: "Figure 5: " + x.model.name, X: "job time (s)", Y: "share of jobs", LogX: true}
	busy := report.Plot{Name: "figure6_" + prefix + "_plot", Title: "Figure 6: " + x.model.name, X: "time (s)", Y: "share of the slots in use"}
	published := [len(shedPolicies)][4]string{{"almost all", "457", "about 500", "above 0.9 attainable"}, {"0.10", "645", "1000", "0.22"}, {"0.10", "645", "1000", "0.22"}, {"0.20", "615", "900", "0.20 to 0.22"}}
	for p, name := range shedNames {
		var flows, met, used []float64
		all := 0
		for k := range x.runs {
			run := &x.runs[k][p]
			all += len(run.flows)
			flows, met, used = append(flows, done(run.flows)...), append(met, run.met), append(used, run.used.mean())
		}
		slices.Sort(flows)
		against := []any{nil, nil, nil}
		if p != hadoopColumn {
			longer, jobs := x.against(p, hadoopColumn)
			against = []any{-longer.Mean, longer.Half, jobs}
		}
		row := []any{
			name, sim.EstimateOf(met).Mean, published[p][0], sim.EstimateOf(flows).Mean, published[p][1], slowest(flows), published[p][2], float64(all-len(flows)) / float64(all),
		}
		t.Add(append(append(row, against...), sim.EstimateOf(used).Mean/shedSlots, published[p][3])...)
		cdf.Series = append(cdf.Series, distribution(name, flows, all))
		busy.Series = append(busy.Series, x.runs[0][p].used.series(name, 3600*sched.Second))
	}
	s.Tables, s.Plots = []report.Table{t}, []report.Plot{cdf, busy}
	s.Claims = []report.Claim{{
		What: x.model.name + ": share of the slots in use under Shed, Dolly and Hadoop", Published: "up to 0.9, 0.22, 0.20 to 0.22", Verdict: report.Reported,
		Measured: fmt.Sprintf("%.2f, %.2f, %.2f", t.Rows[0][11], t.Rows[1][11], t.Rows[hadoopColumn][11]),
	}}
	return s
}

// done returns the flow times of the jobs that were done.
func done(flows []float64) (all []float64) {
	for _, f := range flows {
		if !math.IsNaN(f) {
			all = append(all, f)
		}
	}
	return all
}

// slowest returns the last of sorted flow times, nil if there are none.
func slowest(sorted []float64) any {
	if len(sorted) == 0 {
		return nil
	}
	return sorted[len(sorted)-1]
}

// against estimates by how much longer jobs take under one policy than under another, over those that were done under
// both, and says how many these are in all repetitions.
func (x *shedSingle) against(policy, other int) (longer sim.Estimate, jobs int) {
	var differences []float64
	for k := range x.runs {
		sum, n := 0.0, 0
		for j, ours := range x.runs[k][policy].flows {
			if d := ours - x.runs[k][other].flows[j]; !math.IsNaN(d) {
				sum += d
				n++
			}
		}
		if n > 0 {
			differences = append(differences, sum/float64(n))
			jobs += n
		}
	}
	return sim.EstimateOf(differences), jobs
}

// distribution is the share of all jobs that were done by then, from the sorted flow times of those that were, at no
// more than 200 points.
func distribution(name string, sorted []float64, all int) report.Series {
	series := report.Series{Name: name, Kind: report.Steps}
	step := max(1, len(sorted)/200)
	for i := step - 1; i < len(sorted); i += step {
		series.X, series.Y = append(series.X, sorted[i]), append(series.Y, float64(i+1)/float64(all))
	}
	return series
}

// mean returns the time average.
func (u *usage) mean() float64 {
	var sum float64
	for i := 1; i < len(u.at); i++ {
		sum += float64(u.live[i-1]) * (u.at[i] - u.at[i-1]).Seconds()
	}
	return sum / (u.at[len(u.at)-1] - u.at[0]).Seconds()
}

func (u *usage) series(name string, until sched.Time) report.Series {
	series := report.Series{Name: name, Kind: report.Steps}
	for i, at := range u.at {
		if at > until {
			break
		}
		series.X, series.Y = append(series.X, at.Seconds()), append(series.Y, float64(u.live[i])/shedSlots)
	}
	return series
}
