package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/tailcut/tailcut/internal/report"
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
		Policy: s.policies[c.Policy].Name, Run: c.Run, MeanFlowSeconds: number(c.MeanFlow), MedianFlowSeconds: number(c.MedianFlow),
		P90FlowSeconds: number(c.P90Flow), P99FlowSeconds: number(c.P99Flow), MaxFlowSeconds: number(c.MaxFlow), MeanSlowdown: number(c.MeanSlowdown),
		MakespanSeconds: c.Makespan, JobsSucceeded: c.Succeeded, JobsFailed: c.Failed, Progress: s.told[c.Policy], LaunchDelay: s.delayLaw(),
		Attempts: c.Attempts, Clones: c.Clones, FruitfulSeconds: c.Fruitful, FruitlessSeconds: c.Fruitless,
		UtilisationRatio: c.Utilisation, DeadlineMetRatio: number(deadlinesMet(c)), Events: c.Events, WallSeconds: c.Wall.Seconds(),
		EventsPerSecond: float64(c.Events) / max(c.Wall.Seconds(), 1e-9),
	}
}

// deadlinesMet returns the share of deadlines that were met, NaN if no job has one.
func deadlinesMet(c *sim.Cell) float64 { return float64(c.DeadlinesMet) / float64(c.Deadlines) }

