package simulation

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// WriteText writes the report for people.
func (r *Result) WriteText(w io.Writer) error {
	tasks, work := r.Workload.Slotted()
	fmt.Fprintf(w, "%s, %s, %s of work arriving within %s; %s\n\n", show.Count(len(r.Workload.Jobs), "job"), show.Count(tasks, "task"),
		show.Seconds(work), show.Seconds(r.Workload.Horizon().Seconds()), show.Count(r.Slots, "slot"))
	fmt.Fprintf(w, "%s\n\n", r.table())
	if len(r.Classes) > 0 {
		fmt.Fprintf(w, "%s\n\n", r.classTable())
	}
	all := true
	for k := range r.Policies {
		all = all && r.AllSucceeded(k)
	}
	switch {
	case r.LowerBound == 0:
	case all:
		fmt.Fprintf(w, "No policy can have a mean flow time below %s.\n", show.Seconds(r.LowerBound))
	default:
		fmt.Fprintf(w, "No policy that completes all jobs can have a mean flow time below %s.\n", show.Seconds(r.LowerBound))
	}
	if !all {
		fmt.Fprintln(w, "Flow times cover the jobs that succeeded. Where jobs failed, a policy is compared with the first over the jobs that succeeded under both; the table gives their number.")
	}
	if r.valued() {
		fmt.Fprintf(w, "Value possible, if all jobs with deadlines were in time: %s. Tardiness cost: the part of it that late jobs with late=soft lost.\n",
			strconv.FormatFloat(r.Cells[0].ValuePossible, 'f', 1, 64))
	}
	r.printCut(w)
	r.printTold(w)
	r.printDurations(w)
	r.printWithheld(w)
	r.printPortfolios(w)
	r.printCluster(w)
	r.printPlaced(w)
	if r.priced() {
		fmt.Fprintf(w, "Money in %s: for bytes moved between sites and for slots while attempts have them, also of attempts that were killed.\n", r.Money)
	}
	if r.Runs > 1 {
		fmt.Fprintf(w, "Means of %d repetitions; in brackets is the 95 %% interval, for differences that of the paired ratios.\n", r.Runs)
		if r.equal() {
			fmt.Fprintln(w, "Where a mean flow time has no brackets, all repetitions gave the same.")
		}
		r.printRuns(w)
		r.printDoubts(w)
		r.printClassDoubts(w)
	}
	switch {
	case r.Intervals && r.Runs > 1:
		fmt.Fprintf(w, "\n%s\n", r.intervalTable())
	case r.Intervals:
		fmt.Fprintln(w, "One repetition has no intervals; --runs sets how many there are.")
	}
	return nil
}

// printCluster says what the cluster takes beside the work, and where its machines are not all alike and always there.
func (r *Result) printCluster(w io.Writer) {
	for _, part := range [][2]string{{"Slots of machines", r.Sizes}, {"Failures", r.Failures}, {"Overheads", r.Overheads}} {
		if part[1] != "" {
			fmt.Fprintf(w, "%s: %s.\n", part[0], strings.ReplaceAll(part[1], ",", ", "))
		}
	}
	switch {
	case r.LaunchDelay == "":
	case r.told:
		fmt.Fprintf(w, "Launch delay: %s seconds before each attempt starts; policies learn when it starts.\n", r.LaunchDelay)
	default:
		fmt.Fprintf(w, "Launch delay: %s before each attempt starts; policies do not see it.\n", r.LaunchDelay)
	}
}

// printTold says what policies were told of progress, if any uses it.
func (r *Result) printTold(w io.Writer) {
	var names []string
	said := ""
	for k, told := range r.Told {
		if r.uses[k] {
			names, said = append(names, r.Policies[k]), told
		}
	}
	switch {
	case said == "":
	case strings.HasPrefix(said, "exact"):
		fmt.Fprintf(w, "Progress: %s; these policies know at each launch when the attempt will end: %s.\n", said, strings.Join(names, ", "))
	case said == "none":
		fmt.Fprintf(w, "Progress: no reports; without them run these policies: %s.\n", strings.Join(names, ", "))
	default:
		fmt.Fprintf(w, "Progress: reports %s, to %s.\n", said, strings.Join(names, ", "))
	}
}

// printDurations says what policies that compare a new attempt with a running one take its duration from.
func (r *Result) printDurations(w io.Writer) {
	sources := []string{"from finished ones", "from finished and running ones", stated(r.Workload), "from their law"}
	of := map[string]int{"finished": 0, "all": 1, "known": 2}
	names := make([][]string, len(sources))
	for k, from := range r.Durations {
		source, some := of[from]
		if from == "known" && strings.Contains(r.Policies[k], "law=(") { // a parameter that goes before the workload
			source = 3
		}
		if some {
			names[source] = append(names[source], r.Policies[k])
		}
	}
	var parts []string
	for i, source := range sources {
		if len(names[i]) > 0 {
			parts = append(parts, source+" ("+strings.Join(names[i], ", ")+")")
		}
	}
	if len(parts) > 0 {
		fmt.Fprintf(w, "Durations of attempts: %s.\n", strings.Join(parts, ", "))
	}
}

// printWithheld says what the limits have cut of what policies bound themselves.
func (r *Result) printWithheld(w io.Writer) {
	for k, name := range r.Policies {
		if n := r.Mean(k, withheld).Mean; n > 0 {
			fmt.Fprintf(w, "The limits withheld %s from %s; --max-attempts and --clone-budget set them.\n", show.Count(int(math.Ceil(n)), "clone"), name)
		}
	}
}

