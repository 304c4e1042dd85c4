//go:build long

package advice

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/durations"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

var writeGoogle = flag.Bool("write-google", false, "write docs/explain/plan-google.md")

// googleRuns is how often the simulator runs each job under each policy.
const googleRuns = 100

// googleJob is a row of the table: what Spark's defaults, and the settings recommended within two budgets, do in the simulator.
type googleJob struct {
	number, tasks                  int
	none, defaults, budget, thrift simulated
	budgetSettings, thriftSettings string
}

// simulated are the means of latency and machine time, seconds, and of their differences from Spark's defaults run by run, with half the
// width of an interval of 95 %.
type simulated struct {
	latency, cost         float64
	saved, savedHalf      float64
	costSaved, costMargin float64
}

// The settings that plan fork recommends for Spark, against Spark's defaults, in the simulator on each of the 77 heavy-tailed jobs of the Google
// trace: originals and clones drawn from the job's durations, a machine for every attempt, and a random seed of their own.
func TestSparkSettingsOnGoogleJobs(t *testing.T) {
	folder := os.Getenv("TAILCUT_TRACES")
	w, err := trace.Load(filepath.Join(folder, "google-2011", "GOOG_heavy_tail_jobs.tr.gz"), nil, 0)
	if err != nil {
		t.Skip("no Google traces here: ", err)
	}
	var rows []googleJob
	for i := range w.Jobs {
		rows = append(rows, planGoogleJob(t, w, i))
	}
	text, faster, slower := googleTable(rows)
	if len(rows) != 77 || faster < 20 || slower > 0 {
		t.Errorf("%d jobs; with the machine time of Spark's defaults %d are faster and %d are slower", len(rows), faster, slower)
	}
	if *writeGoogle {
		if err := os.WriteFile("../../docs/explain/plan-google.md", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Log("\n" + text)
}

func planGoogleJob(t *testing.T, w *trace.Workload, i int) googleJob {
	job := &w.Jobs[i]
	var values []float64
	for _, st := range w.Stages[job.FirstStage : job.FirstStage+job.Stages] {
		for _, d := range w.Durations[st.FirstTask : st.FirstTask+st.Tasks] {
			values = append(values, d.Seconds())
		}
	}
	sample, err := durations.New(values, nil)
	if err != nil {
		t.Fatal(err)
	}
	row := googleJob{number: i, tasks: len(values)}
	specs := []string{"spark", "fifo"}
	recommend := func(now string) (settings string) {
		r := Defaults()
		r.Sample, r.Tasks, r.Now, r.MaxClones, r.Lambda = sample, len(values), now, 1, 0
		a, err := Recommend(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		if a.spark == nil {
			return ""
		}
		return fmt.Sprintf("quantile=%s,multiplier=%g", a.spark.quantile, a.spark.multiplier)
	}
	row.budgetSettings, row.thriftSettings = recommend(""), recommend("spark")
	for _, s := range []string{row.budgetSettings, row.thriftSettings} {
		if s != "" {
			specs = append(specs, "spark:"+s)
		}
	}
	all := simulateGoogle(t, values, sample.Law, specs)
	row.defaults, row.none = all[0], all[1]
	next := 2
	if row.budgetSettings != "" {
		row.budget = all[next]
		next++
	}
	if row.thriftSettings != "" {
		row.thrift = all[next]
	}
	return row
}

// simulateGoogle runs a job under policies, of which the first is what the others are compared with.
func simulateGoogle(t *testing.T, values []float64, l laws.Law, specs []string) []simulated {
	var line strings.Builder
	fmt.Fprintf(&line, "0 %d %g", len(values), l.Mean())
	for _, v := range values {
		fmt.Fprintf(&line, " %g", v)
	}
	file := filepath.Join(t.TempDir(), "job.tr")
	if err := os.WriteFile(file, []byte(line.String()+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	w, err := trace.Load(file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	latency, cost := make([][]float64, len(specs)), make([][]float64, len(specs))
	e := sim.Experiment{Workload: w, Runs: googleRuns, Options: sim.Options{
		Machines: 2 * len(values), Limits: sched.NoLimits(), Model: sim.OneLaw(l), Seed: 20111,
	}}
	for _, spec := range specs {
		e.Policies = append(e.Policies, sim.Candidate{Name: spec, New: func(seed uint64) (sched.Policy, error) { return policy.New(spec, seed) }})
	}
	e.Done = func(c *sim.Cell, jobs []sim.JobResult) error {
		latency[c.Policy] = append(latency[c.Policy], (jobs[0].Completion - jobs[0].Arrival).Seconds())
		cost[c.Policy] = append(cost[c.Policy], (jobs[0].Fruitful + jobs[0].Fruitless).Seconds())
		return nil
	}
	if _, err := e.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	all := make([]simulated, len(specs))
	for p := range specs {
		dt, dc := make([]float64, googleRuns), make([]float64, googleRuns)
		for k := range dt {
			dt[k], dc[k] = latency[0][k]-latency[p][k], cost[0][k]-cost[p][k]
		}
		saved, costSaved := sim.EstimateOf(dt), sim.EstimateOf(dc)
		all[p] = simulated{sim.EstimateOf(latency[p]).Mean, sim.EstimateOf(cost[p]).Mean, saved.Mean, saved.Half, costSaved.Mean, costSaved.Half}
	}
	return all
}

const googleIntro = `# Spark's settings on 77 real jobs

How much do the settings save that ` + "`" + `tailcut plan fork` + "`" + ` prints for Spark? On 77 heavy-tailed jobs of the Google trace
of 2011 (CC-BY 4.0), in the simulator, %d repetitions per job, with a machine for each attempt
([with fewer slots](plan-google-slots.md)):

- **With no more machine time than Spark's defaults**, the planner has better settings for %d of the 77 jobs. %d of
  them are faster (their 95 %% interval is above 0), %d slower, and %d take more machine time. The latency of these jobs
  falls by %.1f %% on average and by %.1f %% at most. For the other %d jobs the planner found nothing that saves half a
  percent.
- **With no more machine time than without clones**, it has settings for %d jobs. %d of them are faster than under
  Spark's defaults, %d slower. Some of these settings spend machine time that Spark's defaults save; the table shows it.
  For the other jobs it found nothing faster than no clones.

| what | how |
|---|---|
| jobs | those with at least 50 tasks whose longest task takes at least 4 times the median |
| planner | knows the durations of the job's tasks |
| simulator | draws originals and clones from the same durations, with a random seed of its own; each attempt has a machine |
| Spark's defaults | since version 4: quantile 0.9, multiplier 3 |
| column ` + "`" + `as plain` + "`" + ` | settings of ` + "`" + `tailcut plan fork` + "`" + `: the fastest with no more machine time than no clones |
| column ` + "`" + `as Spark` + "`" + ` | settings of ` + "`" + `tailcut plan fork --now spark` + "`" + `: the fastest with no more machine time than Spark's defaults |
| columns ` + "`" + `saves` + "`" + ` | against Spark's defaults; ± is half of the 95 %% interval of the differences between repetitions |
| a dash | the planner found nothing better |

`

// googleTable writes the page, and counts the jobs that are faster and slower beyond doubt within the machine time of Spark's defaults.
func googleTable(rows []googleJob) (text string, faster, slower int) {
	var table strings.Builder
	table.WriteString("| job | tasks | no clones | Spark's defaults | as plain | saves latency | saves machine time | as Spark | saves latency | saves machine time |\n" +
		"| ---: | ---: | ---: | ---: | --- | ---: | ---: | --- | ---: | ---: |\n")
	percent := func(x, half, of float64) string {
		if math.Abs(x)+half < 1e-9*of {
			return "0 %"
		}
		return fmt.Sprintf("%.1f ± %.1f %%", 100*x/of, 100*half/of)
	}
	var settings, dearer, plain, plainFaster, plainSlower int
	var sum, most float64
	for _, r := range rows {
		cells := func(s string, x simulated) string {
			if s == "" {
				return "- | | "
			}
			return fmt.Sprintf("%s | %s | %s", s, percent(x.saved, x.savedHalf, r.defaults.latency), percent(x.costSaved, x.costMargin, r.defaults.cost))
		}
		fmt.Fprintf(&table, "| %d | %d | %s | %s | %s | %s |\n", r.number, r.tasks, show.Seconds(r.none.latency), show.Seconds(r.defaults.latency),
			cells(r.budgetSettings, r.budget), cells(r.thriftSettings, r.thrift))
		if r.thriftSettings != "" {
			settings++
			share := r.thrift.saved / r.defaults.latency
			sum, most = sum+share, max(most, share)
			faster += beyond(r.thrift.saved, r.thrift.savedHalf)
			slower += beyond(-r.thrift.saved, r.thrift.savedHalf)
			dearer += beyond(-r.thrift.costSaved, r.thrift.costMargin)
		}
		if r.budgetSettings != "" {
			plain++
			plainFaster += beyond(r.budget.saved, r.budget.savedHalf)
			plainSlower += beyond(-r.budget.saved, r.budget.savedHalf)
		}
	}
	intro := fmt.Sprintf(googleIntro, googleRuns, settings, faster, slower, dearer, 100*sum/float64(max(1, settings)), 100*most, len(rows)-settings,
		plain, plainFaster, plainSlower)
	return intro + table.String() + "\nJobs count from 0 in the file of the 77 jobs; `go test -tags long -run Google ./internal/advice -write-google` writes this page.\n", faster, slower
}

func beyond(x, half float64) int {
	if x > half && x > 0 {
		return 1
	}
	return 0
}
