package simulation

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sim"
)

// IntervalFigures is a figure over the runs of a policy with its 95 % interval, nil where there is none.
type IntervalFigures struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	Doubt string   `json:"doubt"`       // why the interval may cover less often than 95 %; may be empty
	Runs  int      `json:"enough_runs"` // repetitions that would do; 0 if no number is known, or there are enough
}

func intervalFigures(i sim.Interval, doubt sim.Doubt) IntervalFigures {
	return IntervalFigures{show.Finite(i.Value), show.Finite(i.Low), show.Finite(i.High), doubt.String(), i.Enough}
}

// figure is one of those that have intervals.
type figure struct {
	name string // in JSON, and in the table
	of   func(*sim.Cell) float64
}

var estimated = []figure{
	{"mean_flow_seconds", sim.MeanFlow},
	{"median_flow_seconds", medianFlow},
	{"p90_flow_seconds", p90Flow},
	{"p99_flow_seconds", p99Flow},
	{"makespan_seconds", func(c *sim.Cell) float64 { return c.Makespan }},
}

// classEstimated are those of a class of jobs.
var classEstimated = append(estimated[:4:4], figure{"mean_slowdown", slowdown}, figure{"machine_seconds", machineSeconds})

// FigureIntervals is what is known of one figure of a policy: its mean over the runs, the ratio of it to the first
// policy's, from pairs of runs, and the median over the runs.
type FigureIntervals struct {
	Figure string           `json:"figure"`
	Mean   IntervalFigures  `json:"mean"`
	Ratio  *IntervalFigures `json:"ratio"` // nil for the first policy
	Middle IntervalFigures  `json:"median_run"`
}

// intervalsOf returns the intervals of figures of a policy, of all jobs or of those of a class.
func (r *Result) intervalsOf(x *sim.Comparison, policy int, figures []figure) (all []FigureIntervals) {
	for _, f := range figures {
		mean := x.Interval(policy, f.of)
		of := FigureIntervals{Figure: f.name, Mean: intervalFigures(mean, r.doubt(policy, mean)), Middle: intervalFigures(x.Middle(policy, f.of), sim.Sound)}
		if policy > 0 {
			ratio := ratioOf(x, policy, f)
			of.Ratio = new(intervalFigures(ratio, r.doubt(policy, ratio)))
		}
		all = append(all, of)
	}
	return all
}

// ratioOf compares a figure with the first policy's: mean flow times over the jobs that succeeded under both.
func ratioOf(x *sim.Comparison, policy int, f figure) sim.Interval {
	if f.name == estimated[0].name {
		return x.VersusRatio(policy)
	}
	return x.Ratio(policy, 0, f.of)
}

// doubt is what an interval is doubted for. Runs in which nothing was drawn are equal for certain.
func (r *Result) doubt(policy int, i sim.Interval) sim.Doubt {
	if i.Doubt == sim.Equal && (r.certain(policy) && r.certain(0)) {
		return sim.Sound
	}
	return i.Doubt
}

// certain tells whether no run of a policy has drawn anything: all attempts have lasted as recorded.
func (r *Result) certain(policy int) bool {
	if r.draws {
		return false
	}
	tasks := r.Workload.Tasks() // with a cut the attempts are fewer, and what a failure adds may be hidden
	for i := range r.Of(policy) {
		if c := &r.Of(policy)[i]; c.Clones > 0 || c.Attempts > tasks {
			return false
		}
	}
	return true
}

// spanOf writes a span with its interval.
func spanOf(i sim.Interval) string {
	if !(i.High > i.Low) {
		return show.Seconds(i.Value)
	}
	return fmt.Sprintf("%s [%s, %s]", show.Seconds(i.Value), show.Seconds(i.Low), show.Seconds(i.High))
}

// changeOf writes by how much a ratio is above or below 1, in percent.
func changeOf(i sim.Interval) string {
	percent := func(x float64) string {
		text := fmt.Sprintf("%+.1f", 100*(x-1))
		if text == "-0.0" {
			text = "+0.0"
		}
		return text
	}
	switch {
	case math.IsNaN(i.Value):
		return ""
	case !(i.High > i.Low):
		return percent(i.Value) + " %"
	}
	return fmt.Sprintf("%s [%s, %s] %%", percent(i.Value), percent(i.Low), percent(i.High))
}

// printDoubts warns of intervals that may cover too seldom: a line for each reason.
func (r *Result) printDoubts(w io.Writer) {
	of := map[sim.Doubt][]string{}
	enough := map[sim.Doubt]int{}
	note := func(subject string, policy int, i sim.Interval) {
		d := r.doubt(policy, i)
		of[d] = append(of[d], subject)
		enough[d] = max(enough[d], i.Enough)
	}
	var middles []string
	for k, name := range r.Policies {
		mean := r.Interval(k, sim.MeanFlow)
		note(name, k, mean)
		if mean.Doubt == sim.Heavy {
			middles = append(middles, fmt.Sprintf("of %s %s", name, spanOf(r.Middle(k, sim.MeanFlow))))
		}
		if k > 0 && mean.Doubt != sim.Equal {
			note(name+" vs "+r.Policies[0], k, r.VersusRatio(k))
		}
	}
	if names := of[sim.Skewed]; len(names) > 0 {
		fmt.Fprintf(w, "Warning: %d repetitions are few for %s: some differ much from the others. About %d would do.\n",
			r.Runs, strings.Join(names, ", "), enough[sim.Skewed])
	}
	if names := of[sim.Heavy]; len(names) > 0 {
		remedy := fmt.Sprintf("About %d would do", enough[sim.Heavy])
		if r.Tail <= 2 {
			remedy = "Its variance is infinite, so no number is enough for means"
		}
		if r.Runs >= 6 && len(middles) > 0 {
			remedy += "; the median repetition " + strings.Join(middles, ", ") + " has an interval"
		}
		fmt.Fprintf(w, "Warning: %d repetitions are few for %s: attempts last by a law whose tail falls like x^-%s. %s.\n",
			r.Runs, strings.Join(names, ", "), show.Plain(math.Round(100*r.Tail)/100), remedy)
	}
	if names := of[sim.Equal]; len(names) > 0 {
		fmt.Fprintf(w, "Warning: all %d repetitions of %s gave the same; up to %.0f %% of others may differ.\n",
			r.Runs, strings.Join(names, ", "), 100*(1-math.Pow(0.05, 1/float64(r.Runs))))
	}
}

// intervalTable has a row for each policy and figure.
func (r *Result) intervalTable() show.Table {
	header := []any{"policy", "figure", "mean", "median repetition"}
	if len(r.Policies) > 1 {
		header = append(header, "vs first")
	}
	t := show.NewTable(append(header, "doubt")...)
	for k, name := range r.Policies {
		for _, f := range estimated {
			mean := r.Interval(k, f.of)
			doubts := r.doubt(k, mean).String()
			row := []any{name, strings.ReplaceAll(strings.TrimSuffix(f.name, "_seconds"), "_", " "), spanOf(mean), spanOf(r.Middle(k, f.of))}
			if len(r.Policies) > 1 {
				change := ""
				if k > 0 {
					ratio := ratioOf(r.Comparison, k, f)
					change = changeOf(ratio)
					if d := r.doubt(k, ratio).String(); d != "" && d != doubts {
						doubts = strings.TrimPrefix(doubts+"; vs first: "+d, "; ")
					}
				}
				row = append(row, change)
			}
			t.Row(append(row, doubts)...)
		}
	}
	return t
}
