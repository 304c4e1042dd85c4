package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// GeoClone: Wang, Qian, Jiao, Li, Lu. The world is package sim's Waxman, the jobs are package trace's Montage; their
// readings are said there.
var geoclonePaper = Experiment{
	Name:  "geoclone",
	Paper: "Wang, Qian, Jiao, Li, Lu: GeoClone: Online Task Replication and Scheduling for Geo-Distributed Analytics under Uncertainties",
	Run:   runGeoclone,

	Repeats: true,
}

// geoRows are the policies, and readings of them, in the order of the tables. GeoClone's differ in p of line 10, see
// docs/decisions/0070; the first carries the claims. The paper compares with Dolly, Mantri, Flutter and Iridium.
var geoRows = []struct{ name, spec string }{
	{"GeoClone", "geoclone"},
	{"GeoClone, best p, 4 at most", "geoclone:stop=best,copies=4"},
	{"Flutter+Dolly", "flutter+dolly:p=0.29"},
	{"Flutter+Mantri", "flutter+mantri"},
	{"GeoClone, least p", "geoclone:stop=least"},
	{"GeoClone, best p", "geoclone:stop=best"},
	{"Flutter", "flutter"},
	{"Iridium", "iridium"},
}

const (
	rowGeoclone = iota
	rowGeocloneFour
	rowGeoDolly
	rowGeoMantri
	rowGeoLeast
	rowGeoBest
	rowFlutter
	rowIridium
)

// montageScale is the factor on Montage's durations at which Flutter's attempts need 45 % of 30,000 slots at 0.15 jobs
// per second: raw, they need a few percent.
const montageScale = 19

// geoScale is how much of everything there is. Windows are the seconds in which jobs arrive.
type geoScale struct {
	runs     int          // with other luck
	windows  [2]float64   // of Figures 6 to 8, by mix
	lambdas  [2][]float64 // likewise, jobs per second; see load
	window   float64      // of Figures 9, 10 and 12
	skews    []float64    // of Figure 9
	size     int          // sites where a figure does not vary them
	sites    []int        // of Figure 10
	busy     float64      // window of Figure 11
	loads    []float64    // of Figure 11, jobs per second
	epsilons []float64    // likewise
	testbed  int          // runs
	clouds   int          // runs
}

// load returns the index of a mix's rate that is light (0), moderate (1) or high (2) load. HPC-like jobs are 4.8 times
// as large, so that the moderate rate is their last: they would need all slots there without a clone, and more than
// twice as many at the high one.
func (s *geoScale) load(mix, which int) int {
	if which == 0 {
		return 0
	}
	if which == 1 && mix == 0 {
		return 1
	}
	return len(s.lambdas[mix]) - 1
}

func runGeoclone(ctx context.Context, o Options) (*report.Page, error) {
	scale := geoScale{
		runs: 10, windows: [2]float64{12_000, 4000}, lambdas: [2][]float64{{0.02, 0.07, 0.11, 0.15}, {0.02, 0.045, 0.07}}, window: 2000, skews: []float64{0, 0.5, 1, 1.5, 2},
		size: 100, sites: []int{20, 50, 100, 200, 500}, busy: 4000, loads: []float64{0.2, 0.25, 0.3}, epsilons: []float64{0.6, 0.9}, testbed: 30, clouds: 30,
	}
	if o.Quick {
		scale.runs, scale.windows, scale.window, scale.busy = 3, [2]float64{3000, 1500}, 1000, 1500
		scale.lambdas = [2][]float64{{0.02, 0.07, 0.15}, {0.02, 0.07}}
		scale.skews, scale.sites, scale.loads, scale.epsilons = []float64{0, 1, 2}, []int{20, 100}, []float64{0.25}, []float64{0.6, 0.9}
		scale.testbed, scale.clouds = 10, 5
	}
	if o.Runs > 0 {
		scale.runs, scale.testbed, scale.clouds = o.Runs, o.Runs, o.Runs
	}
	return scale.run(ctx, o)
}

