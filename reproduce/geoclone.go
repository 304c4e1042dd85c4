package reproduce

import (
	"context"
	"fmt"

	"github.com/tailcut/tailcut/dist"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/report"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// GeoClone: Wang, Qian, Jiao, Li, Lu. The world is package sim's Waxman, the jobs are package trace's Montage; their readings are said there.
var geoclonePaper = Experiment{
	Name:  "geoclone",
	Paper: "Wang, Qian, Jiao, Li, Lu: GeoClone: Online Task Replication and Scheduling for Geo-Distributed Analytics under Uncertainties",
	Run:   runGeoclone,
}

// geoRows are the policies, and readings of them, in the order of the tables. The paper compares with the last four.
var geoRows = []struct{ name, spec string }{
	{"GeoClone", "geoclone"},
	{"GeoClone, 4 at most", "geoclone:copies=4"},
	{"Flutter+Dolly", "flutter+dolly:p=0.29"},
	{"Flutter+Mantri", "mantri-dup:order=fair,sites=flutter"},
	{"Flutter", "flutter"},
	{"Iridium", "iridium"},
}

const (
	rowGeoclone = iota
	rowGeocloneFour
	rowGeoDolly
	rowGeoMantri
	rowFlutter
	rowIridium
)

// montageScale is the factor on Montage's durations at which Flutter's attempts need 45 % of 30,000 slots at 0.15 jobs per second: raw, they need a few percent.
const montageScale = 19

// geoScale is how much of everything there is.
type geoScale struct {
	runs, sweep int       // with other luck: of Figures 6 to 8, and of the others
	window      float64   // seconds in which jobs arrive
	lambdas     []float64 // of Figure 6, jobs per second; the first, third and last are light, moderate and high
	skews       []float64
	size        int // sites where a figure does not vary them
	sites       []int
	loads       []float64 // of Figure 11
	epsilons    []float64
	testbed     int // runs
	clouds      int // runs
}

func runGeoclone(ctx context.Context, o Options) (*report.Page, error) {
	scale := geoScale{
		runs: 10, sweep: 5, window: 4000, lambdas: []float64{0.02, 0.045, 0.07, 0.11, 0.15}, skews: []float64{0, 0.5, 1, 1.5, 2}, size: 100, sites: []int{20, 50, 100, 200, 500},
		loads: []float64{0.2, 0.25, 0.3, 0.4}, epsilons: []float64{0.4, 0.6, 0.8, 0.9}, testbed: 30, clouds: 10,
	}
	if o.Quick {
		scale = geoScale{
			runs: 3, sweep: 2, window: 1500, lambdas: []float64{0.02, 0.045, 0.07, 0.15}, skews: []float64{0, 1, 2}, size: 100, sites: []int{20, 100},
			loads: []float64{0.25}, epsilons: []float64{0.6, 0.9}, testbed: 10, clouds: 2,
		}
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
	page := &report.Page{
		Name: "geoclone", Title: "Cloning tasks across sites",
		Intro: []string{
			"Wang and others start the attempts of a task at several sites, those of the jobs that are nearest their end first. A figure's runs have one workload and one cluster, " +
				"as in the paper, and other luck each; within a run all policies meet the same luck. Intervals are 95 %, over runs.",
			fmt.Sprintf("Jobs arrive for %.0f s into an empty cluster, so that mean flow times at the higher rates are those of a cluster that fills up. The paper prints curves without numbers: what can be compared are its "+
				"percentages. Durations are Montage's times %d, the least at which Flutter's attempts would need 45 %% of the slots at 0.15 jobs per second.", s.window, montageScale),
			"Two readings of GeoClone. By its printed rule a task's attempts are bounded by the job's share of slots and by the threshold p(1+ε)u alone. Where slots are plenty the threshold holds never and the share is thousands of " +
				"slots, so that tasks get dozens and hundreds of attempts; the paper's Figure 8 has four, which no reading of the rule gives. So there is a second row with at most four.",
			"Dolly has the budget of its own paper, 5 % of the slots, and p = 0.29, the chance of a slowdown above 1.5 times the median. Mantri is its rule with δ, as GeoClone's authors describe it: a duplicate where time and resources are saved; with its other rules it is ten per cent quicker at light load and starts 4.8 attempts per task, not the paper's 2. GeoClone and Flutter learn how slow sites are from attempts that end; nobody tells them.",
		},
	}
	page.Sections = append(f.sections(), testbed.testbedSection())
	return clouds.addTo(page)
}

// geoRun is some policies in one world, several times with other luck.
type geoRun struct {
	name     string // of the world, for errors
	specs    []string
	runs     int
	seed     uint64
	workload func() (*trace.Workload, error)
	cluster  func() (*sim.Cluster, error)

	cells [][]geoCell // by policy and run
}

// geoCell is what became of a run under a policy.
type geoCell struct {
	sim.Stats
	flows    []float64 // by job, seconds
	attempts []float64 // by job, per task: the original and its clones; what was killed and started anew counts once
	bytes    float64   // of profiling reports
}

// waxman returns a run of the rows in the paper's world.
func waxman(o *Options, name, mix string, sites int, skew, lambda, window float64, runs int, specs []string) *geoRun {
	g := &geoRun{name: name, specs: specs, runs: runs, seed: o.Seed}
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

// dollySlowdown is the scaling factor of Figure 2 (Gardner et al., "A better model for job redundancy", ToN 2017, Dolly(1,12)).
func dollySlowdown() dist.Law {
	values := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	counts := []int{230, 140, 90, 30, 80, 100, 40, 140, 120, 21, 7, 2}
	var sample []float64
	for i, n := range counts {
		for range n {
			sample = append(sample, values[i])
		}
	}
	law, err := dist.NewEmpirical(sample)
	if err != nil {
		panic(err) // the table is constant
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
	res, err := sim.Run(ctx, w, x, sim.Options{Cluster: c, Limits: sched.NoLimits(), Progress: sim.Progress{Exact: exact}, Seed: seed})
	if err != nil {
		return err
	}
	cell := geoCell{Stats: res.Stats(), bytes: float64(policy.ReportBytes(x))}
	for i := range res.Jobs {
		j := &res.Jobs[i]
		cell.flows = append(cell.flows, (j.Completion - j.Arrival).Seconds())
		cell.attempts = append(cell.attempts, 1+float64(j.Clones)/float64(j.Tasks))
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

// reduction estimates by how much the mean flow time under a policy is less than under another, as a fraction of the latter.
func (g *geoRun) reduction(p, than int) sim.Estimate {
	all := make([]float64, g.runs)
	for k := range all {
		all[k] = 1 - g.cells[p][k].MeanFlow/g.cells[than][k].MeanFlow
	}
	return sim.EstimateOf(all)
}

// reductions returns each job's reduction, of flow times averaged over the runs, as the paper defines it.
func (g *geoRun) reductions(p, than int) []float64 {
	all := make([]float64, len(g.cells[p][0].flows))
	for j := range all {
		ours, theirs := 0.0, 0.0
		for k := range g.runs {
			ours += g.cells[p][k].flows[j]
			theirs += g.cells[than][k].flows[j]
		}
		all[j] = 1 - ours/theirs
	}
	return all
}
