package trace

import (
	"fmt"
	"slices"
)

// Formats in which workloads are written.
const (
	TR        = "tr"    // one stage per job: [WriteTR]
	JSONLines = "jsonl" // everything: [WriteJSONLines]
	CSV       = "csv"   // a row per task: [WriteCSV]
)

// Lost tells what of a workload a format has no place for, each with how many jobs have it; nothing for [JSONLines].
func (w *Workload) Lost(format string) []string {
	if format == JSONLines {
		return nil
	}
	var count [len(losses)]int
	for j := range w.Jobs {
		for k := range losses {
			if l := &losses[k]; (l.only == "" || l.only == format) && l.has(w, j) {
				count[k]++
			}
		}
	}
	var lost []string
	for k, n := range count {
		if n > 0 {
			lost = append(lost, fmt.Sprintf("%s (%d of %d jobs)", losses[k].what, n, len(w.Jobs)))
		}
	}
	return lost
}

// losses are the properties of jobs that some format does not keep. only is the format that loses it; "" stands for all
// but JSON lines.
var losses = [...]struct {
	what string
	only string
	has  func(w *Workload, j int) bool
}{
	{"the stages", TR, func(w *Workload, j int) bool { return w.Jobs[j].Stages != 1 }},
	{"dependencies", "", func(w *Workload, j int) bool { return w.Jobs[j].Edges > 0 }},
	{"jobs or stages without tasks", "", func(w *Workload, j int) bool { return anyStage(w, j, func(st *StageRow) bool { return st.Tasks == 0 }) }},
	{"deadlines", "", func(w *Workload, j int) bool { return w.Jobs[j].Deadline != 0 }},
	{"priorities, weights, shares or retries", "", func(w *Workload, j int) bool {
		job := &w.Jobs[j]
		return job.Priority != 0 || job.Weight != 0 && job.Weight != 1 || job.MinShare != 0 || job.MaxLive != 0 || job.Retries != 0
	}},
	{"stages that need only some of their tasks, that can resume, or that report nothing", "", func(w *Workload, j int) bool {
		return anyStage(w, j, func(st *StageRow) bool { return st.Need != 0 && st.Need != st.Tasks || st.Resumable || st.Silent })
	}},
	{"classes of slots", "", func(w *Workload, _ int) bool { return len(w.Classes) > 0 }},
	{"names of jobs", TR, func(w *Workload, j int) bool { return w.Jobs[j].Name != 0 }},
	{"input sizes", "", func(w *Workload, j int) bool {
		return anyStage(w, j, func(st *StageRow) bool { return st.InputBytes != 0 })
	}},
	{"the data that tasks read, and its sites", "", func(w *Workload, j int) bool {
		return anyStage(w, j, func(st *StageRow) bool { return st.Inputs > 0 }) || slices.ContainsFunc(w.EdgesOf(j), func(e Edge) bool { return e.Bytes > 0 })
	}},
	{"laws of durations", "", func(w *Workload, j int) bool { return anyStage(w, j, func(st *StageRow) bool { return st.Law >= 0 }) }},
	{"the mean duration that schedulers know", CSV, func(w *Workload, j int) bool {
		return anyStage(w, j, func(st *StageRow) bool {
			mean, _ := moments(w.DurationsOf(st))
			return st.Mean != mean
		})
	}},
	{"the durations or deviations that schedulers do not know", "", func(w *Workload, j int) bool {
		return anyStage(w, j, func(st *StageRow) bool {
			_, sd := moments(w.DurationsOf(st))
			return st.SD != sd || st.Mean == 0 && sd > 0
		})
	}},
}

// anyStage reports whether a stage of job j has a property.
func anyStage(w *Workload, j int, has func(*StageRow) bool) bool {
	stages := w.StagesOf(j)
	for i := range stages {
		if has(&stages[i]) {
			return true
		}
	}
	return false
}