func (s *geoScale) run(ctx context.Context, o Options) (*report.Page, error) {
	f := newGeoFigures(s, &o)
	clouds, err := newGeoClouds(s, &o)
	if err != nil {
		return nil, err
	}
	testbed := newGeoTestbed(s, &o)
	var steps []func(context.Context) error
	for _, x := range append(append(f.all(), testbed), clouds.runs...) {
		steps = append(steps, x.steps()...)
	}
	if err := o.each(ctx, steps); err != nil {
		return nil, err
	}
	known := geoKnown
	if o.Quick {
		known = slices.Concat(geoKnown, geoQuickKnown)
	}
	page := &report.Page{
		Name: "geoclone", Title: "Cloning tasks across sites", Known: known,
		Intro: []string{
			"Wang and others start the attempts of a task at several sites, those of the jobs that are nearest their end first. A figure's runs have one workload and one cluster, " +
				"as in the paper, and each its own random seed; within a run all policies see the same random draws. Intervals are 95 %, over runs.",
			verdicts,
			fmt.Sprintf("Jobs arrive for %.0f s (Facebook-like; %.0f s HPC-like) into an empty cluster. Durations are Montage's times %d, the least at which Flutter's attempts would need 45 %% of the slots at 0.15 Facebook-like jobs "+
				"per second for ever; the tables show how near the window comes to that. Slots used, and attempts per task in Figure 8, are of the second half of the window. The paper prints curves without numbers: what can be compared "+
				"are the percentages in its text.", s.windows[0], s.windows[1], montageScale),
			"Four rows for GeoClone. By its printed rule a task has two bounds: its job's share of slots, and no further attempt once the expected time is below p(1+ε)u. What p is decides. The first row takes what the task's first " +
				"attempt is expected to take at its site, and carries the claims; one takes the least that an attempt is expected to take at any site. With p the best case, which no attempt is quicker than on a machine of speed 1, " +
				"the second bound does not bind while less than 1/(1+ε) = 56 % of the slots are used, and idle slots become clones: up to hundreds per task. The row with at most four attempts has the count of the paper's Figure 8 by construction.",
			"Dolly tries each stage by itself, with the budget of its own paper, 5 % of the slots, and p = 0.29, the chance of a slowdown above 1.5 times the median. GeoClone and Flutter learn how slow sites are from attempts that end; they do not know it.",
		},
	}
	page.Sections = append(f.sections(), testbed.testbedSection())
	if err := clouds.addTo(page); err != nil {
		return nil, err
	}
	return page.Settle(), nil
}

// geoRun is some policies in one world, several times with other luck.
type geoRun struct {
	name     string // of the world, for errors
	specs    []string
	runs     int
	seed     uint64
	workload func() (*trace.Workload, error)
	cluster  func() (*sim.Cluster, error)

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
	launched     tallied // see gauge
	racing       tallied
	moved, price float64 // bytes between sites, $
	bytes        float64 // of profiling reports
}

// waxman returns a run of the rows in the paper's world.
func waxman(o *Options, name, mix string, sites int, skew, lambda, window float64, runs int, specs []string) *geoRun {
	g := &geoRun{name: name, specs: specs, runs: runs, seed: o.Seed, window: window, limits: sched.NoLimits()}
	g.workload = func() (*trace.Workload, error) {
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
	w, err := g.workload()
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
	watched := &gauge{Policy: x, from: sched.FromSeconds(g.window / 2), to: sched.FromSeconds(g.window), prices: g.prices}
	if g.window == 0 {
		watched.to = sched.Never
	}
	res, err := sim.Run(ctx, w, watched, sim.Options{Cluster: c, Limits: g.limits, Progress: sim.Progress{Exact: exact}, Seed: seed})
	if err != nil {
		return err
	}
	cell := geoCell{
		Stats: res.Stats(), tasks: len(w.Durations), launched: watched.launched, racing: watched.racing, moved: watched.moved, price: watched.cost, bytes: float64(policy.ReportBytes(x)),
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

// mean estimates the mean over runs of what a policy shows.
func (g *geoRun) mean(p int, of func(*geoCell) float64) sim.Estimate {
	all := make([]float64, g.runs)
	for k := range all {
		all[k] = of(&g.cells[p][k])
	}
	return sim.EstimateOf(all)
}

func meanFlowOf(c *geoCell) float64 { return c.MeanFlow }

// perTask is the mean number of attempts of a task.
func perTask(c *geoCell) float64 { return float64(c.Attempts) / float64(c.tasks) }

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

// reduction estimates less over the runs.
func (g *geoRun) reduction(p, than int) sim.Estimate {
	all := make([]float64, g.runs)
	for k := range all {
		all[k] = g.less(p, than, k)
	}
	return sim.EstimateOf(all)
}

// reductions returns each job's reduction, of flow times averaged over the runs, as the paper defines it. Jobs that
// failed in any of these are left out.
func (g *geoRun) reductions(p, than int) []float64 {
	var all []float64
	for j := range g.cells[p][0].flows {
		ours, theirs := 0.0, 0.0
		for k := range g.runs {
			ours += g.cells[p][k].flows[j]
			theirs += g.cells[than][k].flows[j]
		}
		if reduction := 1 - ours/theirs; !math.IsNaN(reduction) {
			all = append(all, reduction)
		}
	}
	return all
}
