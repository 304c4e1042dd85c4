package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sim"
)

// simulateResult is the result of simulate for programs.
type simulateResult struct {
	Schema   string           `json:"schema"`
	Workload simulateWorkload `json:"workload"`
	Cluster  simulateCluster  `json:"cluster"`
	Results  []simulateRun    `json:"results"`

	Summary    []simulateSummary `json:"summary"`
	LowerBound float64           `json:"lower_bound_mean_flow_seconds"` // 0 if nothing is known
}

type simulateWorkload struct {
	Jobs           int     `json:"jobs"`
	Tasks          int     `json:"tasks"`
	WorkSeconds    float64 `json:"work_seconds"`
	HorizonSeconds float64 `json:"horizon_seconds"`
}

type simulateCluster struct {
	Machines int `json:"machines"`
	Slots    int `json:"slots"` // of all machines together
}

type simulateRun struct {
	Policy            string   `json:"policy"`
	Run               int      `json:"run"`
	MeanFlowSeconds   *float64 `json:"mean_flow_seconds"`
	MedianFlowSeconds *float64 `json:"median_flow_seconds"`
	P90FlowSeconds    *float64 `json:"p90_flow_seconds"`
	P99FlowSeconds    *float64 `json:"p99_flow_seconds"`
	MaxFlowSeconds    *float64 `json:"max_flow_seconds"`
	MeanSlowdown      *float64 `json:"mean_slowdown"`
	MakespanSeconds   float64  `json:"makespan_seconds"`
	Attempts          int      `json:"attempts"`
	Clones            int      `json:"clones"`
	FruitfulSeconds   float64  `json:"fruitful_seconds"`
	FruitlessSeconds  float64  `json:"fruitless_seconds"`
	UtilisationRatio  float64  `json:"utilisation_ratio"`
	DeadlineMetRatio  *float64 `json:"deadline_met_ratio"` // null if no job has a deadline
	Events            int64    `json:"events"`
	WallSeconds       float64  `json:"wall_seconds"`
	EventsPerSecond   float64  `json:"events_per_second"`
	JobsSucceeded     int      `json:"jobs_succeeded"`
	JobsFailed        int      `json:"jobs_failed"`            // or were given up or cancelled
	Progress          string   `json:"progress"`               // that the policy was told
	LaunchDelay       string   `json:"launch_delay,omitempty"` // a law
}

// simulateSummary is a policy over its runs. An interval is the half of its width; null where there is one run only,
// and in differences of the first policy.
type simulateSummary struct {
	Policy            string   `json:"policy"`
	Runs              int      `json:"runs"`
	MeanFlowSeconds   *float64 `json:"mean_flow_seconds"`
	MeanFlowCI95      *float64 `json:"mean_flow_ci95_seconds"`
	DifferenceSeconds *float64 `json:"difference_seconds"`
	DifferenceCI95    *float64 `json:"difference_ci95_seconds"`
	DifferenceRatio   *float64 `json:"difference_ratio"` // of the first policy's mean flow time of the same jobs
	DifferenceJobs    *float64 `json:"difference_jobs"`  // of a run, on average: those that succeeded under both
	MedianFlowSeconds *float64 `json:"median_flow_seconds"`
	P99FlowSeconds    *float64 `json:"p99_flow_seconds"`
	FruitlessSeconds  float64  `json:"fruitless_seconds"`
	UtilisationRatio  float64  `json:"utilisation_ratio"`
	DeadlineMetRatio  *float64 `json:"deadline_met_ratio"`
	JobsFailed        float64  `json:"jobs_failed"`
	Progress          string   `json:"progress"`
}

// simulation is what there is to report.
type simulation struct {
	*simulateFlags
	*sim.Comparison
	policies []sim.Candidate
	bound    float64
}

func (s *simulation) result(c *sim.Cell) simulateRun {
	return simulateRun{
		Policy: s.policies[c.Policy].Name, Run: c.Run, MeanFlowSeconds: show.Finite(c.MeanFlow), MedianFlowSeconds: show.Finite(c.MedianFlow),
		P90FlowSeconds: show.Finite(c.P90Flow), P99FlowSeconds: show.Finite(c.P99Flow), MaxFlowSeconds: show.Finite(c.MaxFlow), MeanSlowdown: show.Finite(c.MeanSlowdown),
		MakespanSeconds: c.Makespan, JobsSucceeded: c.Succeeded, JobsFailed: c.Failed, Progress: s.told[c.Policy], LaunchDelay: s.delayLaw(),
		Attempts: c.Attempts, Clones: c.Clones, FruitfulSeconds: c.Fruitful, FruitlessSeconds: c.Fruitless,
		UtilisationRatio: c.Utilisation, DeadlineMetRatio: show.Finite(deadlinesMet(c)), Events: c.Events, WallSeconds: c.Wall.Seconds(),
		EventsPerSecond: float64(c.Events) / max(c.Wall.Seconds(), 1e-9),
	}
}