// WriteJSON writes the result for programs.
func (r *Result) WriteJSON(w io.Writer) error {
	tasks, work := r.Workload.Slotted()
	v := resultJSON{
		Schema: "tailcut.simulate/v1",
		Workload: workloadJSON{
			Jobs: len(r.Workload.Jobs), Tasks: tasks, WorkSeconds: work, HorizonSeconds: r.Workload.Horizon().Seconds(),
		},
		Cluster: clusterJSON{Machines: r.Machines, Slots: r.Slots}, Results: r.RunFigures(), LowerBound: r.LowerBound, Cut: r.Cut, Manifest: r.Manifest,
	}
	for k := range r.Policies {
		v.Summary = append(v.Summary, r.Figures(k))
	}
	return json.NewEncoder(w).Encode(&v)
}

// WriteCSV writes a row for each run.
func (r *Result) WriteCSV(w io.Writer) error {
	without := []string{"classes"}
	if r.Cut == nil {
		without = append(without, "cut")
	}
	if len(r.Classes) == 0 {
		without = append(without, "class")
	}
	if r.Overheads == "" {
		without = append(without, "overheads")
	}
	if r.LaunchDelay == "" {
		without = append(without, "launch_delay")
	}
	if !r.priced() {
		without = append(without, billColumns...)
	}
	without = append(without, r.withoutPlaced()...)
	type row struct {
		RunFigures
		Identity
	}
	var rows []row
	for i, f := range r.RunFigures() {
		of := r.Manifest.identity(r.Cells[i].Policy)
		if len(r.Classes) > 0 {
			f.Class = allClasses
		}
		rows = append(rows, row{f, of})
		for _, f := range f.Classes {
			rows = append(rows, row{f, of})
		}
	}
	return show.WriteRecords(w, rows, without...)
}

// allClasses is the class of CSV rows that are of all jobs.
const allClasses = "all"

// table has a row per policy, with means over its runs.
func (r *Result) table() show.Table {
	header := []any{"policy", "mean flow"}
	if len(r.Policies) > 1 {
		header = append(header, "vs first")
	}
	header = append(header, "median", "p90", "p99", "max", "slowdown", "makespan", "failed", "clones", "fruitless", "used")
	if r.Cells[0].Deadlines > 0 {
		header = append(header, "deadlines met")
	}
	if r.valued() {
		header = append(header, "value won", "tardiness cost", "dropped")
	}
	if r.priced() {
		header = append(header, r.billHeader()...)
	}
	t := show.NewNumbers(header...)
	for k := range r.Policies {
		t.Row(r.row(k)...)
	}
	return t
}

func (r *Result) row(policy int) []any {
	mean := func(of func(*sim.Cell) float64) float64 { return r.Mean(policy, of).Mean }
	span := func(of func(*sim.Cell) float64) string { return show.Seconds(mean(of)) }
	row := []any{r.Policies[policy], spanOf(r.Interval(policy, sim.MeanFlow))}
	if len(r.Policies) > 1 {
		row = append(row, r.versus(policy))
	}
	row = append(row,
		span(medianFlow), span(p90Flow), span(p99Flow), span(func(c *sim.Cell) float64 { return c.MaxFlow }), times(mean(slowdown)),
		span(func(c *sim.Cell) float64 { return c.Makespan }),
		show.Percent(mean(failedShare)),
		show.Number(mean(func(c *sim.Cell) float64 { return float64(c.Clones) })),
		show.Percent(mean(fruitlessShare)),
		show.Percent(mean(func(c *sim.Cell) float64 { return c.Utilisation })),
	)
	if r.Cells[0].Deadlines > 0 {
		row = append(row, show.Percent(mean(deadlinesMet)))
	}
	if r.valued() {
		amount := func(of func(*sim.Cell) float64) string { return amountOf(r.Mean(policy, of)) }
		row = append(row, amount(valueWon), amount(tardinessCost), show.Number(mean(dropped)))
	}
	if r.priced() {
		row = append(row, r.billRow(policy)...)
	}
	return row
}

// valued tells whether the value of jobs is shown: some say what they are worth, or what becomes of them when they are
// late.
func (r *Result) valued() bool {
	return slices.ContainsFunc(r.Workload.Jobs, func(j trace.JobRow) bool {
		return j.Deadline > 0 && (j.Value > 0 || j.Late != sched.Late{})
	})
}

// amountOf writes a value and its interval, priceOf an amount of money.
func amountOf(x sim.Estimate) string { return rounded(x, 1) }
func priceOf(x sim.Estimate) string  { return rounded(x, 3) }

func rounded(x sim.Estimate, digits int) string {
	text := strconv.FormatFloat(x.Mean, 'f', digits, 64)
	if x.Half > 0 {
		text += " ± " + strconv.FormatFloat(x.Half, 'f', digits, 64)
	}
	return text
}

// equal tells whether a policy's mean flow time is the same in all repetitions.
func (r *Result) equal() bool {
	for k := range r.Policies {
		if flow := r.Mean(k, sim.MeanFlow); flow.N > 1 && flow.Half == 0 {
			return true
		}
	}
	return false
}

// versus says by how much a policy's mean flow time differs from the first one's, and over how many jobs if not all.
func (r *Result) versus(policy int) string {
	v := r.Versus(policy)
	if policy == 0 || v.Jobs == 0 || v.First == 0 {
		return ""
	}
	text := changeOf(r.VersusRatio(policy))
	if all := r.Mean(policy, func(c *sim.Cell) float64 { return float64(c.Failed + c.Succeeded) }).Mean; v.Jobs < all {
		text += fmt.Sprintf(", %s of %s jobs", tenths(v.Jobs), tenths(all))
	}
	return text
}

// tenths writes a number of jobs, which is a mean over runs.
func tenths(x float64) string { return strconv.FormatFloat(math.Round(10*x)/10, 'f', -1, 64) }

// times writes a number with two digits, - if there is none.
func times(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.2f", x)
}
