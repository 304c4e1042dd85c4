package reproduce

import (
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/report"
)

// Figures 2 to 4: how the work of three jobs goes down.

var (
	fcfs = overlap.Discipline{Kind: overlap.FCFS}
	// FIFO at the map station, processor sharing at the shuffle station
	fifoPS  = overlap.Discipline{Kind: overlap.KLPS, K: 1}
	allPS   = overlap.Discipline{Kind: overlap.WPS}
	maxSRPT = overlap.Discipline{Kind: overlap.MaxSRPT}
	split   = overlap.Discipline{Kind: overlap.SplitSRPT}
)

func progressSection() report.Section {
	jobs := []overlap.Demand{{Map: 1, Shuffle: 2}, {Map: 3, Shuffle: 1}, {Map: 2, Shuffle: 2}}
	got, tandem := fluidRun(fcfs, jobs), tandemRun(fcfs, jobs)
	empty, rate := kinks(jobs)
	t := report.Table{Name: "figure2", Caption: "Completions (s) in order of arrival at both stations", Columns: []string{"model", "J1", "J2", "J3"}}
	t.Add("overlapping", got[0], got[1], got[2])
	t.Add("ordinary tandem queue", tandem[0], tandem[1], tandem[2])
	return report.Section{
		Title:  "Figures 2 and 3: workload progression",
		Text:   []string{"Jobs (1,2), (3,1) and (2,2) arrive at 0. In an ordinary tandem queue a job is shuffled when it is mapped, and not before."},
		Tables: []report.Table{t},
		Plots: slices.Concat(
			course{jobs, fluidLeft(fcfs, jobs), 6}.plots("figure2", "Figure 2"),
			course{jobs, tandemLeft(jobs), 8}.plots("figure3", "Figure 3, ordinary tandem queue")),
		Claims: []report.Claim{
			report.Check(near(got, 2, 4, 6), "Section 2.1: completions in the overlapping tandem queue", "2, 4, 6", list(got)),
			report.Check(near(tandem, 3, 5, 8), "Figure 3: completions in the ordinary tandem queue, by hand", "3, 5, 8", list(tandem)),
			report.Check(math.Abs(empty-2.5) < 1e-9, "the buffered shuffle work is drained at", "2.5 s", fmt.Sprintf("%.4g s", empty)),
			report.Check(math.Abs(rate-1.0/3) < 1e-9, "rate of the shuffle station from then until 4 s", "1/3", fmt.Sprintf("%.4g", rate)),
		},
	}
}

// kinks finds when the backlog of the first two jobs of Figure 2 is empty, and how fast the second is shuffled after
// that.
func kinks(jobs []overlap.Demand) (empty, rate float64) {
	s := overlap.New(fcfs, func(overlap.Completion) {})
	for _, j := range jobs {
		s.Arrive(j)
	}
	at := func(t float64) overlap.Left { // of the second job
		s.Advance(t)
		for _, l := range s.Left() {
			if l.Index == 1 {
				return l
			}
		}
		return overlap.Left{}
	}
	before := at(2.25)
	slope := (before.Backlog - at(2.375).Backlog) / 0.125
	empty = 2.25 + before.Backlog/slope
	return empty, (at(3).Shuffle - at(3.5).Shuffle) / 0.5
}

func hadoopSection() report.Section {
	jobs := figure4
	got, tandem := fluidRun(fifoPS, jobs), tandemRun(allPS, jobs)
	t := report.Table{
		Name: "figure4", Caption: "Completions (min) under FIFO at the map station and processor sharing at the shuffle station",
		Columns: []string{"model", "J1'", "J2'", "J3'"},
	}
	t.Add("overlapping", got[0], got[1], got[2])
	t.Add("ordinary tandem queue", tandem[0], tandem[1], tandem[2])
	return report.Section{
		Title: "Figure 4: three jobs on a Hadoop cluster",
		Text: []string{"Sort, grep and sort again, of 7 and 11, 10 and 3, 7 and 11 minutes of map and shuffle alone. (The paper says that the third is " +
			"configured as the first but prints (10, 3).) Of the run on the cluster it prints a picture alone; so there is no number to compare with."},
		Tables: []report.Table{t},
		Plots:  []report.Plot{progression("figure4plot", "Figure 4(b, e): work that is left in the model", fifoPS, jobs)},
		Claims: []report.Claim{
			report.Check(near(got, 89.0/7, 17, 28), "completions in the overlapping tandem queue, by hand", "12.71, 17, 28", list(got)),
		},
	}
}

// progression plots what is left at both stations.
func progression(name, title string, p overlap.Discipline, jobs []overlap.Demand) report.Plot {
	return course{jobs: jobs, left: fluidLeft(p, jobs), end: slices.Max(fluidRun(p, jobs))}.totals(name, title)
}

// tandemRun is an ordinary tandem queue: FIFO at the map station, and jobs are shuffled under the policy when their map
// work is done. The second station alone is a station of jobs without map work.
func tandemRun(p overlap.Discipline, jobs []overlap.Demand) []float64 {
	shuffles := make([]overlap.Demand, len(jobs))
	clock := 0.0
	for i, j := range jobs {
		clock = max(clock, j.Arrival) + j.Map
		shuffles[i] = overlap.Demand{Arrival: clock, Shuffle: j.Shuffle}
	}
	return fluidRun(p, shuffles)
}

func near(got []float64, want ...float64) bool {
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-9*want[i] {
			return false
		}
	}
	return true
}

func list(values []float64) string {
	text := ""
	for i, v := range values {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%.4g", v)
	}
	return text
}
