package workload

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/trace"
)

// Infos describes workloads side by side.
type Infos []Info

type infosJSON struct {
	Schema    string `json:"schema"`
	Workloads Infos  `json:"workloads"`
}

// Info describes a workload.
type Info struct {
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
	LoadRatio       *float64     `json:"load_ratio,omitempty"`
	TasksPerJob     trace.Spread `json:"tasks_per_job"`
	StagesPerJob    trace.Spread `json:"stages_per_job"`
	TaskSeconds     trace.Spread `json:"task_seconds"`
	GapSeconds      trace.Spread `json:"gap_seconds"`
	StragglingRatio trace.Spread `json:"straggling_ratio"`
}

// Describe summarizes a workload that is called so, and its load on so many machines of a slot each, 0 for none.
func Describe(name string, w *trace.Workload, machines int) Info {
	s := trace.Summarize(w)
	i := Info{
		Workload: name, Jobs: s.Jobs, Stages: s.Stages, Tasks: s.Tasks, Edges: s.Edges, Deadlines: s.Deadlines, InputBytes: s.InputBytes,
		WorkSeconds: s.WorkSeconds, FirstArrivalSeconds: s.FirstArrivalSeconds, LastArrivalSeconds: s.LastArrivalSeconds, Machines: machines,
		TasksPerJob: s.TasksPerJob, StagesPerJob: s.StagesPerJob, TaskSeconds: s.TaskSeconds,
		GapSeconds: s.GapSeconds, StragglingRatio: s.Straggling,
	}
	if load := s.Load(machines); machines > 0 && !math.IsInf(load, 0) && !math.IsNaN(load) {
		i.LoadRatio = &load
	}
	return i
}

// measures are the spreads of a workload with their names for people, and how people read their values.
var measures = []struct {
	name string
	of   func(*Info) trace.Spread
	show func(float64) string
}{
	{"tasks of a job", func(i *Info) trace.Spread { return i.TasksPerJob }, show.ShortNumber},
	{"stages of a job", func(i *Info) trace.Spread { return i.StagesPerJob }, show.ShortNumber},
	{"duration of a task", func(i *Info) trace.Spread { return i.TaskSeconds }, show.Seconds},
	{"gap between arrivals", func(i *Info) trace.Spread { return i.GapSeconds }, show.Seconds},
	{"straggling of a stage", func(i *Info) trace.Spread { return i.StragglingRatio }, show.ShortNumber},
}

// WriteText writes what workloads are like for people.
func (all Infos) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s\n\n%s\n", all.totals(), all.spreads())
	return err
}

// WriteJSON writes what workloads are like for programs.
func (all Infos) WriteJSON(w io.Writer) error {
	return json.NewEncoder(w).Encode(&infosJSON{Schema: "tailcut.trace.info/v1", Workloads: all})
}

// WriteCSV writes a row per workload.
func (all Infos) WriteCSV(w io.Writer) error { return show.WriteRecords(w, all) }

// totals has a row per workload.
func (all Infos) totals() show.Table {
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

// spreads has a row per measure and workload; the name of the workload is left out if there is one only.
func (all Infos) spreads() show.Table {
	header := []any{"", "of", "mean", "min", "p50", "p90", "p99", "max"}
	several := len(all) > 1
	if several {
		header = append([]any{"", "workload"}, header[1:]...)
	}
	t := show.NewTable(header...)
	t.AlignRight(len(header)-6, len(header))
	for _, m := range measures {
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
