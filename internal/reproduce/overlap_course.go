package reproduce

import (
	"fmt"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/report"
)

// course is how the work of jobs that arrive at 0 goes down.
type course struct {
	jobs []overlap.Demand
	// begins at 0, and tells of the jobs that are present at t, which does not fall from call to call
	left func() func(t float64) []overlap.Left
	end  float64 // when the last is done
}

// moments is the number of points of a plot.
const moments = 240

// fluidLeft is the course under a policy.
func fluidLeft(p overlap.Discipline, jobs []overlap.Demand) func() func(t float64) []overlap.Left {
	return func() func(t float64) []overlap.Left {
		s := overlap.New(p, func(overlap.Completion) {})
		for _, j := range jobs {
			s.Arrive(j)
		}
		return func(t float64) []overlap.Left {
			s.Advance(t)
			return s.Left()
		}
	}
}

// tandemLeft is the course in an ordinary tandem queue, first come, first served at both stations: a job is mapped from
// when the last is until, and then shuffled when the last has been.
func tandemLeft(jobs []overlap.Demand) func() func(t float64) []overlap.Left {
	at := func(t float64) (all []overlap.Left) {
		mapped, shuffled := 0.0, 0.0
		for i, j := range jobs {
			l := overlap.Left{Index: int64(i), Map: min(j.Map, max(0, mapped+j.Map-t))}
			mapped += j.Map
			start := max(mapped, shuffled)
			shuffled = start + j.Shuffle
			l.Shuffle = min(j.Shuffle, max(0, shuffled-t))
			if t >= mapped {
				l.Backlog = l.Shuffle
			}
			if l.Map > 0 || l.Shuffle > 0 {
				all = append(all, l)
			}
		}
		return all
	}
	return func() func(t float64) []overlap.Left { return at }
}

// totals plots what is left at both stations.
func (c course) totals(name, title string) report.Plot {
	series := []report.Series{
		{Name: "map work", Kind: report.Line},
		{Name: "shuffle work", Kind: report.Line},
		{Name: "of it available", Kind: report.Line},
	}
	at := c.left()
	for i := range moments + 1 {
		t := c.end * float64(i) / moments
		var sum [3]float64
		for _, l := range at(t) {
			sum[0], sum[1], sum[2] = sum[0]+l.Map, sum[1]+l.Shuffle, sum[2]+l.Backlog
		}
		for i := range series {
			series[i].X, series[i].Y = append(series[i].X, t), append(series[i].Y, sum[i])
		}
	}
	return report.Plot{Name: name, Title: title, X: "time", Y: "work left", Series: series}
}

// perJob plots what is done of each job at both stations, and what is ready to be shuffled. All map work is ready from
// the arrival on.
func (c course) perJob(name, title string) (maps, shuffles report.Plot) {
	maps = report.Plot{Name: name + "b", Title: title + " (b): map progress", X: "time", Y: "map work done"}
	shuffles = report.Plot{Name: name + "d", Title: title + " (d): shuffle progress", X: "time", Y: "shuffle work done"}
	for i := range c.jobs {
		job := fmt.Sprintf("J%d", i+1)
		maps.Series = append(maps.Series, report.Series{Name: job, Kind: report.Line})
		shuffles.Series = append(shuffles.Series, report.Series{Name: job, Kind: report.Line}, report.Series{Name: job + " ready", Kind: report.Line})
	}
	at := c.left()
	for i := range moments + 1 {
		t := c.end * float64(i) / moments
		left := make([]overlap.Left, len(c.jobs))
		for _, l := range at(t) {
			left[l.Index] = l
		}
		for i, j := range c.jobs {
			done := j.Shuffle - left[i].Shuffle
			for s, y := range map[*report.Series]float64{
				&maps.Series[i]: j.Map - left[i].Map, &shuffles.Series[2*i]: done, &shuffles.Series[2*i+1]: done + left[i].Backlog,
			} {
				s.X, s.Y = append(s.X, t), append(s.Y, y)
			}
		}
	}
	return maps, shuffles
}

// plots is both stations' totals, and the progress of each job.
func (c course) plots(name, title string) []report.Plot {
	maps, shuffles := c.perJob(name, title)
	return []report.Plot{c.totals(name+"ac", title+" (a, c): work that is left"), maps, shuffles}
}
