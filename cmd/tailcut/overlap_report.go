package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/show"
)

// overlapResult is the study for programs. Numbers that a line does not have are null.
type overlapResult struct {
	Schema     string          `json:"schema"`
	Jobs       int64           `json:"jobs"`
	Results    []overlapFigure `json:"results"`
	LowerBound *float64        `json:"lower_bound_mean_flow_seconds"`
}

type overlapFigure struct {
	Policy        string   `json:"policy"`
	MeanFlow      *float64 `json:"mean_flow_seconds"`
	MedianFlow    *float64 `json:"median_flow_seconds"`
	P99Flow       *float64 `json:"p99_flow_seconds"`
	MeanSlowdown  *float64 `json:"mean_slowdown"`
	MaxFlow       *float64 `json:"max_flow_seconds"`
	Relative      *float64 `json:"relative_to_lower_bound"`
	JobsPerSecond *float64 `json:"jobs_per_second"`
}

func (s *overlapStudy) result() *overlapResult {
	bound := s.bound.Mean()
	r := &overlapResult{Schema: "tailcut.overlap/v1", Jobs: s.n, LowerBound: show.Finite(bound)}
	for _, l := range s.lines {
		if l.sim == nil {
			r.Results = append(r.Results, overlapFigure{Policy: l.name, MeanFlow: show.Finite(bound), Relative: show.Finite(bound / bound)})
			continue
		}
		r.Results = append(r.Results, overlapFigure{
			Policy: l.name, MeanFlow: show.Finite(l.summary.MeanFlow()), MedianFlow: show.Finite(l.summary.FlowQuantile(0.5)),
			P99Flow: show.Finite(l.summary.FlowQuantile(0.99)), MeanSlowdown: show.Finite(l.summary.MeanSlowdown()),
			MaxFlow: show.Finite(l.summary.MaxFlow()), Relative: show.Finite(l.summary.MeanFlow() / bound),
			JobsPerSecond: show.Finite(float64(s.n) / l.spent.Seconds()),
		})
	}
	return r
}

func (s *overlapStudy) print(w io.Writer, format string) error {
	r := s.result()
	switch format {
	case "json":
		return json.NewEncoder(w).Encode(r)
	case "csv":
		return r.printCSV(w)
	}
	t := show.NewNumbers("policy", "mean flow", "median", "p99", "max", "slowdown", "times the lower bound")
	for _, f := range r.Results {
		t.Row(f.Policy, show.OrDash(f.MeanFlow, show.Seconds), show.OrDash(f.MedianFlow, show.Seconds), show.OrDash(f.P99Flow, show.Seconds),
			show.OrDash(f.MaxFlow, show.Seconds), show.OrDash(f.MeanSlowdown, ratio), show.OrDash(f.Relative, ratio))
	}
	fmt.Fprintln(w, t)
	_, err := fmt.Fprintf(w, "\n%s; no policy has a mean flow time below %s\n", show.Count(int(r.Jobs), "job"), show.OrDash(r.LowerBound, show.Seconds))
	return err
}

// ratio prints a ratio for people: policies differ in the third digit.
func ratio(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

func (r *overlapResult) printCSV(w io.Writer) error {
	out := show.NewCSV(w)
	rows := [][]string{{
		"policy", "mean_flow_seconds", "median_flow_seconds", "p99_flow_seconds", "mean_slowdown", "max_flow_seconds",
		"relative_to_lower_bound", "jobs_per_second", "lower_bound_mean_flow_seconds",
	}}
	for _, f := range r.Results {
		row := []string{f.Policy}
		for _, v := range []*float64{f.MeanFlow, f.MedianFlow, f.P99Flow, f.MeanSlowdown, f.MaxFlow, f.Relative, f.JobsPerSecond, r.LowerBound} {
			text := ""
			if v != nil {
				text = show.Plain(*v)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return out.WriteAll(rows)
}

// completionsFile has a line for every job and policy, in order of completion. Its first error is kept until close.
type completionsFile struct {
	out  *outWriter
	line []byte
}

// newCompletionsFile begins the file; nil without one.
func newCompletionsFile(to outFile) (*completionsFile, error) {
	out, err := to.create()
	if out == nil {
		return nil, err
	}
	_, _ = out.WriteString("policy,job,arrival,completion\n")
	return &completionsFile{out: out}, nil
}

func (f *completionsFile) write(policy string, job int64, c overlap.Completion) {
	b := append(append(f.line[:0], policy...), ',')
	b = append(strconv.AppendInt(b, job, 10), ',')
	b = append(strconv.AppendFloat(b, c.Job.Arrival, 'g', 15, 64), ',')
	f.line = append(strconv.AppendFloat(b, c.Time, 'g', 15, 64), '\n')
	_, _ = f.out.Write(f.line)
}

// close ends the file: complete unless the work on it failed.
func (f *completionsFile) close(failed error) error {
	if f == nil {
		return failed
	}
	return f.out.close(failed)
}

// writeFairness writes the mean slowdown of every policy in every bucket of sizes; empty without jobs.
func (s *overlapStudy) writeFairness() error {
	file, err := s.flags.fairnessFile().create()
	if file == nil {
		return err
	}
	out := show.NewCSV(file)
	_ = out.Write([]string{"policy", "size_from", "size_to", "jobs", "mean_slowdown"})
	for _, l := range s.lines {
		for i := 0; l.sim != nil && i < overlap.FairnessBuckets; i++ {
			jobs, slowdown := l.fair.Bucket(i)
			text := ""
			if jobs > 0 {
				text = show.Plain(slowdown)
			}
			from := float64(i) * overlap.FairnessWidth
			_ = out.Write([]string{l.name, show.Plain(from), show.Plain(from + overlap.FairnessWidth), strconv.FormatInt(jobs, 10), text})
		}
	}
	out.Flush()
	return file.close(out.Error())
}
