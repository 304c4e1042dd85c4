package reproduce

import (
	"context"
	"fmt"
	"sort"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// series runs policies on one workload after the other. Its comparison has a run for each run on each workload, so that
// differences are paired within both.
type series struct {
	policies  []string // specifications
	machines  int
	workloads int
	runs      int // on each workload
	seed      uint64
	workload  func(seed uint64) (*trace.Workload, error)
	// what policies that look at progress are told of it; nil for the end of an attempt at its launch
	reports *sim.Progress
	slots   int          // of a machine; 0 means 1
	limits  sched.Limits // none, unless the experiment sets them
	// is shown the jobs of each run, whose results are those of one workload; nil if nobody looks
	seen func(policy, at int, w *trace.Workload, jobs []sim.JobResult)

	sim.Comparison
	shares [][][]float64 // by policy and run: of jobs with a flow time of at most flowGrid[i]
}

// newSeries returns the series that has still to be run.
func newSeries(seed uint64, machines, workloads, runs int, policies []string, w func(uint64) (*trace.Workload, error)) *series {
	all := workloads * runs
	s := &series{
		policies: policies, machines: machines, workloads: workloads, runs: runs, seed: seed, workload: w, limits: sched.NoLimits(),
		Comparison: sim.Comparison{Cells: make([]sim.Cell, len(policies)*all), Runs: all}, shares: make([][][]float64, len(policies)),
	}
	for p := range s.shares {
		s.shares[p] = make([][]float64, all)
	}
	return s
}

// steps returns one step for each workload.
func (s *series) steps() (steps []func(context.Context) error) {
	for k := range s.workloads {
		steps = append(steps, func(ctx context.Context) error { return s.run(ctx, k) })
	}
	return steps
}

// run runs all policies on workload k.
func (s *series) run(ctx context.Context, k int) error {
	seed := sim.RunSeed(s.seed, k)
	w, err := s.workload(seed)
	if err != nil {
		return err
	}
	e := sim.Experiment{Workload: w, Runs: s.runs, Options: sim.Options{Machines: s.machines, Slots: s.slots, Limits: s.limits, Seed: seed}}
	for _, spec := range s.policies {
		looks, err := policy.UsesProgress(spec)
		if err != nil {
			return err
		}
		c := sim.Candidate{Name: spec, Exact: looks, New: func(seed uint64) (sched.Policy, error) { return policy.New(spec, seed) }}
		if looks && s.reports != nil {
			e.Options.Progress.Noise, e.Options.Progress.Persists = s.reports.Noise, s.reports.Persists
			c.Exact, c.Every = s.reports.Exact, s.reports.Every
		}
		e.Policies = append(e.Policies, c)
	}
	e.Done = func(c *sim.Cell, jobs []sim.JobResult) error {
		at := k*s.runs + c.Run
		s.Of(c.Policy)[at] = *c
		s.shares[c.Policy][at] = flowShares(jobs)
		if s.seen != nil {
			s.seen(c.Policy, at, w, jobs)
		}
		return nil
	}
	_, err = e.Run(ctx)
	return err
}

// flowGrid are the flow times in seconds at which distributions are looked at.
var flowGrid = func() (grid []float64) {
	for t := 0; t < 300; t += 5 {
		grid = append(grid, float64(t))
	}
	for t := 300; t <= 4000; t += 50 {
		grid = append(grid, float64(t))
	}
	return grid
}()

// flowShares returns the share of jobs with a flow time of at most each of the grid's. Jobs that failed are in none.
func flowShares(jobs []sim.JobResult) []float64 {
	shares := make([]float64, len(flowGrid))
	for i := range jobs {
		flow := (jobs[i].Completion - jobs[i].Arrival).Seconds()
		if at := sort.SearchFloat64s(flowGrid, flow); at < len(shares) && !jobs[i].Failed {
			shares[at]++
		}
	}
	sum := 0.0
	for i, n := range shares {
		sum += n
		shares[i] = sum / float64(len(jobs))
	}
	return shares
}

// share estimates the share of a policy's jobs with a flow time of at most some seconds, one of the grid's.
func (s *series) share(policy int, seconds float64) sim.Estimate {
	at := sort.SearchFloat64s(flowGrid, seconds)
	all := make([]float64, s.Runs)
	for k := range all {
		all[k] = s.shares[policy][k][at]
	}
	return sim.EstimateOf(all)
}

// shareAbove estimates how much larger the share is than another policy's, run by run.
func (s *series) shareAbove(policy, other int, seconds float64) sim.Estimate {
	at := sort.SearchFloat64s(flowGrid, seconds)
	all := make([]float64, s.Runs)
	for k := range all {
		all[k] = s.shares[policy][k][at] - s.shares[other][k][at]
	}
	return sim.EstimateOf(all)
}

// reduction estimates by which part of a rival's mean flow time the first policy's is smaller, over the jobs that
// succeeded under both.
func (s *series) reduction(rival int) sim.Estimate {
	v := s.Versus(rival)
	base := v.First + v.Difference.Mean
	return sim.Estimate{Mean: v.Difference.Mean / base, Half: v.Difference.Half / base, N: v.Difference.N}
}

// failedShare is the share of a run's jobs that failed.
func failedShare(c *sim.Stats) float64 {
	return float64(c.Failed) / float64(max(1, c.Failed+c.Succeeded))
}

// curve is the distribution of a policy's flow times between two of the grid's.
func (s *series) curve(name string, policy int, from, to float64) report.Series {
	c := report.Series{Name: name, Kind: report.Line}
	for _, t := range flowGrid {
		if t >= from && t <= to {
			c.X, c.Y = append(c.X, t), append(c.Y, s.share(policy, t).Mean)
		}
	}
	return c
}

// judge is the claim that something lies from low to high.
func judge(e sim.Estimate, low, high float64, what, published, measured string) report.Claim {
	return report.Judge(e.Mean, e.Half, e.N, low, high, what, published, measured)
}

// percent writes a share with its interval.
func percent(e sim.Estimate) string { return fmt.Sprintf("%.1f ± %.1f %%", 100*e.Mean, 100*e.Half) }

// wholeSeconds writes a time with its interval.
func wholeSeconds(e sim.Estimate) string { return fmt.Sprintf("%.0f ± %.0f s", e.Mean, e.Half) }

// errorBars returns the estimates as a line with error bars.
func errorBars(name string, x []float64, of func(i int) sim.Estimate) report.Series {
	s := report.Series{Name: name, Kind: report.Line, X: x}
	for i := range x {
		e := of(i)
		s.Y, s.Low, s.High = append(s.Y, e.Mean), append(s.Low, e.Mean-e.Half), append(s.High, e.Mean+e.Half)
	}
	return s
}
