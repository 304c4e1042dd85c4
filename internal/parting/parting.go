// Package parting compares what the attempts of two runs of the same jobs did, such as a live run and its simulation:
// by how much the flow times of jobs differ, and from what on.
//
// Each job's flow time is cut into parts along its last chain of tasks, so that the parts add up to it (see chain.go).
package parting

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/timeline"
	"github.com/tailcut/tailcut/sched"
)

// Parts are the parts of a job's flow time, or the differences of two jobs' parts, in seconds.
type Parts struct {
	Waiting     float64 `json:"waiting"`      // for a slot, since the job or the stage could begin
	Order       float64 `json:"order"`        // of Waiting, what the order of starts explains; only of differences
	LaunchDelay float64 `json:"launch_delay"` // that attempts held slots before they began
	Durations   float64 `json:"durations"`    // of attempts that won with no other beside them or before them
	Clones      float64 `json:"clones"`       // since the first attempt of a task that a clone won began
	Failures    float64 `json:"failures"`     // of attempts before the last one that was no clone
	Finishing   float64 `json:"finishing"`    // after the job's last task, and what drivers took between stages
}

// plus adds a multiple of other parts.
func (p Parts) plus(o Parts, times float64) Parts {
	return Parts{
		Waiting: p.Waiting + times*o.Waiting, Order: p.Order + times*o.Order, LaunchDelay: p.LaunchDelay + times*o.LaunchDelay,
		Durations: p.Durations + times*o.Durations, Clones: p.Clones + times*o.Clones, Failures: p.Failures + times*o.Failures,
		Finishing: p.Finishing + times*o.Finishing,
	}
}

// Side is what one of the two runs did in the jobs that succeeded in both.
type Side struct {
	Policy         string  `json:"policy"`
	MeanFlow       float64 `json:"mean_flow_seconds"`
	Parts          Parts   `json:"parts_seconds"` // means of jobs
	Attempts       int     `json:"attempts"`
	Clones         int     `json:"clones"`
	ClonesWon      int     `json:"clones_won"`
	Failed         int     `json:"failed_attempts"` // crashed and refused ones too
	MeanDelay      float64 `json:"mean_launch_delay_seconds"`
	MeanFirst      float64 `json:"mean_first_attempt_seconds"` // of first attempts that won in both runs
	sums           Parts
	firsts, delays float64
}

// Gap is the difference of a job that succeeded in both runs.
type Gap struct {
	Name       string  `json:"job"`
	Run        float64 `json:"run_flow_seconds"`
	Sim        float64 `json:"sim_flow_seconds"`
	Difference float64 `json:"difference_seconds"` // Sim less Run
	Parts      Parts   `json:"parts"`              // of the difference; all but Order add up to it
}

// Start is an attempt that was launched at some place in the order of first attempts.
type Start struct {
	Job   string  `json:"job"`
	Stage string  `json:"stage"`
	Task  uint32  `json:"task"`
	At    float64 `json:"at_seconds"`
}

// Result compares two runs.
type Result struct {
	Schema   string  `json:"schema"`
	Run      Side    `json:"run"`
	Sim      Side    `json:"sim"`
	Ratio    float64 `json:"ratio"` // of the mean flow times, Sim to Run
	Jobs     []Gap   `json:"jobs"`  // in the order of submission
	LeftOut  int     `json:"jobs_left_out"`
	SameRank int     `json:"starts_in_same_place"` // of first attempts
	Starts   int     `json:"starts"`
	Place    int     `json:"first_other_start"` // from 1; 0 if the order is the same
	RunStart *Start  `json:"run_start,omitempty"`
	SimStart *Start  `json:"sim_start,omitempty"`
}

// Schema names the format of WriteJSON.
const Schema = "tailcut.compare/v1"

