package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/tailcut/tailcut/sim"
)

// simulateResult is the result of simulate for programs.
type simulateResult struct {
	Schema   string           `json:"schema"`
	Workload simulateWorkload `json:"workload"`
	Cluster  simulateCluster  `json:"cluster"`
	Results  []simulateRun    `json:"results"`
}

type simulateWorkload struct {
	Jobs           int     `json:"jobs"`
	Tasks          int     `json:"tasks"`
	WorkSeconds    float64 `json:"work_seconds"`
	HorizonSeconds float64 `json:"horizon_seconds"`
}

type simulateCluster struct {
	Machines int `json:"machines"`
	Slots    int `json:"slots"` // of all machines together
}

type simulateRun struct {
	Policy            string   `json:"policy"`
	Run               int      `json:"run"`
	MeanFlowSeconds   float64  `json:"mean_flow_seconds"`
	MedianFlowSeconds float64  `json:"median_flow_seconds"`
	P90FlowSeconds    float64  `json:"p90_flow_seconds"`
	P99FlowSeconds    float64  `json:"p99_flow_seconds"`
	MaxFlowSeconds    float64  `json:"max_flow_seconds"`
	MeanSlowdown      float64  `json:"mean_slowdown"`
	MakespanSeconds   float64  `json:"makespan_seconds"`
	Attempts          int      `json:"attempts"`
	Clones            int      `json:"clones"`
	FruitfulSeconds   float64  `json:"fruitful_seconds"`
	FruitlessSeconds  float64  `json:"fruitless_seconds"`
	UtilisationRatio  float64  `json:"utilisation_ratio"`
	DeadlineMetRatio  *float64 `json:"deadline_met_ratio"` // null if no job has a deadline
	Events            int64    `json:"events"`
	WallSeconds       float64  `json:"wall_seconds"`
	EventsPerSecond   float64  `json:"events_per_second"`
}

func (s *simulated) result() simulateRun {
	st := &s.stats
	r := simulateRun{
		Policy: s.policy, Run: s.run, MeanFlowSeconds: st.MeanFlow, MedianFlowSeconds: st.MedianFlow, P90FlowSeconds: st.P90Flow,
		P99FlowSeconds: st.P99Flow, MaxFlowSeconds: st.MaxFlow, MeanSlowdown: st.MeanSlowdown, MakespanSeconds: st.Makespan,
		Attempts: st.Attempts, Clones: st.Clones, FruitfulSeconds: st.Fruitful, FruitlessSeconds: st.Fruitless,
		UtilisationRatio: st.Utilisation, Events: s.events, WallSeconds: s.wall.Seconds(),
		EventsPerSecond: float64(s.events) / max(s.wall.Seconds(), 1e-9),
	}
	if st.Deadlines > 0 {
		met := float64(st.DeadlinesMet) / float64(st.Deadlines)
		r.DeadlineMetRatio = &met
	}
	return r
}

func printSimulation(w io.Writer, format string, f *simulateFlags, runs []simulated) error {
	switch format {
	case "json":
		r := simulateResult{
			Schema: "tailcut.simulate/v1",
			Workload: simulateWorkload{
				Jobs: len(f.workload.Jobs), Tasks: f.workload.Tasks(), WorkSeconds: f.workload.WorkSeconds(), HorizonSeconds: f.workload.Horizon().Seconds(),
			},
			Cluster: simulateCluster{Machines: f.machines, Slots: f.machines * f.slots},
		}
		for i := range runs {
			r.Results = append(r.Results, runs[i].result())
		}
		return json.NewEncoder(w).Encode(&r)
	case "csv":
		return printSimulationCSV(w, runs)
	}
	fmt.Fprintf(w, "%s, %s, %s of work arriving within %s; %s\n\n", count(len(f.workload.Jobs), "job"), count(f.workload.Tasks(), "task"),
		humanSeconds(f.workload.WorkSeconds()), humanSeconds(f.workload.Horizon().Seconds()), count(f.machines*f.slots, "slot"))
	fmt.Fprintln(w, simulationTable(f.runs, runs).Render())
	if f.runs > 1 {
		fmt.Fprintf(w, "\nMeans of %d runs; ± is the 95 %% interval of the mean flow time.\n", f.runs)
	}
	return nil
}

