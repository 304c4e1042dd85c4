package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/plan"
)

// deadlineResult is the answer for programs.
type deadlineResult struct {
	Schema   string           `json:"schema"`
	Capacity int              `json:"capacity"`
	Used     int              `json:"used"`
	Jobs     []deadlineFigure `json:"jobs"`
	Total    float64          `json:"total_pocd"` // of how many jobs can be expected to meet their deadlines
	Min      float64          `json:"min_pocd"`
	// by how much the sum of utilities may be short of the largest
	Gap float64 `json:"utility_gap,omitempty"`
}

type deadlineFigure struct {
	Name     string  `json:"name"`
	Clones   int     `json:"clones"`            // of each task
	Attempts int     `json:"attempts_per_task"` // 0 of a job that waits
	PoCD     float64 `json:"pocd"`              // 0 of a job that waits
	Without  float64 `json:"pocd_without_clones"`
	AtRisk   bool    `json:"at_risk"`
	Queued   bool    `json:"queued,omitempty"` // there are not enough slots for its originals
	Reason   string  `json:"reason,omitempty"` // why it is at risk, or waits
}

// deadlineAnswer is what people are told beside.
type deadlineAnswer struct {
	deadlineResult
	jobs   []deadlineJob
	usable int // slots
}

func newDeadlineAnswer(pool plan.Pool, jobs []deadlineJob, got plan.Allocation) *deadlineAnswer {
	r := deadlineResult{Schema: "tailcut.plan.deadline/v1", Capacity: pool.Slots, Used: got.Used, Min: 1, Gap: got.Gap}
	for i, j := range jobs {
		f := deadlineFigure{Name: j.name, Without: j.PoCD(0), Queued: got.Clones[i] == plan.Queued}
		if !f.Queued {
			f.Clones, f.Attempts, f.PoCD = got.Clones[i], got.Clones[i]+1, j.PoCD(got.Clones[i])
		}
		f.AtRisk = f.PoCD < plan.AtRisk
		r.Jobs = append(r.Jobs, f)
		r.Total += f.PoCD
		r.Min = min(r.Min, f.PoCD)
	}
	a := &deadlineAnswer{r, jobs, pool.Usable()}
	for i := range a.Jobs {
		a.Jobs[i].Reason = a.reason(i)
	}
	return a
}

func (a *deadlineAnswer) printJSON(out io.Writer) error {
	return json.NewEncoder(out).Encode(&a.deadlineResult)
}

func (a *deadlineAnswer) printCSV(out io.Writer) error {
	w := show.NewCSV(out)
	_ = w.Write([]string{"name", "clones", "attempts_per_task", "pocd", "pocd_without_clones", "at_risk", "queued", "reason"})
	for _, f := range a.Jobs {
		_ = w.Write([]string{f.Name, strconv.Itoa(f.Clones), strconv.Itoa(f.Attempts), strconv.FormatFloat(f.PoCD, 'g', -1, 64),
			strconv.FormatFloat(f.Without, 'g', -1, 64), strconv.FormatBool(f.AtRisk), strconv.FormatBool(f.Queued), f.Reason})
	}
	w.Flush()
	return w.Error()
}

// printTable prints the answer for people.
func (a *deadlineAnswer) printTable(out io.Writer) error {
	t := show.NewTable("job", "tasks", "time left", "in time without clones", "attempts of each task", "in time", "")
	t.AlignRight(2, 6)
	for i, f := range a.Jobs {
		j := a.jobs[i]
		row := []any{text.Trim(f.Name, 32), j.Tasks, show.Seconds(max(0, j.Deadline-j.Elapsed)), show.Chance(f.Without), f.Attempts, show.Chance(f.PoCD), f.Reason}
		if f.Queued {
			row[4], row[5] = "-", "-"
		}
		t.Row(row...)
	}
	before := 0.0
	for _, f := range a.Jobs {
		if !f.Queued {
			before += f.Without
		}
	}
	fmt.Fprintf(out, "%s\n\n%d of %s used. ", t, a.Used, show.Count(a.usable, "slot"))
	_, err := fmt.Fprintf(out, "Expected in time: %.2f of %s, without clones %.2f.\n", a.Total, show.Count(len(a.Jobs), "job"), before)
	if err == nil && a.Gap > 0 {
		_, err = fmt.Fprintf(out, "A better division is not ruled out, but gains no more than %.2g in utility.\n", a.Gap)
	}
	return err
}

// reason says what is the matter with a job.
func (a *deadlineAnswer) reason(i int) string {
	f, j := a.Jobs[i], a.jobs[i]
	behind := ""
	if f.Queued {
		behind = "; waits behind jobs that can meet theirs"
	}
	switch {
	case j.Elapsed >= j.Deadline:
		return "past its deadline" + behind
	case j.Hopeless():
		return "cannot meet its deadline: no attempt can be so fast" + behind
	case f.Queued && j.Tasks > a.usable:
		return fmt.Sprintf("waits: its originals need %s", show.Count(j.Tasks, "slot"))
	case f.Queued:
		return "waits for slots"
	case f.AtRisk:
		return "at risk"
	}
	return ""
}
