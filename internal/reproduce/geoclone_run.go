package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// geoRun is some policies in one world, several times with other luck.
type geoRun struct {
	name     string // of the world, for errors
	specs    []string
	runs     int
	seed     uint64
	workload func(run int) (*trace.Workload, error)
	cluster  func() (*sim.Cluster, error)
	model    sim.Model // nil for that of clusters

	limits sched.Limits
	window float64     // seconds in which jobs arrive, 0 if all that happens is looked at
	prices []float64   // see gauge
	cells  [][]geoCell // by policy and run
}

// geoCell is what became of a run under a policy.
type geoCell struct {
	sim.Stats
	flows []float64 // by job, seconds; not a number if it failed
	tasks int
	// share of slots in use in the second half of the window, and what 90 % of that time stay below
	used, most   float64
	busy         [101]float64 // see gauge
	launched     tallied
	racing       tallied
	moved, price float64 // bytes between sites, $
	bytes        float64 // of profiling reports
}

// waxman returns a run of the rows in the paper's world.
func waxman(o *Options, name, mix string, sites int, skew, lambda, window float64, runs int, specs []string) *geoRun {
	g := &geoRun{name: name, specs: specs, runs: runs, seed: o.Seed, window: window, limits: sched.NoLimits()}
	g.workload = func(int) (*trace.Workload, error) {
		return (&trace.MontageJobs{Jobs: max(2, int(lambda*window)), Mix: mix, Rate: lambda, Scale: montageScale, Seed: o.Seed}).Workload(name)
	}
	g.cluster = func() (*sim.Cluster, error) {
		return (&sim.Waxman{Sites: sites, Slots: 300 * sites, Skew: skew, Slowdown: dollySlowdown(), Uneven: true, Seed: o.Seed}).Cluster(), nil
	}
	g.cells = make([][]geoCell, len(specs))
	for p := range g.cells {
		g.cells[p] = make([]geoCell, runs)
	}
	return g
}

// dollySlowdown is the scaling factor of Figure 2.
func dollySlowdown() laws.Law {
	law, err := laws.Parse(sim.Dolly)
	if err != nil {
		panic(err) // it is constant
	}
	return law
}

// steps returns one step for each policy and run.
func (g *geoRun) steps() (steps []func(context.Context) error) {
	for k := range g.runs {
		for p := range g.specs {
			steps = append(steps, func(ctx context.Context) error {
				if err := g.one(ctx, p, k); err != nil {
					return fmt.Errorf("%s, %s: %w", g.name, g.specs[p], err)
				}
				return nil
			})
		}
	}
	return steps
}

// one runs policy p with the luck of run k.
func (g *geoRun) one(ctx context.Context, p, k int) error {
	w, err := g.workload(k)
	if err != nil {
		return err
	}
	c, err := g.cluster()
	if err != nil {
		return err
	}
	seed := sim.RunSeed(g.seed, k)
	x, err := policy.New(g.specs[p], seed)
	if err != nil {
		return err
	}
	policy.Tell(x, c.Law)
	exact, err := policy.UsesProgress(g.specs[p])
	if err != nil {
		return err
	}
	exact = exact && hears(g.specs[p])
	watched := &gauge{Policy: x, from: sched.FromSeconds(g.window / 2), to: sched.FromSeconds(g.window), prices: g.prices}
	if g.window == 0 {
		watched.to = sched.Never
	}
	res, err := sim.Run(ctx, w, watched, sim.Options{Cluster: c, Model: g.model, Limits: g.limits, Progress: sim.Progress{Exact: exact}, Seed: seed})
	if err != nil {
		return err
	}
	cell := geoCell{
		Stats: res.Stats(), tasks: len(w.Durations), launched: watched.launched, racing: watched.racing, moved: watched.moved, price: watched.cost, bytes: float64(policy.ReportBytes(x)),
		busy: watched.busy,
	}
	cell.used, cell.most = watched.used()
	for i := range res.Jobs {
		flow := (res.Jobs[i].Completion - res.Jobs[i].Arrival).Seconds()
		if res.Jobs[i].Failed {
			flow = math.NaN()
		}
		cell.flows = append(cell.flows, flow)
	}
	g.cells[p][k] = cell
	return nil
}

// hears tells whether attempts report to a policy that uses that. In its paper nothing reports to GeoClone: its rows
// are without reports unless they name them.
func hears(spec string) bool {
	return !strings.HasPrefix(spec, "geoclone") || strings.Contains(spec, "left=progress")
}

