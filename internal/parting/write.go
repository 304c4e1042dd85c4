package parting

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/tailcut/tailcut/internal/show"
)

// most is how many jobs are shown to people.
const most = 20

// WriteText writes the comparison for people.
func (r *Result) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "mean flow time of %s: run %s (%s), simulated %s (%s), %+.1f %%\n\n", show.Count(len(r.Jobs), "job"),
		show.Seconds(r.Run.MeanFlow), r.Run.Policy, show.Seconds(r.Sim.MeanFlow), r.Sim.Policy, 100*(r.Ratio-1))
	r.writeParts(w)
	r.writeCounts(w)
	r.writeJobs(w)
	if r.LeftOut > 0 {
		fmt.Fprintf(w, "%s left out, not successful in both runs.\n", show.Count(r.LeftOut, "job"))
	}
	if r.Place == 0 {
		_, err := fmt.Fprintf(w, "Tasks started in the same order in both runs.\n")
		return err
	}
	at := func(s *Start) string {
		return fmt.Sprintf("%s %s task %d at %.2f s", show.OneLine(s.Job), show.OneLine(s.Stage), s.Task, s.At)
	}
	_, err := fmt.Fprintf(w, "%d of %d tasks started in the same place. First difference: start %d is %s in the run, %s in the simulation.\n",
		r.SameRank, r.Starts, r.Place, at(r.RunStart), at(r.SimStart))
	return err
}

// writeParts writes of what the mean flow times consist.
func (r *Result) writeParts(w io.Writer) {
	order := 0.0
	for i := range r.Jobs {
		order += r.Jobs[i].Parts.Order / float64(len(r.Jobs))
	}
	t := show.NewTable("seconds per job", "run", "simulated", "difference")
	t.AlignRightEach(2, 3, 4)
	a, b := &r.Run.Parts, &r.Sim.Parts
	row := func(name string, run, sim float64) {
		t.Row(name, fmt.Sprintf("%.3f", run), fmt.Sprintf("%.3f", sim), fmt.Sprintf("%+.3f", sim-run))
	}
	row("waiting for a slot", a.Waiting, b.Waiting)
	t.Row("  of that, by the order of starts", "", "", fmt.Sprintf("%+.3f", order))
	row("launch delay", a.LaunchDelay, b.LaunchDelay)
	row("durations of attempts", a.Durations, b.Durations)
	row("tasks that clones won", a.Clones, b.Clones)
	row("failed attempts", a.Failures, b.Failures)
	row("drivers and finishing", a.Finishing, b.Finishing)
	row("flow time", r.Run.MeanFlow, r.Sim.MeanFlow)
	fmt.Fprintf(w, "%s\n\n", t)
}

// writeCounts writes what the attempts were.
func (r *Result) writeCounts(w io.Writer) {
	t := show.NewTable("", "attempts", "clones", "clones that won", "failed", "mean launch delay", "mean first attempt")
	t.AlignRightEach(2, 3, 4, 5, 6, 7)
	for _, s := range []struct {
		name string
		*Side
	}{{"run", &r.Run}, {"simulated", &r.Sim}} {
		t.Row(s.name, s.Attempts, s.Clones, s.ClonesWon, s.Failed, show.Seconds(s.MeanDelay), show.Seconds(s.MeanFirst))
	}
	fmt.Fprintf(w, "%s\n\n", t)
}

// writeJobs writes the jobs that differ most.
func (r *Result) writeJobs(w io.Writer) {
	jobs := slices.Clone(r.Jobs)
	if len(jobs) > most {
		slices.SortStableFunc(jobs, func(a, b Gap) int { return cmp.Compare(math.Abs(b.Difference), math.Abs(a.Difference)) })
		jobs = jobs[:most]
		fmt.Fprintf(w, "The %d jobs that differ most:\n", most)
	}
	t := show.NewTable("job", "run", "simulated", "difference", "waiting", "by order", "launch delay", "durations", "clones", "failures", "finishing")
	t.AlignRightEach(2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	for i := range jobs {
		j, p := &jobs[i], &jobs[i].Parts
		cells := []any{show.OneLine(j.Name), fmt.Sprintf("%.2f", j.Run), fmt.Sprintf("%.2f", j.Sim)}
		for _, x := range []float64{j.Difference, p.Waiting, p.Order, p.LaunchDelay, p.Durations, p.Clones, p.Failures, p.Finishing} {
			cells = append(cells, fmt.Sprintf("%+.2f", x))
		}
		t.Row(cells...)
	}
	fmt.Fprintf(w, "%s\n\n", t)
}

// WriteJSON writes the comparison for programs.
func (r *Result) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WriteCSV writes a line for each job.
func (r *Result) WriteCSV(w io.Writer) error { return show.WriteRecords(w, r.Jobs) }
