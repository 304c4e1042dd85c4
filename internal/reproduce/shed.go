package reproduce

import (
	"context"
	"fmt"
	"slices"

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
}

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
	var figures []*shedFigure
	for _, m := range models {
		figures = append(figures, newShedFigure(m, o.Seed, repeats))
	}
	isolated := newShedIsolated(&o)
	hybrid := newShedHybrid(o.Seed, repeats)
	single := []*shedSingle{newShedSingle(pureModel(1.5), o.Seed, repeats), newShedSingle(contendedModel(1.5), o.Seed, repeats)}
	readings, loads := newShedReadings(o.Seed, repeats), newShedLoads(o.Seed, repeats)
	steps := slices.Concat(isolated.steps(), hybrid.steps(), readings.steps(), loads.steps())
	for _, f := range figures {
		steps = append(steps, f.steps()...)
	}
	for _, s := range single {
		steps = append(steps, s.steps()...)
	}
	if err := o.each(ctx, steps); err != nil {
		return nil, err
	}
	page := &report.Page{
		Name: "shed", Title: "Meeting deadlines by dynamic cloning",
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
		Sections: []report.Section{isolated.section()},
	}
	if o.Quick {
		page.Intro = append(page.Intro, "A quick run: fewer repetitions, and beta 1.5 only.")
	}
	for _, f := range figures {
		page.Sections = append(page.Sections, f.section())
	}
	page.Sections = append(page.Sections, hybrid.section())
	for _, s := range single {
		page.Sections = append(page.Sections, s.section())
	}
	page.Sections = append(page.Sections, readings.section(), loads.section())
	return page.Settle(), nil
}
