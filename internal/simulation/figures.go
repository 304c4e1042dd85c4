package simulation

import (
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sim"
)

// resultJSON is the result for programs.
type resultJSON struct {
	Schema   string       `json:"schema"`
	Workload workloadJSON `json:"workload"`
	Cluster  clusterJSON  `json:"cluster"`
	Results  []RunFigures `json:"results"`

	Summary    []Figures   `json:"summary"`
	LowerBound float64     `json:"lower_bound_mean_flow_seconds"` // 0 if nothing is known
	Cut        *CutFigures `json:"left_out,omitempty"`
	Manifest   *Manifest   `json:"manifest"`
}

type workloadJSON struct {
	Jobs           int     `json:"jobs"`
	Tasks          int     `json:"tasks"`
	WorkSeconds    float64 `json:"work_seconds"`
	HorizonSeconds float64 `json:"horizon_seconds"`
}

type clusterJSON struct {
	Machines int `json:"machines"`
	Slots    int `json:"slots"` // of all machines together
}

// RunFigures are what one run of a policy has shown. Nil is where there is nothing to say.
type RunFigures struct {
	Policy            string   `json:"policy"`
	Class             string   `json:"class,omitempty"` // of jobs that the row is of
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
	DeadlineMetRatio  *float64 `json:"deadline_met_ratio"` // nil if no job has a deadline
	Events            int64    `json:"events"`
	WallSeconds       *float64 `json:"wall_seconds"`
	EventsPerSecond   *float64 `json:"events_per_second"`
	JobsSucceeded     int      `json:"jobs_succeeded"`
	JobsFailed        int      `json:"jobs_failed"`            // or were given up or cancelled
	Progress          string   `json:"progress"`               // that the policy was told
	Durations         string   `json:"durations"`              // that it went by: finished, all, known
	ClonesWithheld    int      `json:"clones_withheld"`        // by the limits, from policies that bound themselves
	LaunchDelay       string   `json:"launch_delay,omitempty"` // a span, or a law of seconds
	Overheads         string   `json:"overheads,omitempty"`
	ValuePossible     *float64 `json:"value_possible"` // of jobs with deadlines, nil if no job has one
	ValueWon          *float64 `json:"value_won"`
	TardinessCost     *float64 `json:"tardiness_cost"`
	JobsDropped       int      `json:"jobs_dropped"` // at their deadlines, or given up by the policy
	BillFigures
	PlacedFigures
	Cut     string       `json:"cut,omitempty"`     // what no figure is of
	Classes []RunFigures `json:"classes,omitempty"` // likewise; events and wall time are the run's
}

// Figures is a policy over its runs. An interval is the half of its width; nil where there is one run only,
// and in differences of the first policy. DifferenceRatio is the difference as a share of the first policy's mean.
type Figures struct {
	Policy            string   `json:"policy"`
	Runs              int      `json:"runs"`
	MeanFlowSeconds   *float64 `json:"mean_flow_seconds"`
	MeanFlowCI95      *float64 `json:"mean_flow_ci95_seconds"`
	DifferenceSeconds *float64 `json:"difference_seconds"`
	DifferenceCI95    *float64 `json:"difference_ci95_seconds"`
	DifferenceRatio   *float64 `json:"difference_ratio"`
	DifferenceJobs    *float64 `json:"difference_jobs"` // of a run, on average: those that succeeded under both
	MedianFlowSeconds *float64 `json:"median_flow_seconds"`
	P99FlowSeconds    *float64 `json:"p99_flow_seconds"`
	FruitlessSeconds  float64  `json:"fruitless_seconds"`
	UtilisationRatio  float64  `json:"utilisation_ratio"`
	DeadlineMetRatio  *float64 `json:"deadline_met_ratio"`
	JobsFailed        float64  `json:"jobs_failed"`
	Progress          string   `json:"progress"`
	Durations         string   `json:"durations"`
	ClonesWithheld    float64  `json:"clones_withheld"`
	ValuePossible     *float64 `json:"value_possible"`
	ValueWon          *float64 `json:"value_won"`
	ValueWonCI95      *float64 `json:"value_won_ci95"`
	TardinessCost     *float64 `json:"tardiness_cost"`
	TardinessCostCI95 *float64 `json:"tardiness_cost_ci95"`
	JobsDropped       float64  `json:"jobs_dropped"`
	BillFigures
	MoneyCI95 *float64 `json:"money_ci95,omitempty"`

	Intervals []FigureIntervals `json:"intervals"`
	Classes   []ClassFigures    `json:"classes,omitempty"`
}

// RunFigures returns what each run has shown, by policy and run.
func (r *Result) RunFigures() (all []RunFigures) {
	for i := range r.Cells {
		all = append(all, r.figures(&r.Cells[i]))
	}
	return all
}