// deadlinesMet returns the share of deadlines that were met, NaN if no job has one.
func deadlinesMet(c *sim.Cell) float64 { return float64(c.DeadlinesMet) / float64(c.Deadlines) }

// failed returns the number of jobs of a run that failed.
func failed(c *sim.Cell) float64 { return float64(c.Failed) }

func (s *simulation) summary(policy int) simulateSummary {
	mean := func(of func(*sim.Cell) float64) float64 { return s.Mean(policy, of).Mean }
	flow := s.Mean(policy, sim.MeanFlow)
	r := simulateSummary{
		Policy: s.policies[policy].Name, Runs: s.Runs, MeanFlowSeconds: show.Finite(flow.Mean), MeanFlowCI95: show.Finite(flow.Half),
		MedianFlowSeconds: show.Finite(mean(func(c *sim.Cell) float64 { return c.MedianFlow })),
		P99FlowSeconds:    show.Finite(mean(func(c *sim.Cell) float64 { return c.P99Flow })),
		JobsFailed:        mean(failed), Progress: s.told[policy],
		FruitlessSeconds: mean(func(c *sim.Cell) float64 { return c.Fruitless }),
		UtilisationRatio: mean(func(c *sim.Cell) float64 { return c.Utilisation }),
		DeadlineMetRatio: show.Finite(mean(deadlinesMet)),
	}
	if v := s.Versus(policy); policy > 0 && v.Jobs > 0 {
		r.DifferenceSeconds, r.DifferenceCI95, r.DifferenceJobs = show.Finite(v.Difference.Mean), show.Finite(v.Difference.Half), show.Finite(v.Jobs)
		if v.First > 0 {
			r.DifferenceRatio = show.Finite(v.Difference.Mean / v.First)
		}
	}
	return r
}

// printTable prints the report for people.
func (s *simulation) printTable(w io.Writer) error {
	fmt.Fprintf(w, "%s, %s, %s of work arriving within %s; %s\n\n", show.Count(len(s.workload.Jobs), "job"), show.Count(s.workload.Tasks(), "task"),
		show.Seconds(s.workload.WorkSeconds()), show.Seconds(s.workload.Horizon().Seconds()), show.Count(s.totalSlots(), "slot"))
	fmt.Fprintln(w, s.table())
	fmt.Fprintln(w)
	all := true
	for k := range s.policies {
		all = all && s.AllSucceeded(k)
	}
	switch {
	case s.bound == 0:
	case all:
		fmt.Fprintf(w, "No policy can have a mean flow time below %s.\n", show.Seconds(s.bound))
	default:
		fmt.Fprintf(w, "No policy that completes all jobs can have a mean flow time below %s.\n", show.Seconds(s.bound))
	}
	if !all {
		fmt.Fprintln(w, "Flow times are of the jobs that succeeded. Where jobs failed, a policy is compared with the first over those that succeeded under both; their number is given.")
	}
	s.printTold(w)
	s.printDelay(w)
	if s.Runs > 1 {
		fmt.Fprintf(w, "Means of %d runs; ± is the 95 %% interval, of a difference that of the runs' differences.\n", s.Runs)
	}
	return nil
}

// printTold says what policies were told of progress, if any uses it.
func (s *simulation) printTold(w io.Writer) {
	var names []string
	said := ""
	for k, told := range s.told {
		if s.uses[k] {
			names, said = append(names, s.policies[k].Name), told
		}
	}
	switch {
	case said == "":
	case said == "exact":
		fmt.Fprintf(w, "Progress: at each launch, when the attempt will end, is told to %s.\n", strings.Join(names, ", "))
	case said == "none":
		fmt.Fprintf(w, "Progress: nothing is told to %s.\n", strings.Join(names, ", "))
	default:
		fmt.Fprintf(w, "Progress: reports %s to %s.\n", said, strings.Join(names, ", "))
	}
}

func (s *simulation) printJSON(w io.Writer) error {
	r := simulateResult{
		Schema: "tailcut.simulate/v1",
		Workload: simulateWorkload{
			Jobs: len(s.workload.Jobs), Tasks: s.workload.Tasks(), WorkSeconds: s.workload.WorkSeconds(), HorizonSeconds: s.workload.Horizon().Seconds(),
		},
		Cluster: simulateCluster{Machines: s.machines, Slots: s.totalSlots()}, LowerBound: s.bound,
	}
	for i := range s.Cells {
		r.Results = append(r.Results, s.result(&s.Cells[i]))
	}
	for k := range s.policies {
		r.Summary = append(r.Summary, s.summary(k))
	}
	return json.NewEncoder(w).Encode(&r)
}