// Compare compares two runs of the same jobs. Jobs are the same if their names are, or their places in the order of
// submission where names repeat or differ. The error says why the runs are not of the same jobs.
func Compare(run, sim *timeline.Timeline) (*Result, error) {
	pairs, err := match(run, sim)
	if err != nil {
		return nil, err
	}
	a, b := lives(run), lives(sim)
	r := &Result{Schema: Schema, Run: Side{Policy: run.Policy}, Sim: Side{Policy: sim.Policy}, Jobs: []Gap{}}
	r.LeftOut = max(len(run.Jobs), len(sim.Jobs)) - len(pairs)
	for _, p := range pairs {
		b[p[1]].callAs(a[p[0]])
	}
	place := newPlaces(a, b, pairs)
	first := 0
	for _, p := range pairs {
		x, y := a[p[0]], b[p[1]]
		if !x.succeeded() || !y.succeeded() {
			r.LeftOut++
			continue
		}
		path, partsRun := x.chain()
		_, partsSim := y.chain()
		job := Gap{Name: x.row.Name, Run: x.flow(), Sim: y.flow(), Difference: y.flow() - x.flow(), Parts: partsSim.plus(partsRun, -1)}
		for _, t := range path {
			job.Parts.Order -= place.shift(p[0], t)
		}
		r.Jobs = append(r.Jobs, job)
		r.Run.add(x, partsRun)
		r.Sim.add(y, partsSim)
		for _, m := range x.order {
			if n := y.tasks[m.key]; n != nil && !m.driver && m.alone() && n.alone() {
				r.Run.firsts += m.took()
				r.Sim.firsts += n.took()
				first++
			}
		}
	}
	if len(r.Jobs) == 0 {
		return nil, errors.New("no job has succeeded in both runs")
	}
	r.Run.mean(len(r.Jobs), first)
	r.Sim.mean(len(r.Jobs), first)
	r.Ratio = r.Sim.MeanFlow / r.Run.MeanFlow
	place.compare(r)
	return r, nil
}

// add adds a job.
func (s *Side) add(l *life, p Parts) {
	s.MeanFlow += l.flow()
	s.sums = s.sums.plus(p, 1)
	for _, t := range l.order {
		if t.driver {
			continue
		}
		for i := range t.rows {
			r := &t.rows[i]
			s.Attempts++
			s.delays += (r.Start - r.Launched).Seconds()
			switch {
			case r.Clone && r.End == live.Won:
				s.ClonesWon++
			case !r.Clone && (r.End == live.Failed || r.End == live.Crashed || r.End == live.Refused):
				s.Failed++
			}
			if r.Clone {
				s.Clones++
			}
		}
	}
}

// mean turns sums into means.
func (s *Side) mean(jobs, firsts int) {
	s.MeanFlow /= float64(jobs)
	s.Parts = Parts{}.plus(s.sums, 1/float64(jobs))
	s.MeanDelay = s.delays / float64(max(1, s.Attempts))
	s.MeanFirst = s.firsts / float64(max(1, firsts))
}

// match pairs the positions of equal jobs, in the order of submission to the first run. A simulation of what a server
// has done has none of the jobs that did not succeed there: where the numbers of jobs differ these are not matched.
func match(run, sim *timeline.Timeline) (pairs [][2]int, err error) {
	first, second := submitted(run, false), submitted(sim, false)
	if len(first) != len(second) {
		first, second = submitted(run, true), submitted(sim, true)
	}
	if len(first) != len(second) {
		return nil, fmt.Errorf("the runs are of different jobs: %d and %d; compare runs of the same jobs", len(run.Jobs), len(sim.Jobs))
	}
	names := func(t *timeline.Timeline, some []int) map[string]int {
		all := map[string]int{}
		for _, i := range some {
			all[t.Jobs[i].Name] = i
		}
		return all
	}
	named, other := names(run, first), names(sim, second)
	same := len(named) == len(first)
	for name := range named {
		_, known := other[name]
		same = same && known
	}
	for k, i := range first {
		j := second[k]
		if same {
			j = other[run.Jobs[i].Name]
		}
		pairs = append(pairs, [2]int{i, j})
	}
	return pairs, nil
}

// submitted returns the positions of the jobs of a run in the order of submission: all, or those that have succeeded.
func submitted(t *timeline.Timeline, succeeded bool) (order []int) {
	for i := range t.Jobs {
		if !succeeded || t.Jobs[i].State == timeline.State(sched.JobSucceeded) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(t.Jobs[a].Submitted, t.Jobs[b].Submitted), cmp.Compare(t.Jobs[a].ID, t.Jobs[b].ID))
	})
	return order
}

func seconds(t sched.Time) float64 { return t.Seconds() }
