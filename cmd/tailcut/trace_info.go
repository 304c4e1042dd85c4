package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/trace"
)

// traceResult is the result of trace info for programs.
type traceResult struct {
	Schema    string      `json:"schema"`
	Workloads []traceInfo `json:"workloads"`
}

type traceInfo struct {
	Workload            string  `json:"workload"`
	Jobs                int     `json:"jobs"`
	Stages              int     `json:"stages"`
	Tasks               int     `json:"tasks"`
	Edges               int     `json:"edges"`
	Deadlines           int     `json:"deadlines"` // jobs that have one
	InputBytes          int64   `json:"input_bytes"`
	WorkSeconds         float64 `json:"work_seconds"`
	FirstArrivalSeconds float64 `json:"first_arrival_seconds"`
	LastArrivalSeconds  float64 `json:"last_arrival_seconds"`
	Machines            int     `json:"machines,omitempty"`
	// absent if not asked for, or if all jobs arrive at once
	LoadRatio       *float64    `json:"load_ratio,omitempty"`
	TasksPerJob     traceSpread `json:"tasks_per_job"`
	StagesPerJob    traceSpread `json:"stages_per_job"`
	TaskSeconds     traceSpread `json:"task_seconds"`
	GapSeconds      traceSpread `json:"gap_seconds"`
	StragglingRatio traceSpread `json:"straggling_ratio"`
}

type traceSpread struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

func summaryOf(name string, s trace.Summary, machines int) traceInfo {
	i := traceInfo{
		Workload: name, Jobs: s.Jobs, Stages: s.Stages, Tasks: s.Tasks, Edges: s.Edges, Deadlines: s.Deadlines, InputBytes: s.InputBytes,
		WorkSeconds: s.WorkSeconds, FirstArrivalSeconds: s.FirstArrivalSeconds, LastArrivalSeconds: s.LastArrivalSeconds, Machines: machines,
		TasksPerJob: traceSpread(s.TasksPerJob), StagesPerJob: traceSpread(s.StagesPerJob), TaskSeconds: traceSpread(s.TaskSeconds),
		GapSeconds: traceSpread(s.GapSeconds), StragglingRatio: traceSpread(s.Straggling),
	}
	if load := s.Load(machines); machines > 0 && !math.IsInf(load, 0) && !math.IsNaN(load) {
		i.LoadRatio = &load
	}
	return i
}

// traceMeasures are the spreads of a workload with their names for people and for programs, and how people read their
// values.
var traceMeasures = []struct {
	name, column string
	of           func(*traceInfo) traceSpread
	show         func(float64) string
}{
	{"tasks of a job", "tasks_per_job", func(i *traceInfo) traceSpread { return i.TasksPerJob }, show.ShortNumber},
	{"stages of a job", "stages_per_job", func(i *traceInfo) traceSpread { return i.StagesPerJob }, show.ShortNumber},
	{"duration of a task", "task_seconds", func(i *traceInfo) traceSpread { return i.TaskSeconds }, show.Seconds},
	{"gap between arrivals", "gap_seconds", func(i *traceInfo) traceSpread { return i.GapSeconds }, show.Seconds},
	{"straggling of a stage", "straggling_ratio", func(i *traceInfo) traceSpread { return i.StragglingRatio }, show.ShortNumber},
}

func printTraceInfo(w io.Writer, format string, all []traceInfo) error {
	switch format {
	case "json":
		return json.NewEncoder(w).Encode(&traceResult{Schema: "tailcut.trace.info/v1", Workloads: all})
	case "csv":
		return printTraceCSV(w, all)
	}
	fmt.Fprintln(w, traceTotals(all))
	fmt.Fprintf(w, "\n%s\n", traceSpreads(all))
	return nil
}

// traceTotals has a row per workload.
func traceTotals(all []traceInfo) show.Table {
	header := []any{"workload", "jobs", "stages", "tasks", "dependencies", "work", "first arrival", "arriving within"}
	if all[0].Machines > 0 {
		header = append(header, "load on "+show.Count(all[0].Machines, "machine"))
	}
	t := show.NewNumbers(header...)
	for k := range all {
		i := &all[k]
		row := []any{i.Workload, i.Jobs, i.Stages, i.Tasks, i.Edges, show.Seconds(i.WorkSeconds), show.Seconds(i.FirstArrivalSeconds),
			show.Seconds(i.LastArrivalSeconds - i.FirstArrivalSeconds)}
		if i.Machines > 0 {
			load := "-"
			if i.LoadRatio != nil {
				load = strconv.FormatFloat(*i.LoadRatio, 'g', 3, 64)
			}
			row = append(row, load)
		}
		t.Row(row...)
	}
	return t
}

// traceSpreads has a row per measure and workload; the name of the workload is left out if there is one only.
func traceSpreads(all []traceInfo) show.Table {
	header := []any{"", "of", "mean", "min", "p50", "p90", "p99", "max"}
	several := len(all) > 1
	if several {
		header = append([]any{"", "workload"}, header[1:]...)
	}
	t := show.NewTable(header...)
	t.AlignRight(len(header)-6, len(header))
	for _, m := range traceMeasures {
		for k := range all {
			s := m.of(&all[k])
			row := []any{m.name}
			if k > 0 {
				row[0] = ""
			}
			if several {
				row = append(row, all[k].Workload)
			}
			row = append(row, s.N)
			for _, x := range []float64{s.Mean, s.Min, s.P50, s.P90, s.P99, s.Max} {
				if s.N == 0 {
					row = append(row, "-")
					continue
				}
				row = append(row, m.show(x))
			}
			t.Row(row...)
		}
	}
	return t
}

// printTraceCSV has a row per workload.
func printTraceCSV(w io.Writer, all []traceInfo) error {
	out := show.NewCSV(w)
	header := []string{"workload", "jobs", "stages", "tasks", "edges", "deadlines", "input_bytes", "work_seconds", "first_arrival_seconds",
		"last_arrival_seconds", "machines", "load_ratio"}
	for _, m := range traceMeasures {
		for _, part := range []string{"n", "mean", "min", "p50", "p90", "p99", "max"} {
			header = append(header, m.column+"_"+part)
		}
	}
	_ = out.Write(header)
	for k := range all {
		i := &all[k]
		load := ""
		if i.LoadRatio != nil {
			load = show.Plain(*i.LoadRatio)
		}
		row := []string{i.Workload, strconv.Itoa(i.Jobs), strconv.Itoa(i.Stages), strconv.Itoa(i.Tasks), strconv.Itoa(i.Edges),
			strconv.Itoa(i.Deadlines), strconv.FormatInt(i.InputBytes, 10), show.Plain(i.WorkSeconds), show.Plain(i.FirstArrivalSeconds),
			show.Plain(i.LastArrivalSeconds), strconv.Itoa(i.Machines), load}
		for _, m := range traceMeasures {
			s := m.of(i)
			row = append(row, strconv.Itoa(s.N), show.Plain(s.Mean), show.Plain(s.Min), show.Plain(s.P50), show.Plain(s.P90), show.Plain(s.P99), show.Plain(s.Max))
		}
		_ = out.Write(row)
	}
	out.Flush()
	return out.Error()
}
