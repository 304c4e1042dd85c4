package study

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/internal/show"
)

// Result is what came of a [Request]. Numbers that are not known are nil.
type Result struct {
	Schema     string    `json:"schema"`
	Jobs       int64     `json:"jobs"`
	Results    []Figures `json:"results"`
	LowerBound *float64  `json:"lower_bound_mean_flow_seconds"`
	lines      []*line
}

// Figures are those of a policy. Of the lower bound only mean flow times are known.
type Figures struct {
	Policy        string   `json:"policy"`
	MeanFlow      *float64 `json:"mean_flow_seconds"`
	MedianFlow    *float64 `json:"median_flow_seconds"`
	P99Flow       *float64 `json:"p99_flow_seconds"`
	MeanSlowdown  *float64 `json:"mean_slowdown"`
	MaxFlow       *float64 `json:"max_flow_seconds"`
	Relative      *float64 `json:"relative_to_lower_bound"`
	JobsPerSecond *float64 `json:"jobs_per_second"`
}

func (s *study) result(jobs int64) *Result {
	bound := math.NaN()
	if s.bound != nil {
		bound = s.bound.Mean()
	}
	r := &Result{Schema: "tailcut.overlap/v1", Jobs: jobs, LowerBound: show.Finite(bound), lines: s.lines}
	for _, l := range s.lines {
		if l.sim == nil {
			r.Results = append(r.Results, Figures{Policy: l.name, MeanFlow: show.Finite(bound), Relative: show.Finite(bound / bound)})
			continue
		}
		r.Results = append(r.Results, Figures{
			Policy: l.name, MeanFlow: show.Finite(l.summary.MeanFlow()), MedianFlow: show.Finite(l.summary.FlowQuantile(0.5)),
			P99Flow: show.Finite(l.summary.FlowQuantile(0.99)), MeanSlowdown: show.Finite(l.summary.MeanSlowdown()),
			MaxFlow: show.Finite(l.summary.MaxFlow()), Relative: show.Finite(l.summary.MeanFlow() / bound),
			JobsPerSecond: show.Finite(float64(jobs) / l.spent.Seconds()),
		})
	}
	return r
}

// WriteText writes the figures for people.
func (r *Result) WriteText(w io.Writer) error {
	t := show.NewNumbers("policy", "mean flow", "median", "p99", "max", "slowdown", "times the lower bound")
	// policies differ in the third digit
	ratio := func(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
	for _, f := range r.Results {
		t.Row(f.Policy, show.OrDash(f.MeanFlow, show.Seconds), show.OrDash(f.MedianFlow, show.Seconds), show.OrDash(f.P99Flow, show.Seconds),
			show.OrDash(f.MaxFlow, show.Seconds), show.OrDash(f.MeanSlowdown, ratio), show.OrDash(f.Relative, ratio))
	}
	_, err := fmt.Fprintf(w, "%s\n\n%s\n", t, r.atLeast())
	return err
}

// atLeast says how many jobs there are, and the lower bound if it is known.
func (r *Result) atLeast() string {
	jobs := show.Count(int(r.Jobs), "job")
	if r.LowerBound == nil {
		return jobs
	}
	return jobs + "; no policy has a mean flow time below " + show.Seconds(*r.LowerBound)
}

// WriteJSON writes the figures for programs.
func (r *Result) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// WriteCSV writes a row for each policy.
func (r *Result) WriteCSV(w io.Writer) error {
	type row struct {
		Figures
		LowerBound *float64 `json:"lower_bound_mean_flow_seconds"`
	}
	var rows []row
	for _, f := range r.Results {
		rows = append(rows, row{f, r.LowerBound})
	}
	return show.WriteRecords(w, rows)
}

// WriteFairness writes the mean slowdown of every policy in every bucket of sizes as CSV; empty without jobs.
func (r *Result) WriteFairness(w io.Writer) error {
	type bucket struct {
		Policy       string   `json:"policy"`
		From         float64  `json:"size_from"`
		To           float64  `json:"size_to"`
		Jobs         int64    `json:"jobs"`
		MeanSlowdown *float64 `json:"mean_slowdown"`
	}
	var rows []bucket
	for _, l := range r.lines {
		for i := 0; l.sim != nil && i < overlap.FairnessBuckets; i++ {
			b := bucket{Policy: l.name, From: float64(i) * overlap.FairnessWidth}
			b.To = b.From + overlap.FairnessWidth
			jobs, slowdown := l.fair.Bucket(i)
			if b.Jobs = jobs; jobs > 0 {
				b.MeanSlowdown = &slowdown
			}
			rows = append(rows, b)
		}
	}
	return show.WriteRecords(w, rows)
}

// Page is the figures with a plot of the slowdown by size.
func (r *Result) Page() *report.Page {
	t := report.Table{Name: "flow", Columns: []string{"policy", "mean flow (s)", "median (s)", "p99 (s)", "max (s)", "mean slowdown", "times the lower bound"}}
	for _, f := range r.Results {
		row := []any{f.Policy}
		for _, v := range []*float64{f.MeanFlow, f.MedianFlow, f.P99Flow, f.MaxFlow, f.MeanSlowdown, f.Relative} {
			if v == nil {
				row = append(row, nil)
				continue
			}
			row = append(row, *v)
		}
		t.Add(row...)
	}
	page := &report.Page{
		Name: "overlap", Title: "Overlapping map and shuffle", Intro: []string{"The fluid model. " + r.atLeast() + "."},
		Sections: []report.Section{{Title: "Flow times", Tables: []report.Table{t}}},
	}
	var policies []string
	var fair []*overlap.Fairness
	for _, l := range r.lines {
		if l.sim != nil {
			policies, fair = append(policies, l.name), append(fair, &l.fair)
		}
	}
	if plot := SlowdownPlot("slowdown", "", policies, fair, 1); len(plot.Series) > 0 {
		page.Sections = append(page.Sections, report.Section{
			Title: "What happens to large jobs?",
			Text:  []string{"Flow time over the time that a job takes alone, in buckets of 0.25 s. Large jobs are few, and their means vary."},
			Plots: []report.Plot{plot},
		})
	}
	return page
}

// SlowdownPlot is the paper's Figure 9: mean slowdown against size, a line a policy, of the buckets that hold at least
// a number of jobs. Policies without such a bucket are left out.
func SlowdownPlot(name, title string, policies []string, fair []*overlap.Fairness, atLeast int64) report.Plot {
	p := report.Plot{Name: name, Title: title, X: "job size, the larger of map and shuffle (s)", Y: "mean slowdown"}
	for i, f := range fair {
		s := report.Series{Name: policies[i], Kind: report.Line}
		for b := range overlap.FairnessBuckets {
			if jobs, slowdown := f.Bucket(b); jobs >= atLeast {
				s.X = append(s.X, (float64(b)+0.5)*overlap.FairnessWidth)
				s.Y = append(s.Y, slowdown)
			}
		}
		if len(s.X) > 0 {
			p.Series = append(p.Series, s)
		}
	}
	return p
}