// number returns a value for JSON, nil for NaN.
func number(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

// failed returns the number of jobs of a run that failed.
func failed(c *sim.Cell) float64 { return float64(c.Failed) }

func (s *simulation) summary(policy int) simulateSummary {
	mean := func(of func(*sim.Cell) float64) float64 { return s.Mean(policy, of).Mean }
	flow := s.Mean(policy, sim.MeanFlow)
	r := simulateSummary{
		Policy: s.policies[policy].Name, Runs: s.Runs, MeanFlowSeconds: number(flow.Mean), MeanFlowCI95: number(flow.Half),
		MedianFlowSeconds: number(mean(func(c *sim.Cell) float64 { return c.MedianFlow })),
		P99FlowSeconds:    number(mean(func(c *sim.Cell) float64 { return c.P99Flow })),
		JobsFailed:        mean(failed), Progress: s.told[policy],
		FruitlessSeconds: mean(func(c *sim.Cell) float64 { return c.Fruitless }),
		UtilisationRatio: mean(func(c *sim.Cell) float64 { return c.Utilisation }),
		DeadlineMetRatio: number(mean(deadlinesMet)),
	}
	if v := s.Versus(policy); policy > 0 && v.Jobs > 0 {
		r.DifferenceSeconds, r.DifferenceCI95, r.DifferenceJobs = number(v.Difference.Mean), number(v.Difference.Half), number(v.Jobs)
		if v.First > 0 {
			r.DifferenceRatio = number(v.Difference.Mean / v.First)
		}
	}
	return r
}

// printTable prints the report for people.
func (s *simulation) printTable(w io.Writer) error {
	fmt.Fprintf(w, "%s, %s, %s of work arriving within %s; %s\n\n", count(len(s.workload.Jobs), "job"), count(s.workload.Tasks(), "task"),
		humanSeconds(s.workload.WorkSeconds()), humanSeconds(s.workload.Horizon().Seconds()), count(s.totalSlots(), "slot"))
	fmt.Fprintln(w, s.table().Render())
	fmt.Fprintln(w)
	all := true
	for k := range s.policies {
		all = all && s.AllSucceeded(k)
	}
	switch {
	case s.bound == 0:
	case all:
		fmt.Fprintf(w, "No policy can have a mean flow time below %s.\n", humanSeconds(s.bound))
	default:
		fmt.Fprintf(w, "No policy that completes all jobs can have a mean flow time below %s.\n", humanSeconds(s.bound))
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
	out := report.NewCSV(w)
	columns := []string{"policy", "run", "mean_flow_seconds", "median_flow_seconds", "p90_flow_seconds", "p99_flow_seconds", "max_flow_seconds",
		"mean_slowdown", "makespan_seconds", "attempts", "clones", "fruitful_seconds", "fruitless_seconds", "utilisation_ratio", "deadline_met_ratio",
		"events", "wall_seconds", "events_per_second", "jobs_succeeded", "jobs_failed", "progress"}
	if s.delayLaw() != "" {
		columns = append(columns, "launch_delay")
	}
	_ = out.Write(columns)
	for i := range s.Cells {
		r := s.result(&s.Cells[i])
		_ = out.Write([]string{r.Policy, strconv.Itoa(r.Run), known(r.MeanFlowSeconds), known(r.MedianFlowSeconds), known(r.P90FlowSeconds),
			known(r.P99FlowSeconds), known(r.MaxFlowSeconds), known(r.MeanSlowdown), plain(r.MakespanSeconds), strconv.Itoa(r.Attempts),
			strconv.Itoa(r.Clones), plain(r.FruitfulSeconds), plain(r.FruitlessSeconds), plain(r.UtilisationRatio), known(r.DeadlineMetRatio),
			strconv.FormatInt(r.Events, 10), plain(r.WallSeconds), plain(r.EventsPerSecond), strconv.Itoa(r.JobsSucceeded), strconv.Itoa(r.JobsFailed),
			r.Progress, r.LaunchDelay}[:len(columns)])
	}
	out.Flush()
	return out.Error()
}

// plain formats a number so that it reads back as the same.
func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// known formats a number that may be missing.
func known(x *float64) string {
	if x == nil {
		return ""
	}
	return plain(*x)
}

// table has a row per policy, with means over its runs.
func (s *simulation) table() table.Writer {
	header := []any{"policy", "mean flow"}
	if len(s.policies) > 1 {
		header = append(header, "vs first")
	}
	header = append(header, "median", "p90", "p99", "max", "slowdown", "makespan", "failed", "clones", "fruitless", "used")
	if s.Cells[0].Deadlines > 0 {
		header = append(header, "deadlines met")
	}
	t := newNumbers(header...)
	for k := range s.policies {
		t.AppendRow(s.row(k))
	}
	return t
}

func (s *simulation) row(policy int) table.Row {
	mean := func(of func(*sim.Cell) float64) float64 { return s.Mean(policy, of).Mean }
	span := func(of func(*sim.Cell) float64) string { return humanSeconds(mean(of)) }
	flow := s.Mean(policy, sim.MeanFlow)
	row := table.Row{s.policies[policy].Name, humanSeconds(flow.Mean)}
	if s.Runs > 1 && !math.IsNaN(flow.Mean) {
		row[1] = withMargin(flow.Mean, flow.Half)
	}
	if len(s.policies) > 1 {
		row = append(row, s.versus(policy))
	}
	row = append(row,
		span(func(c *sim.Cell) float64 { return c.MedianFlow }), span(func(c *sim.Cell) float64 { return c.P90Flow }),
		span(func(c *sim.Cell) float64 { return c.P99Flow }), span(func(c *sim.Cell) float64 { return c.MaxFlow }),
		times(mean(func(c *sim.Cell) float64 { return c.MeanSlowdown })),
		span(func(c *sim.Cell) float64 { return c.Makespan }),
		percent(mean(func(c *sim.Cell) float64 { return float64(c.Failed) / float64(c.Failed+c.Succeeded) })),
		humanCount(mean(func(c *sim.Cell) float64 { return float64(c.Clones) })),
		percent(mean(func(c *sim.Cell) float64 { return c.Fruitless / max(c.Fruitful+c.Fruitless, 1e-9) })),
		percent(mean(func(c *sim.Cell) float64 { return c.Utilisation })),
	)
	if s.Cells[0].Deadlines > 0 {
		row = append(row, percent(mean(deadlinesMet)))
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

func percent(ratio float64) string { return fmt.Sprintf("%.1f %%", 100*ratio) }

// times writes a number with two digits, - if there is none.
func times(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.2f", x)
}

// humanSeconds writes a span with about four digits: 312ms, 4.21s, 12m22s, 3h25m, 4d03h, 1000y, unbounded.
func humanSeconds(s float64) string {
	const year = 365.25 * 24 * 3600
	d := time.Duration(math.Round(min(s, 9e9) * 1e9))
	switch {
	case math.IsNaN(s):
		return "-"
	case math.IsInf(s, 1):
		return "infinite"
	case s < 1:
		return d.Round(100 * time.Microsecond).String()
	case s < 60:
		return fmt.Sprintf("%.2fs", s)
	case s < 3600:
		d = d.Round(time.Second)
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case s < 48*3600:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	case s < 1000*year:
		hours := math.Round(s / 3600)
		return fmt.Sprintf("%.0fd%02.0fh", math.Floor(hours/24), math.Mod(hours, 24))
	}
	return fmt.Sprintf("%.3gy", s/year)
}

// withMargin writes a span and half of its interval with two digits: 16.97s ± 0.55s, 4m20s ± 35s, 9h17m ± 3m05s.
func withMargin(s, half float64) string {
	margin := humanSeconds(half)
	if s >= 1 && half < 60 {
		digits := 2
		for x := half; x >= 1 && digits > 0; x /= 10 {
			digits--
		}
		margin = strconv.FormatFloat(half, 'f', digits, 64) + "s"
	}
	return humanSeconds(s) + " ± " + margin
}

// humanCount writes a number with at most four digits: 950, 12.3k, 1.25M.
func humanCount(x float64) string {
	switch {
	case x < 9999.5:
		return fmt.Sprintf("%.0f", x)
	case x < 999_500:
		return fmt.Sprintf("%.1fk", x/1e3)
	case x < 9.995e9:
		return fmt.Sprintf("%.2fM", x/1e6)
	default:
		return fmt.Sprintf("%.1fG", x/1e9)
	}
}