// mean estimates the mean over runs of what a policy shows.
func (g *geoRun) mean(p int, of func(*geoCell) float64) sim.Estimate {
	return g.estimate(func(k int) float64 { return of(&g.cells[p][k]) })
}

func meanFlowOf(c *geoCell) float64 { return c.MeanFlow }

// flowMinutes is the mean flow time as plots have it: five digits would reach into the axis' label.
func flowMinutes(c *geoCell) float64 { return c.MeanFlow / 60 }

// perTask is the mean number of attempts of a task.
func perTask(c *geoCell) float64 { return float64(c.Attempts) / float64(c.tasks) }

// fruitless is the part of a policy's machine time that went into attempts that did not count, in per cent.
func (g *geoRun) fruitless(p int) float64 {
	return 100 * g.mean(p, func(c *geoCell) float64 { return c.Fruitless / max(c.Fruitful+c.Fruitless, 1e-9) }).Mean
}

// failed is the share of a policy's jobs that failed, in per cent.
func (g *geoRun) failed(p int) float64 {
	return 100 * g.mean(p, func(c *geoCell) float64 { return failedShare(&c.Stats) }).Mean
}

// less is by how much the mean flow time under a policy is less in run k than under another, as a fraction of the
// latter, over the jobs that succeeded under both.
func (g *geoRun) less(p, than, k int) float64 {
	ours, theirs := 0.0, 0.0
	for j, a := range g.cells[p][k].flows {
		if b := g.cells[than][k].flows[j]; !math.IsNaN(a) && !math.IsNaN(b) {
			ours += a
			theirs += b
		}
	}
	return 1 - ours/theirs
}

// estimate is the mean over the runs of what run k shows.
func (g *geoRun) estimate(of func(k int) float64) sim.Estimate {
	all := make([]float64, g.runs)
	for k := range all {
		all[k] = of(k)
	}
	return sim.EstimateOf(all)
}

// reduction estimates less over the runs.
func (g *geoRun) reduction(p, than int) sim.Estimate {
	return g.estimate(func(k int) float64 { return g.less(p, than, k) })
}

// reductions returns each job's reduction in ascending order, of flow times averaged over the runs but one, as the
// paper defines it; over all if that one is negative. Jobs that failed in any of these are left out.
func (g *geoRun) reductions(p, than, without int) []float64 {
	var all []float64
	for j := range g.cells[p][0].flows {
		ours, theirs := 0.0, 0.0
		for k := range g.runs {
			if k != without {
				ours += g.cells[p][k].flows[j]
				theirs += g.cells[than][k].flows[j]
			}
		}
		if reduction := 1 - ours/theirs; !math.IsNaN(reduction) {
			all = append(all, reduction)
		}
	}
	slices.Sort(all)
	return all
}

// ofJobs is what the jobs' reductions show, with an interval by the jackknife: they are of averages over the runs.
func (g *geoRun) ofJobs(p, than int, show func(reductions []float64) float64) sim.Estimate {
	n, whole := float64(g.runs), show(g.reductions(p, than, -1))
	e := sim.Estimate{Mean: whole, N: g.runs}
	if g.runs > 1 {
		e.Half = g.estimate(func(k int) float64 { return n*whole - (n-1)*show(g.reductions(p, than, k)) }).Half
	}
	return e
}

// exceeded is what 70 % of them exceed.
func exceeded(reductions []float64) float64 { return reductions[int(0.3*float64(len(reductions)))] }

// useless is the share of them that is not positive.
func useless(reductions []float64) float64 {
	n, _ := slices.BinarySearch(reductions, math.SmallestNonzeroFloat64)
	return float64(n) / float64(len(reductions))
}

// stepsOf are those of several worlds.
func stepsOf(runs []*geoRun) (steps []func(context.Context) error) {
	for _, g := range runs {
		steps = append(steps, g.steps()...)
	}
	return steps
}

// racing and launched are the attempts per task of a policy, over all runs.
func (g *geoRun) racing(p int) (all tallied) {
	for k := range g.runs {
		all.merge(g.cells[p][k].racing)
	}
	return all
}

func (g *geoRun) launched(p int) (all tallied) {
	for k := range g.runs {
		all.merge(g.cells[p][k].launched)
	}
	return all
}

// occupancy is the seconds for which a percentage of the slots was in use, over all runs.
func (g *geoRun) occupancy(p int) (all [101]float64) {
	for k := range g.runs {
		for percent, seconds := range g.cells[p][k].busy {
			all[percent] += seconds
		}
	}
	return all
}
