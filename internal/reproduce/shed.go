package reproduce

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// Deadlines by cloning: Alamro, Xu, Lan, Subramaniam, Section VI. The testbed's 121 machines are simulated; the
// mathematics is package plan's.
var shedPaper = Experiment{
	Name:  "shed",
	Paper: "Alamro, Xu, Lan, Subramaniam: Shed: Optimal Dynamic Cloning to Meet Application Deadlines in Cloud",
	Run:   runShed,
	Real:  runShedReal,

	Repeats: true,
	Parts:   shedParts,
}

// shedParts is what the experiment consists of: the paper's figures and what belongs to them, and other worlds.
var shedParts = []string{"paper", "grid"}

// The paper's cluster and jobs, and what it does not print.
const (
	shedSlots   = 120
	shedJobs    = 100
	shedTMin    = 120.0 // seconds
	shedGap     = 300.0 // seconds between arrivals, mean
	shedMost    = 5     // attempts of a task
	shedLaunch  = 5 * sched.Second
	shedRepeats = 10
)

var (
	shedClasses   = [...]int{5, 10, 20}
	shedDeadlines = [...]int{380, 420, 460, 500, 540, 580, 620} // seconds
	shedPolicies  = [...]string{"shed", "dolly:budget=1,threshold=1", "dolly-shed", "hadoop2"}
	shedNames     = [...]string{"Shed", "Dolly", "Dolly as printed", "Hadoop"}
)

// shedModel is a model of how long attempts last.
type shedModel struct {
	name, about string
	beta        float64
	law         laws.Law // of an attempt's duration, as Shed is told it
	service     sim.Model
	contended   bool // attempts are as slow as their machines, which stay so for a while
}

// pureModel is the paper's: all attempts independent, Pareto(tmin, beta).
func pureModel(beta float64) shedModel {
	law := laws.Pareto{Alpha: beta, Xm: shedTMin}
	return shedModel{
		name: fmt.Sprintf("beta %g", beta), beta: beta, law: law, service: sim.OneLaw(law),
		about: fmt.Sprintf("Attempts are independent, Pareto(120 s, %g).", beta),
	}
}

// contendedModel is one without infinite tails: machines are slow, each for a while.
func contendedModel(beta float64) shedModel {
	slowdown, err := laws.Truncate(laws.Pareto{Alpha: beta, Xm: 1}, 1, 8)
	if err == nil {
		var law laws.Law
		if law, err = laws.Truncate(laws.Pareto{Alpha: beta, Xm: shedTMin}, shedTMin, 8*shedTMin); err == nil {
			return shedModel{
				name: fmt.Sprintf("contention, beta %g", beta), beta: beta, law: law, service: sim.MachineSlowdown(slowdown, 600*sched.Second), contended: true,
				about: fmt.Sprintf("A task takes 120 s times its machine's slowdown, Pareto(1, %g) up to 8, which a machine keeps for ten minutes on average.", beta),
			}
		}
	}
	panic(fmt.Sprintf("reproduce: a law that cannot be truncated: %v", err))
}

func runShed(ctx context.Context, o Options) (*report.Page, error) {
	repeats := shedRepeats
	models := []shedModel{pureModel(1.3), pureModel(1.5), pureModel(1.8), pureModel(2), contendedModel(1.5)}
	if o.Quick {
		repeats, models = 3, []shedModel{pureModel(1.5), contendedModel(1.5)}
	}
	if o.Runs > 0 {
		repeats = o.Runs
	}
	parts := chosen(&o, []work{newShedWorlds(&o, models, repeats), newShedGrid(&o, repeats)}, shedParts)
	var steps []func(context.Context) error
	for _, p := range parts {
		steps = append(steps, p.steps()...)
	}
	if err := o.each(ctx, steps); err != nil {
		return nil, err
	}
	page := &report.Page{
		Name: "shed", Title: "Meeting deadlines by dynamic cloning", Known: shedKnown,
		Intro: []string{
			"Alamro, Xu, Lan and Subramaniam run WordCount and WordMean on 120 slots and count the jobs that are done by their deadlines (PoCD) under Shed, Dolly " +
				"and Hadoop's speculation. Here the cluster is simulated with what they say of its durations; the two benchmarks differ in nothing then.",
			fmt.Sprintf("Readings: %d jobs an experiment, arrivals Poisson with a mean of 5 minutes; an attempt takes %v to launch; at most %d attempts of a task under every "+
				"policy; Dolly gets p from Hadoop's run on the same jobs, as in the paper; Hadoop is version 3's. Policies meet the same arrivals, and the same attempt lasts as long "+
				"under each. Policies know the speed of an attempt when it starts (--progress exact; under contention, its machine's present pace). Where jobs arrive faster, "+
				"attempts report their progress every 10 s. Intervals are of 95 %% over %d repetitions.", shedJobs, shedLaunch, shedMost, repeats),
			"The printed model does not give the printed means: with independent Pareto attempts, five of them finish in about 165 s on average, not in 457 s. So " +
				"sizes are only reported, and the judged claims do not depend on them.",
			verdicts,
		},
	}
	if len(o.Only) > 0 {
		page.Intro = append(page.Intro, "Only these parts were run: "+strings.Join(o.Only, ", ")+".")
	}
	if o.Quick {
		page.Intro = append(page.Intro, "A quick run: fewer repetitions, and beta 1.5 only.")
	}
	for _, p := range parts {
		page.Sections = append(page.Sections, p.sections()...)
	}
	return page.Settle(), nil
}

// shedWorlds is the paper's world, in its settings and in others.
type shedWorlds struct {
	isolated *shedIsolated
	figures  []*shedFigure
	hybrid   *shedHybrid
	single   []*shedSingle
	readings *shedReadings
	loads    *shedLoads
}

func newShedWorlds(o *Options, models []shedModel, repeats int) *shedWorlds {
	x := &shedWorlds{
		isolated: newShedIsolated(o), hybrid: newShedHybrid(o.Seed, repeats), readings: newShedReadings(o.Seed, repeats), loads: newShedLoads(o.Seed, repeats),
		single: []*shedSingle{newShedSingle(pureModel(1.5), o.Seed, repeats), newShedSingle(contendedModel(1.5), o.Seed, repeats)},
	}
	for _, m := range models {
		x.figures = append(x.figures, newShedFigure(m, o.Seed, repeats))
	}
	return x
}

func (x *shedWorlds) steps() []func(context.Context) error {
	steps := slices.Concat(x.isolated.steps(), x.hybrid.steps(), x.readings.steps(), x.loads.steps())
	for _, f := range x.figures {
		steps = append(steps, f.steps()...)
	}
	for _, s := range x.single {
		steps = append(steps, s.steps()...)
	}
	return steps
}

func (x *shedWorlds) sections() []report.Section {
	all := []report.Section{x.isolated.section()}
	for _, f := range x.figures {
		all = append(all, f.section())
	}
	all = append(all, x.hybrid.section())
	for _, s := range x.single {
		all = append(all, s.section())
	}
	return append(all, x.readings.section(), x.loads.section())
}
