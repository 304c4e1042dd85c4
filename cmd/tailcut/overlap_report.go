package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/report"
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

// figure makes a number that is not finite null.
func figure(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func (s *overlapStudy) result() *overlapResult {
	bound := s.bound.Mean()
	r := &overlapResult{Schema: "tailcut.overlap/v1", Jobs: s.n, LowerBound: figure(bound)}
	for _, l := range s.lines {
		if l.sim == nil {
			r.Results = append(r.Results, overlapFigure{Policy: l.name, MeanFlow: figure(bound), Relative: figure(bound / bound)})
			continue
		}
		r.Results = append(r.Results, overlapFigure{
			Policy: l.name, MeanFlow: figure(l.summary.MeanFlow()), MedianFlow: figure(l.summary.FlowQuantile(0.5)),
			P99Flow: figure(l.summary.FlowQuantile(0.99)), MeanSlowdown: figure(l.summary.MeanSlowdown()),
			MaxFlow: figure(l.summary.MaxFlow()), Relative: figure(l.summary.MeanFlow() / bound),
			JobsPerSecond: figure(float64(s.n) / l.spent.Seconds()),
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
	t := newNumbers("policy", "mean flow", "median", "p99", "max", "slowdown", "times the lower bound")
	for _, f := range r.Results {
		t.AppendRow(table.Row{f.Policy, orDash(f.MeanFlow, humanSeconds), orDash(f.MedianFlow, humanSeconds), orDash(f.P99Flow, humanSeconds),
			orDash(f.MaxFlow, humanSeconds), orDash(f.MeanSlowdown, ratio), orDash(f.Relative, ratio)})
	}
	fmt.Fprintln(w, t.Render())
	_, err := fmt.Fprintf(w, "\n%s; no policy has a mean flow time below %s\n", count(int(r.Jobs), "job"), orDash(r.LowerBound, humanSeconds))
	return err
}

// ratio prints a ratio for people: policies differ in the third digit.
func ratio(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

// orDash prints a number for people, if there is one.
func orDash(v *float64, how func(float64) string) string {
	if v == nil {
		return "-"
	}
	return how(*v)
}

func (r *overlapResult) printCSV(w io.Writer) error {
	out := report.NewCSV(w)
	rows := [][]string{{
		"policy", "mean_flow_seconds", "median_flow_seconds", "p99_flow_seconds", "mean_slowdown", "max_flow_seconds",
		"relative_to_lower_bound", "jobs_per_second", "lower_bound_mean_flow_seconds",
	}}
	for _, f := range r.Results {
		row := []string{f.Policy}
		for _, v := range []*float64{f.MeanFlow, f.MedianFlow, f.P99Flow, f.MeanSlowdown, f.MaxFlow, f.Relative, f.JobsPerSecond, r.LowerBound} {
			text := ""
			if v != nil {
				text = plain(*v)
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
	out := report.NewCSV(file)
	_ = out.Write([]string{"policy", "size_from", "size_to", "jobs", "mean_slowdown"})
	for _, l := range s.lines {
		for i := 0; l.sim != nil && i < overlap.FairnessBuckets; i++ {
			jobs, slowdown := l.fair.Bucket(i)
			text := ""
			if jobs > 0 {
				text = plain(slowdown)
			}
			from := float64(i) * overlap.FairnessWidth
			_ = out.Write([]string{l.name, plain(from), plain(from + overlap.FairnessWidth), strconv.FormatInt(jobs, 10), text})
		}
	}
	out.Flush()
	return file.close(out.Error())
}
