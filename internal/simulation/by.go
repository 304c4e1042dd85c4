package simulation

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// ByUsage says what Request.By can be.
const ByUsage = "name, priority, or a number with bounds: tasks:10,100, stages:2, work:10m,1h (recorded durations together), duration:90s (their mean)"

// grouping divides jobs into classes that have figures of their own.
type grouping struct {
	by     string // name of what they are divided by
	usual  string // bounds if none are given
	number func(w *trace.Workload, j int) float64
	label  func(w *trace.Workload, j int) string
	bounds []float64 // of number: class k is of jobs from bounds[k-1] on, and below bounds[k]
	labels []string  // by class
}

// mostClasses bounds the classes: more are no table.
const mostClasses = 50

// groupings are what jobs can be divided by.
var groupings = []grouping{
	{by: "name", label: func(w *trace.Workload, j int) string { return w.Names[w.Jobs[j].Name] }},
	{by: "priority", label: func(w *trace.Workload, j int) string { return strconv.Itoa(int(w.Jobs[j].Priority)) }},
	{by: "tasks", usual: "10,100,1000", number: func(w *trace.Workload, j int) float64 { return float64(w.TasksOf(j)) }},
	{by: "stages", usual: "2", number: func(w *trace.Workload, j int) float64 { return float64(w.Jobs[j].Stages) }},
	{by: "work", usual: "10m,1h,10h", number: workOf},
	{by: "duration", usual: "1m,10m", number: func(w *trace.Workload, j int) float64 { return workOf(w, j) / float64(max(1, w.TasksOf(j))) }},
}

// workOf is the sum of a job's recorded durations, in seconds.
func workOf(w *trace.Workload, j int) (sum float64) {
	for _, st := range w.StagesOf(j) {
		for _, d := range w.DurationsOf(&st) {
			sum += d.Seconds()
		}
	}
	return sum
}

// parseBy reads what Request.By says; nil for no classes.
func parseBy(text string) (*grouping, error) {
	name, bounds, given := strings.Cut(text, ":")
	for _, g := range groupings {
		switch {
		case g.by != name:
			continue
		case g.number == nil && given:
			return nil, fmt.Errorf("expected no bounds for %s, not %q", name, bounds)
		case g.number == nil:
			return &g, nil
		case !given:
			bounds = g.usual
		}
		return &g, g.readBounds(strings.Split(bounds, ","))
	}
	return nil, fmt.Errorf("expected %s, not %q", ByUsage, text)
}

// readBounds reads the bounds, which increase, and names the classes by them.
func (g *grouping) readBounds(parts []string) error {
	for i, part := range parts {
		x, err := strconv.ParseFloat(part, 64)
		if g.by == "work" || g.by == "duration" {
			d, wrong := time.ParseDuration(part)
			x, err = d.Seconds(), wrong
		}
		if err != nil || !(x > 0) || math.IsInf(x, 0) || i > 0 && x <= g.bounds[i-1] {
			return fmt.Errorf("expected bounds of %s that increase, as in %s, not %q", g.by, ByUsage, strings.Join(parts, ","))
		}
		g.bounds = append(g.bounds, x)
		label := g.by + "<" + part
		if i > 0 {
			label = parts[i-1] + "<=" + label
		}
		g.labels = append(g.labels, label)
	}
	g.labels = append(g.labels, g.by+">="+parts[len(parts)-1])
	if len(g.labels) > mostClasses {
		return fmt.Errorf("expected at most %d bounds, not %d", mostClasses-1, len(g.bounds))
	}
	return nil
}

// fit finds the classes of a workload where they are not given by bounds.
func (g *grouping) fit(w *trace.Workload) error {
	if g == nil || g.number != nil {
		return nil
	}
	for j := range w.Jobs {
		if label := g.label(w, j); !slices.Contains(g.labels, label) {
			if g.labels = append(g.labels, label); len(g.labels) > mostClasses {
				return fmt.Errorf("expected at most %d values of %s in %s, found more; tasks, work and duration divide jobs by size", mostClasses, g.by, w.Name)
			}
		}
	}
	if g.by == "priority" {
		slices.SortFunc(g.labels, func(a, b string) int { x, _ := strconv.Atoi(a); y, _ := strconv.Atoi(b); return y - x })
	} else {
		slices.Sort(g.labels)
	}
	return nil
}

// of returns the class of a job.
func (g *grouping) of(w *trace.Workload, j int) int {
	if g.number == nil {
		return slices.Index(g.labels, g.label(w, j))
	}
	x := g.number(w, j)
	k := 0
	for k < len(g.bounds) && x >= g.bounds[k] {
		k++
	}
	return k
}

// measure says which jobs the figures are of, and which class each is of; nil if they are of all, and of no classes.
func (q *question) measure() *sim.Measure {
	if q.cut.none() && q.by == nil {
		return nil
	}
	m := &sim.Measure{Of: func(w *trace.Workload, class []int16) {
		for j := range class {
			if q.by != nil {
				class[j] = int16(q.by.of(w, j))
			}
			if q.cut.part(w, j) != measured {
				class[j] = sim.Unmeasured
			}
		}
	}}
	if q.by != nil {
		m.Classes = len(q.by.labels)
	}
	return m
}

