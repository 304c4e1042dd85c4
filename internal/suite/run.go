package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/simulation"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// Runs of each policy in a cell: so many that they have tasksToRun together, within bounds.
const (
	leastRuns  = 5
	mostRuns   = 30
	tasksToRun = 60_000
)

// contending is how far above the best the interval of a policy may begin where more runs may show that it is the best.
const contending = 1.05

// Reference is the policy that the machine time of others is compared with.
const Reference = "spark"

// apart are policies that have nothing to decide in a suite without deadlines and sites, and those that nobody has
// published.
var apart = []string{
	"auto", "fillsrpt",
	"chronos-clone", "chronos-restart", "chronos-resume", "edf", "laxity", "shed",
	"flutter", "geoclone", "iridium",
}

// sited tells presets for several sites.
func sited(name string) bool {
	return strings.Contains(name, "geo") || strings.HasPrefix(name, "flutter")
}

// Published returns the policies that a new one is measured against: all that are registered but for those for
// deadlines and sites and for the names in except. Where programs that run real tasks have a policy with other
// parameters ([policy.Live]), it is there with these, too.
func Published(except ...string) ([]string, error) {
	names := policy.Names()
	slices.Sort(names)
	var all []string
	for _, name := range names {
		if slices.Contains(apart, name) || slices.Contains(except, name) || sited(name) {
			continue
		}
		all = append(all, name)
		live, err := policy.Live(name)
		if err != nil {
			return nil, err
		}
		plain, err := policy.Canonical(name)
		if err != nil {
			return nil, err
		}
		if live, err = policy.Canonical(live); err != nil {
			return nil, err
		}
		if live != plain {
			all = append(all, live)
		}
	}
	return all, nil
}

// Row is what a policy did in a cell. Ratios are of its mean flow time to that of the best published policy, run by
// run.
type Row struct {
	Policy       string
	Flow, P99    float64 // seconds
	MachineHours float64
	Clones       float64
	Runs         int // also of one that is stuck
	Ratio        sim.Estimate
	Best         bool      // of the published
	Stuck        bool      // left jobs unfinished, or never ended: everything else is not known
	Flows        []float64 // mean flow time of each run, in seconds
	Wall         time.Duration
}

// Outcome is a cell, and what the policies did in it.
type Outcome struct {
	Cell Cell
	Rows []Row // in the order of the policies; not all need as many runs
}

// Runs says how often policies run in a cell.
type Runs struct {
	Each int // 0: as often as their tasks say
	Deep int // those that may be best, and those that do not compete, run as many times as often; 0 is 1
}

// Run runs the policies through a cell. The first of them, as many as published says, compete to be best; those behind
// are measured only. What an earlier outcome of the cell has of the first, if there is one, is taken from there: runs
// have the same seeds each time, so the ratios stay those of pairs.
func (c *Cell) Run(ctx context.Context, folder string, policies []string, published int, runs Runs, earlier *Outcome) (*Outcome, error) {
	at, err := c.World(folder)
	if err != nil {
		return nil, err
	}
	if runs.Each == 0 {
		runs.Each = runsOf(at)
	}
	deep := runs.Each * max(1, runs.Deep)
	out := &Outcome{Cell: *c, Rows: make([]Row, len(policies))}
	for i, name := range policies[:published] {
		if out.Rows[i], err = c.row(ctx, at, name, runs.Each, earlier); err != nil {
			return nil, err
		}
	}
	out.compare(published)
	for i, name := range policies {
		if i < published && (out.Rows[i].Runs >= deep || !out.Rows[i].contends()) {
			continue
		}
		if out.Rows[i], err = c.row(ctx, at, name, deep, nil); err != nil {
			return nil, err
		}
	}
	out.compare(published)
	return out, nil
}

// contends tells whether more runs may show that a policy is the best, or the machine time of others is compared with
// its own.
func (r *Row) contends() bool {
	return !r.Stuck && (r.Ratio.Mean-r.Ratio.Half <= contending || r.Policy == Reference)
}

// With returns the outcome with the rows of another of the same cell, which take the place of those of the same
// policies.
func (out *Outcome) With(more *Outcome) *Outcome {
	if out == nil {
		return more
	}
	all := *out
	all.Rows = slices.DeleteFunc(slices.Clone(out.Rows), func(r Row) bool { return more.Of(r.Policy) != nil })
	all.Rows = append(all.Rows, more.Rows...)
	return &all
}

// row returns what an earlier outcome has of a policy, or runs it where that has fewer runs, or is nil.
func (c *Cell) row(ctx context.Context, at *World, name string, runs int, earlier *Outcome) (Row, error) {
	if known := earlier.Of(name); known != nil && known.Runs >= runs {
		return *known, nil
	}
	r := Row{Policy: name, Runs: runs}
	began := time.Now()
	res, err := (&simulation.Request{
		Workload: at.Workload, Policies: []string{name}, Runs: runs, Seed: hashOf(c.ID()), Machines: at.Slots,
		Service: at.Service, Progress: at.Progress, Noise: at.Noise, NoiseKind: at.Kind, Limits: sched.DefaultLimits(),
	}).Run(ctx)
	r.Wall = time.Since(began)
	if errors.Is(err, sim.ErrStuck) {
		r.Stuck = true
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("%s: %s: %w", c.ID(), name, err)
	}
	for k := range res.Cells {
		cell := &res.Cells[k]
		r.Flows = append(r.Flows, cell.MeanFlow)
		r.Flow += cell.MeanFlow / float64(runs)
		r.P99 += cell.P99Flow / float64(runs)
		r.MachineHours += (cell.Fruitful + cell.Fruitless) / 3600 / float64(runs)
		r.Clones += float64(cell.Clones) / float64(runs)
		r.Stuck = r.Stuck || cell.Failed > 0
	}
	return r, nil
}

// compare finds the best of the published that have most runs, and sets the ratios to it, over the runs of both.
func (out *Outcome) compare(published int) {
	best, most := -1, 0
	for i := range out.Rows[:published] {
		r := &out.Rows[i]
		if r.Stuck {
			continue
		}
		if r.Runs > most || r.Runs == most && r.Flow < out.Rows[best].Flow {
			best, most = i, r.Runs
		}
	}
	for i := range out.Rows {
		r := &out.Rows[i]
		r.Ratio = sim.Estimate{Mean: math.NaN(), Half: math.NaN()}
		r.Best = i == best
		if best < 0 || r.Stuck {
			continue
		}
		ratios := make([]float64, min(len(r.Flows), most))
		for k := range ratios {
			ratios[k] = r.Flows[k] / out.Rows[best].Flows[k]
		}
		r.Ratio = sim.EstimateOf(ratios)
	}
}

// CheapFirst sorts cells by the tasks that a policy runs in them. Cells whose trace is absent come first.
func CheapFirst(cells []Cell, folder string) error {
	cost := make(map[Cell]int, len(cells))
	for _, c := range cells {
		at, err := c.World(folder)
		if errors.Is(err, ErrNoTrace) {
			continue
		}
		if err != nil {
			return err
		}
		cost[c] = runsOf(at) * tasksOf(at)
	}
	slices.SortStableFunc(cells, func(a, b Cell) int { return cmp.Compare(cost[a], cost[b]) })
	return nil
}

// runsOf returns how often each policy runs in a world.
func runsOf(at *World) int { return min(mostRuns, max(leastRuns, tasksToRun/max(1, tasksOf(at)))) }

func tasksOf(at *World) int {
	n := 0
	for j := range at.Workload.Jobs {
		n += at.Workload.TasksOf(j)
	}
	return n
}