func printSimulationCSV(w io.Writer, runs []simulated) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"policy", "run", "mean_flow_seconds", "median_flow_seconds", "p90_flow_seconds", "p99_flow_seconds", "max_flow_seconds",
		"mean_slowdown", "makespan_seconds", "attempts", "clones", "fruitful_seconds", "fruitless_seconds", "utilisation_ratio", "deadline_met_ratio",
		"events", "wall_seconds", "events_per_second"})
	for i := range runs {
		r := runs[i].result()
		met := ""
		if r.DeadlineMetRatio != nil {
			met = plain(*r.DeadlineMetRatio)
		}
		_ = out.Write([]string{r.Policy, strconv.Itoa(r.Run), plain(r.MeanFlowSeconds), plain(r.MedianFlowSeconds), plain(r.P90FlowSeconds),
			plain(r.P99FlowSeconds), plain(r.MaxFlowSeconds), plain(r.MeanSlowdown), plain(r.MakespanSeconds), strconv.Itoa(r.Attempts),
			strconv.Itoa(r.Clones), plain(r.FruitfulSeconds), plain(r.FruitlessSeconds), plain(r.UtilisationRatio), met,
			strconv.FormatInt(r.Events, 10), plain(r.WallSeconds), plain(r.EventsPerSecond)})
	}
	out.Flush()
	return out.Error()
}

// plain formats a number so that it reads back as the same.
func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// simulationTable has a row per policy, with means over its runs.
func simulationTable(runs int, all []simulated) table.Writer {
	header := []any{"policy", "mean flow", "median", "p90", "p99", "max", "slowdown", "makespan", "clones", "fruitless", "used", "events/s"}
	deadlines := all[0].stats.Deadlines > 0
	if deadlines {
		header = append(header, "deadlines met")
	}
	t := newTable(header...)
	var right []table.ColumnConfig
	for n := 2; n <= len(header); n++ {
		right = append(right, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	for i := 0; i < len(all); i += runs {
		t.AppendRow(simulationRow(all[i:i+runs], deadlines))
	}
	return t
}

func simulationRow(runs []simulated, deadlines bool) table.Row {
	mean := func(of func(*simulated) float64) float64 {
		sum := 0.0
		for i := range runs {
			sum += of(&runs[i])
		}
		return sum / float64(len(runs))
	}
	span := func(of func(*sim.Stats) float64) string {
		return humanSeconds(mean(func(s *simulated) float64 { return of(&s.stats) }))
	}
	flow := span(func(s *sim.Stats) float64 { return s.MeanFlow })
	if n := float64(len(runs)); n > 1 {
		m := mean(func(s *simulated) float64 { return s.stats.MeanFlow })
		v := mean(func(s *simulated) float64 { return (s.stats.MeanFlow - m) * (s.stats.MeanFlow - m) })
		flow += " ± " + humanSeconds(1.96*math.Sqrt(v/(n-1)))
	}
	fruitless := mean(func(s *simulated) float64 {
		return s.stats.Fruitless / max(s.stats.Fruitful+s.stats.Fruitless, 1e-9)
	})
	row := table.Row{
		runs[0].policy, flow,
		span(func(s *sim.Stats) float64 { return s.MedianFlow }), span(func(s *sim.Stats) float64 { return s.P90Flow }),
		span(func(s *sim.Stats) float64 { return s.P99Flow }), span(func(s *sim.Stats) float64 { return s.MaxFlow }),
		fmt.Sprintf("%.2f", mean(func(s *simulated) float64 { return s.stats.MeanSlowdown })),
		span(func(s *sim.Stats) float64 { return s.Makespan }),
		humanCount(mean(func(s *simulated) float64 { return float64(s.stats.Clones) })), percent(fruitless),
		percent(mean(func(s *simulated) float64 { return s.stats.Utilisation })),
		humanCount(mean(func(s *simulated) float64 { return float64(s.events) / max(s.wall.Seconds(), 1e-9) })),
	}
	if deadlines {
		row = append(row, percent(mean(func(s *simulated) float64 { return float64(s.stats.DeadlinesMet) / float64(s.stats.Deadlines) })))
	}
	return row
}

func percent(ratio float64) string { return fmt.Sprintf("%.1f %%", 100*ratio) }

// humanSeconds writes a span with about four digits: 312ms, 4.21s, 12m22s, 3h25m, 4d03h.
func humanSeconds(s float64) string {
	d := time.Duration(math.Round(min(s, 9e9) * 1e9))
	switch {
	case s < 1:
		return d.Round(100 * time.Microsecond).String()
	case s < 60:
		return fmt.Sprintf("%.2fs", s)
	case s < 3600:
		d = d.Round(time.Second)
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case s < 48*3600:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	default:
		hours := math.Round(s / 3600)
		return fmt.Sprintf("%.0fd%02.0fh", math.Floor(hours/24), math.Mod(hours, 24))
	}
}

// humanCount writes a number with at most four digits: 950, 12.3k, 1.25M.
func humanCount(x float64) string {
	switch {
	case x < 9999.5:
		return fmt.Sprintf("%.0f", x)
	case x < 999_500:
		return fmt.Sprintf("%.1fk", x/1e3)
	case x < 9.995e9:
		return fmt.Sprintf("%.2fM", x/1e6)
	default:
		return fmt.Sprintf("%.1fG", x/1e9)
	}
}