// shownClass is a class that some job is of.
type shownClass struct {
	index int
	label string
	of    *sim.Comparison
}

// classes returns the classes that some measured job is of.
func (r *Result) classes() (all []shownClass) {
	for k, label := range r.Classes {
		if of := r.Class(k); of.Runs > 0 {
			all = append(all, shownClass{k, label, of})
		}
	}
	return all
}

// classTable has a row for each class and policy.
func (r *Result) classTable() show.Table {
	header := []any{"class", "policy", "jobs", "mean flow"}
	if len(r.Policies) > 1 {
		header = append(header, "vs first")
	}
	header = append(header, "median", "p90", "p99", "slowdown", "failed", "clones", "machine time", "fruitless")
	if r.Cells[0].Deadlines > 0 {
		header = append(header, "deadlines met")
	}
	t := show.NewNumbers(header...)
	for _, c := range r.classes() {
		for k := range r.Policies {
			t.Row(r.classRow(&c, k)...)
		}
	}
	return t
}

func (r *Result) classRow(c *shownClass, policy int) []any {
	mean := func(of func(*sim.Cell) float64) float64 { return c.of.Mean(policy, of).Mean }
	jobs := func(x *sim.Cell) float64 { return float64(x.Succeeded + x.Failed) }
	row := []any{c.label, r.Policies[policy], show.Number(mean(jobs)), spanOf(c.of.Interval(policy, sim.MeanFlow))}
	if len(r.Policies) > 1 {
		change := ""
		if policy > 0 && c.of.Versus(policy).Jobs > 0 {
			change = changeOf(c.of.VersusRatio(policy))
		}
		row = append(row, change)
	}
	row = append(row,
		show.Seconds(mean(medianFlow)), show.Seconds(mean(p90Flow)), spanOf(c.of.Interval(policy, p99Flow)), times(mean(slowdown)),
		show.Percent(mean(failedShare)), show.Number(mean(func(x *sim.Cell) float64 { return float64(x.Clones) })),
		spanOf(c.of.Interval(policy, machineSeconds)), show.Percent(mean(fruitlessShare)),
	)
	if r.Cells[0].Deadlines > 0 {
		met := "-"
		if x := c.of.Cells[0]; x.Deadlines > 0 {
			met = show.Percent(mean(deadlinesMet))
		}
		row = append(row, met)
	}
	return row
}

// printClassDoubts warns of classes whose repetitions are too few, as printDoubts does of all jobs.
func (r *Result) printClassDoubts(w io.Writer) {
	var few []string
	for _, c := range r.classes() {
		for k, name := range r.Policies {
			mean := c.of.Interval(k, sim.MeanFlow)
			doubted := mean.Doubt == sim.Skewed || mean.Doubt == sim.Heavy
			if k > 0 {
				d := c.of.VersusRatio(k).Doubt
				doubted = doubted || d == sim.Skewed || d == sim.Heavy
			}
			if doubted {
				few = append(few, fmt.Sprintf("%s under %s", c.label, name))
			}
		}
	}
	if len(few) > 0 {
		fmt.Fprintf(w, "Warning: %d repetitions are few for these classes, see doubt and enough_runs in --format json: %s.\n", r.Runs, strings.Join(few, ", "))
	}
}

// ClassFigures is what a policy has shown of the jobs of a class, over the runs that had any.
type ClassFigures struct {
	Class            string            `json:"class"`
	Runs             int               `json:"runs"`
	Jobs             float64           `json:"jobs"` // of a run, on average
	JobsFailed       float64           `json:"jobs_failed"`
	Attempts         float64           `json:"attempts"`
	Clones           float64           `json:"clones"`
	FruitlessSeconds float64           `json:"fruitless_seconds"`
	DeadlineMetRatio *float64          `json:"deadline_met_ratio"`
	Intervals        []FigureIntervals `json:"intervals"`
}

// classFigures returns what a policy has shown of each class.
func (r *Result) classFigures(policy int) (all []ClassFigures) {
	for _, c := range r.classes() {
		mean := func(of func(*sim.Cell) float64) float64 { return c.of.Mean(policy, of).Mean }
		all = append(all, ClassFigures{
			Class: c.label, Runs: c.of.Runs, Jobs: mean(func(x *sim.Cell) float64 { return float64(x.Succeeded + x.Failed) }), JobsFailed: mean(failed),
			Attempts: mean(func(x *sim.Cell) float64 { return float64(x.Attempts) }), Clones: mean(func(x *sim.Cell) float64 { return float64(x.Clones) }),
			FruitlessSeconds: mean(func(x *sim.Cell) float64 { return x.Fruitless }), DeadlineMetRatio: show.Finite(mean(deadlinesMet)),
			Intervals: r.intervalsOf(c.of, policy, classEstimated),
		})
	}
	return all
}

// classRuns returns what a run has shown of each class that it has jobs of.
func (r *Result) classRuns(c *sim.Cell) (all []RunFigures) {
	for k := range c.Classes {
		x := *c
		x.Stats, x.Paired, x.Classes = c.Classes[k].Stats, c.Classes[k].Paired, nil
		if x.Succeeded+x.Failed > 0 {
			f := r.figures(&x)
			f.Class = r.Classes[k]
			all = append(all, f)
		}
	}
	return all
}
