package tailcut

import (
	"context"
	"io"

	"github.com/tailcut/tailcut/internal/simulation"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// Simulation says what to simulate: a workload on Machines or on a Cluster. Other fields may be left out; then they
// are as if the flag of the same name of 'tailcut simulate' was.
type Simulation struct {
	Workload *trace.Workload // from trace.Load, trace.Read or trace.Synthesize
	Policies []string        // specifications; fifo if there is none; the others are compared with the first
	Runs     int             // repetitions per policy, 1 if 0; all policies see the same random draws
	Seed     uint64          // random seed

	Machines        int          // 1 to 2^24
	SlotsPerMachine string       // a number, or one for each class of slots, such as map=2,shuffle=2; 1 if empty
	Cluster         *sim.Cluster // several sites, instead of Machines and SlotsPerMachine
	SpeedFactor     float64      // all durations are divided by it; 1 if 0
	Failures        string       // of machines, such as mtbf=24h,mttr=10m; none if empty
	Limits          sched.Limits // on attempts and clones; sched.DefaultLimits if zero

	Service       string  // how long attempts last, as sim.ParseService reads it
	LaunchDelay   string  // a duration, or a law of seconds, that an attempt holds its slot before it begins
	Progress      string  // what policies are told of the progress of attempts, as sim.ParseProgress reads it, or auto
	DeadlineSlack float64 // jobs without a deadline get so many times what they take alone; 0 for none

	// What a cluster takes beside the work, such as heartbeat=3s,kill=500ms; see sim.ParseOverheads. Default none.
	Overheads string

	Cut string // jobs left out of all figures: auto, or numbers or spans at both ends such as 500,100 or 2h,30m
	By  string // what divides jobs into classes that have figures of their own, such as tasks:10,100, name or priority
}

// Comparison is what came of a simulation.
type Comparison struct {
	// Runs has a cell for each run of each policy. Its methods give means over runs and differences between policies
	// with their intervals; policies count from 0, in the order of Policies.
	Runs       *sim.Comparison
	Policies   []string // as they were called
	Told       []string // of progress, by policy; "unused" if it does not use any
	Durations  []string // of attempts, by policy: what it takes them from, see policy.Told
	Slots      int      // of all machines together
	LowerBound float64  // of the mean flow time under any policy, in seconds; 0 if none is known
	Classes    []string // of jobs, by Simulation.By; Runs.Class compares the jobs of one

	result *simulation.Result
}

// Simulate runs every policy over the workload, on as many goroutines as there are processors. The result depends on
// the simulation alone. Jobs of the workload are given the deadlines of DeadlineSlack.
//
// The error is of one line and names the field that is wrong; or it is [sim.ErrStuck] where a policy does not end the
// jobs, or that of ctx.
func Simulate(ctx context.Context, s Simulation) (*Comparison, error) {
	r := simulation.Request{
		Workload: s.Workload, Policies: s.Policies, Runs: s.Runs, Seed: s.Seed,
		Machines: s.Machines, Slots: s.SlotsPerMachine, Cluster: s.Cluster, Speed: s.SpeedFactor, Failures: s.Failures, Limits: s.Limits,
		Service: s.Service, LaunchDelay: s.LaunchDelay, Overheads: s.Overheads, Progress: s.Progress, DeadlineSlack: s.DeadlineSlack,
		Cut: s.Cut, By: s.By,
	}
	res, err := r.Run(ctx)
	if err != nil {
		return nil, err
	}
	return &Comparison{Runs: res.Comparison, Policies: res.Policies, Told: res.Told, Durations: res.Durations, Slots: res.Slots, LowerBound: res.LowerBound, Classes: res.Classes, result: res}, nil
}

// MeanFlow estimates a policy's mean flow time, which is the time from a job's arrival to its end, in seconds.
func (c *Comparison) MeanFlow(policy int) sim.Estimate { return c.Runs.Mean(policy, sim.MeanFlow) }

// Versus estimates by how much a policy's mean flow time exceeds the first policy's.
func (c *Comparison) Versus(policy int) sim.Versus { return c.Runs.Versus(policy) }

// WriteText writes the table of 'tailcut simulate', WriteJSON what it writes with --format json.
func (c *Comparison) WriteText(w io.Writer) error { return c.result.WriteText(w) }

// WriteJSON writes the comparison for programs.
func (c *Comparison) WriteJSON(w io.Writer) error { return c.result.WriteJSON(w) }