func (s *simulation) printCSV(w io.Writer) error {
	out := show.NewCSV(w)
	columns := []string{"policy", "run", "mean_flow_seconds", "median_flow_seconds", "p90_flow_seconds", "p99_flow_seconds", "max_flow_seconds",
		"mean_slowdown", "makespan_seconds", "attempts", "clones", "fruitful_seconds", "fruitless_seconds", "utilisation_ratio", "deadline_met_ratio",
		"events", "wall_seconds", "events_per_second", "jobs_succeeded", "jobs_failed", "progress"}
	if s.delayLaw() != "" {
		columns = append(columns, "launch_delay")
	}
	_ = out.Write(columns)
	for i := range s.Cells {
		r := s.result(&s.Cells[i])
		_ = out.Write([]string{r.Policy, strconv.Itoa(r.Run), show.PlainOrNone(r.MeanFlowSeconds), show.PlainOrNone(r.MedianFlowSeconds), show.PlainOrNone(r.P90FlowSeconds),
			show.PlainOrNone(r.P99FlowSeconds), show.PlainOrNone(r.MaxFlowSeconds), show.PlainOrNone(r.MeanSlowdown), show.Plain(r.MakespanSeconds), strconv.Itoa(r.Attempts),
			strconv.Itoa(r.Clones), show.Plain(r.FruitfulSeconds), show.Plain(r.FruitlessSeconds), show.Plain(r.UtilisationRatio), show.PlainOrNone(r.DeadlineMetRatio),
			strconv.FormatInt(r.Events, 10), show.Plain(r.WallSeconds), show.Plain(r.EventsPerSecond), strconv.Itoa(r.JobsSucceeded), strconv.Itoa(r.JobsFailed),
			r.Progress, r.LaunchDelay}[:len(columns)])
	}
	out.Flush()
	return out.Error()
}

// table has a row per policy, with means over its runs.
func (s *simulation) table() show.Table {
	header := []any{"policy", "mean flow"}
	if len(s.policies) > 1 {
		header = append(header, "vs first")
	}
	header = append(header, "median", "p90", "p99", "max", "slowdown", "makespan", "failed", "clones", "fruitless", "used")
	if s.Cells[0].Deadlines > 0 {
		header = append(header, "deadlines met")
	}
	t := show.NewNumbers(header...)
	for k := range s.policies {
		t.Row(s.row(k)...)
	}
	return t
}

func (s *simulation) row(policy int) []any {
	mean := func(of func(*sim.Cell) float64) float64 { return s.Mean(policy, of).Mean }
	span := func(of func(*sim.Cell) float64) string { return show.Seconds(mean(of)) }
	flow := s.Mean(policy, sim.MeanFlow)
	row := []any{s.policies[policy].Name, show.Seconds(flow.Mean)}
	if s.Runs > 1 && !math.IsNaN(flow.Mean) {
		row[1] = show.Margin(flow.Mean, flow.Half)
	}
	if len(s.policies) > 1 {
		row = append(row, s.versus(policy))
	}
	row = append(row,
		span(func(c *sim.Cell) float64 { return c.MedianFlow }), span(func(c *sim.Cell) float64 { return c.P90Flow }),
		span(func(c *sim.Cell) float64 { return c.P99Flow }), span(func(c *sim.Cell) float64 { return c.MaxFlow }),
		times(mean(func(c *sim.Cell) float64 { return c.MeanSlowdown })),
		span(func(c *sim.Cell) float64 { return c.Makespan }),
		show.Percent(mean(func(c *sim.Cell) float64 { return float64(c.Failed) / float64(c.Failed+c.Succeeded) })),
		show.Number(mean(func(c *sim.Cell) float64 { return float64(c.Clones) })),
		show.Percent(mean(func(c *sim.Cell) float64 { return c.Fruitless / max(c.Fruitful+c.Fruitless, 1e-9) })),
		show.Percent(mean(func(c *sim.Cell) float64 { return c.Utilisation })),
	)
	if s.Cells[0].Deadlines > 0 {
		row = append(row, show.Percent(mean(deadlinesMet)))
	}
	return row
}

// versus says by how much a policy's mean flow time differs from the first one's, and over how many jobs if not all.
func (s *simulation) versus(policy int) string {
	v := s.Versus(policy)
	if policy == 0 || v.Jobs == 0 || v.First == 0 {
		return ""
	}
	text := fmt.Sprintf("%+.1f %%", 100*v.Difference.Mean/v.First)
	if v.Difference.N > 1 {
		text = fmt.Sprintf("%+.1f ± %.1f %%", 100*v.Difference.Mean/v.First, 100*v.Difference.Half/v.First)
	}
	if all := len(s.workload.Jobs); v.Jobs < float64(all) {
		text += fmt.Sprintf(", %s of %d jobs", strconv.FormatFloat(math.Round(10*v.Jobs)/10, 'f', -1, 64), all)
	}
	return text
}

// times writes a number with two digits, - if there is none.
func times(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.2f", x)
}