func (r *Result) figures(c *sim.Cell) RunFigures {
	f := RunFigures{
		Policy: r.Policies[c.Policy], Run: c.Run, MeanFlowSeconds: show.Finite(c.MeanFlow), MedianFlowSeconds: show.Finite(c.MedianFlow),
		P90FlowSeconds: show.Finite(c.P90Flow), P99FlowSeconds: show.Finite(c.P99Flow), MaxFlowSeconds: show.Finite(c.MaxFlow), MeanSlowdown: show.Finite(c.MeanSlowdown),
		MakespanSeconds: c.Makespan, JobsSucceeded: c.Succeeded, JobsFailed: c.Failed, Progress: r.Told[c.Policy], Durations: r.Durations[c.Policy], ClonesWithheld: c.Withheld, LaunchDelay: r.LaunchDelay, Overheads: r.Overheads,
		Attempts: c.Attempts, Clones: c.Clones, FruitfulSeconds: c.Fruitful, FruitlessSeconds: c.Fruitless,
		UtilisationRatio: c.Utilisation, DeadlineMetRatio: show.Finite(deadlinesMet(c)), Events: c.Events,
		JobsDropped: c.Dropped, BillFigures: r.bill(func(of func(*sim.Cell) float64) float64 { return of(c) }),
	}
	if !r.NoTiming {
		f.WallSeconds, f.EventsPerSecond = new(c.Wall.Seconds()), new(float64(c.Events)/max(c.Wall.Seconds(), 1e-9))
	}
	if c.Deadlines > 0 {
		f.ValuePossible, f.ValueWon, f.TardinessCost = new(c.ValuePossible), new(c.ValueWon), new(c.TardinessCost)
	}
	f.PlacedFigures = r.placed()
	if r.Cut != nil {
		f.Cut = r.Cut.Cut
	}
	f.Classes = r.classRuns(c)
	return f
}

func medianFlow(c *sim.Cell) float64     { return c.MedianFlow }
func p90Flow(c *sim.Cell) float64        { return c.P90Flow }
func p99Flow(c *sim.Cell) float64        { return c.P99Flow }
func slowdown(c *sim.Cell) float64       { return c.MeanSlowdown }
func machineSeconds(c *sim.Cell) float64 { return c.Fruitful + c.Fruitless }
func fruitlessShare(c *sim.Cell) float64 { return c.Fruitless / max(c.Fruitful+c.Fruitless, 1e-9) }
func failedShare(c *sim.Cell) float64    { return float64(c.Failed) / float64(c.Failed+c.Succeeded) }

func valueWon(c *sim.Cell) float64      { return c.ValueWon }
func tardinessCost(c *sim.Cell) float64 { return c.TardinessCost }
func dropped(c *sim.Cell) float64       { return float64(c.Dropped) }

// deadlinesMet returns the share of deadlines that were met, NaN if no job has one.
func deadlinesMet(c *sim.Cell) float64 { return float64(c.DeadlinesMet) / float64(c.Deadlines) }

// failed returns the number of jobs of a run that failed.
func failed(c *sim.Cell) float64 { return float64(c.Failed) }

// withheld returns the number of clones that limits withheld in a run.
func withheld(c *sim.Cell) float64 { return float64(c.Withheld) }

// Figures returns what a policy has shown, by its index.
func (r *Result) Figures(policy int) Figures {
	mean := func(of func(*sim.Cell) float64) float64 { return r.Mean(policy, of).Mean }
	flow := r.Interval(policy, sim.MeanFlow)
	f := Figures{
		Policy: r.Policies[policy], Runs: r.Runs, MeanFlowSeconds: show.Finite(flow.Value), MeanFlowCI95: show.Finite((flow.High - flow.Low) / 2),
		MedianFlowSeconds: show.Finite(mean(medianFlow)),
		P99FlowSeconds:    show.Finite(mean(p99Flow)),
		JobsFailed:        mean(failed), Progress: r.Told[policy], Durations: r.Durations[policy], ClonesWithheld: mean(withheld),
		FruitlessSeconds: mean(func(c *sim.Cell) float64 { return c.Fruitless }),
		UtilisationRatio: mean(func(c *sim.Cell) float64 { return c.Utilisation }),
		DeadlineMetRatio: show.Finite(mean(deadlinesMet)),
	}
	f.JobsDropped, f.BillFigures = mean(dropped), r.bill(mean)
	if r.priced() {
		f.MoneyCI95 = show.Finite(r.Mean(policy, money).Half)
	}
	if c := &r.Cells[policy*r.Runs]; c.Deadlines > 0 {
		won, cost := r.Mean(policy, valueWon), r.Mean(policy, tardinessCost)
		f.ValuePossible, f.ValueWon, f.ValueWonCI95 = new(c.ValuePossible), new(won.Mean), show.Finite(won.Half)
		f.TardinessCost, f.TardinessCostCI95 = new(cost.Mean), show.Finite(cost.Half)
	}
	if v := r.Versus(policy); policy > 0 && v.Jobs > 0 {
		d := r.VersusDifference(policy)
		f.DifferenceSeconds, f.DifferenceCI95, f.DifferenceJobs = show.Finite(d.Value), show.Finite((d.High-d.Low)/2), show.Finite(v.Jobs)
		if v.First > 0 {
			f.DifferenceRatio = show.Finite(v.Difference.Mean / v.First)
		}
	}
	f.Intervals = r.intervalsOf(r.Comparison, policy, estimated)
	f.Classes = r.classFigures(policy)
	return f
}
