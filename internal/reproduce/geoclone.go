package reproduce

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/report"
)

// GeoClone: Wang, Qian, Jiao, Li, Lu. The world is package sim's Waxman, the jobs are package trace's Montage; their
// readings are said there.
var geoclonePaper = Experiment{
	Name:  "geoclone",
	Paper: "Wang, Qian, Jiao, Li, Lu: GeoClone: Online Task Replication and Scheduling for Geo-Distributed Analytics under Uncertainties",
	Run:   runGeoclone,

	Repeats: true,
	Parts:   geoParts,
}

var geoParts = []string{"testbed", "loads", "sites", "busy", "learning", "clouds"}

// geoRows are the policies, and readings of them, in the order of the tables. GeoClone's differ in p of line 10, see
// docs/decisions/0070; the first carries the claims. The paper compares with Dolly, Mantri, Flutter and Iridium.
var geoRows = []struct{ name, spec string }{
	{"GeoClone", "geoclone"},
	{"GeoClone, 4 at most", "geoclone:stop=best,copies=4"},
	{"Flutter+Dolly", "flutter+dolly:p=0.29"},
	{"Flutter+Mantri", "flutter+mantri"},
	{"GeoClone, least p", "geoclone:stop=least"},
	{"GeoClone, best p", "geoclone:stop=best"},
	{"Flutter", "flutter"},
	{"Iridium", "iridium"},
	{"Flutter+Dolly, no budget", "flutter+dolly:p=0.29,budget=1,threshold=1"},
}

// geoSpecs are the policies that every figure compares: the last row is in few.
func geoSpecs() (specs []string) {
	for _, r := range geoRows[:rowDollyFree] {
		specs = append(specs, r.spec)
	}
	return specs
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
	rowDollyFree
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
		size: 100, sites: []int{20, 50, 100, 200, 500}, busy: 8000, loads: []float64{0.2, 0.25, 0.3}, epsilons: []float64{0.6, 0.8, 0.9}, testbed: 30, clouds: 30,
	}
	if o.Quick {
		scale.runs, scale.windows, scale.window, scale.busy = 3, [2]float64{3000, 1500}, 1000, 1500
		scale.lambdas = [2][]float64{{0.02, 0.07, 0.15}, {0.02, 0.07}}
		scale.skews, scale.sites, scale.loads, scale.epsilons = []float64{0, 1, 2}, []int{20, 100}, []float64{0.25}, []float64{0.6, 0.8, 0.9}
		scale.testbed, scale.clouds = 10, 5
	}
	if o.Runs > 0 {
		scale.runs, scale.testbed, scale.clouds = o.Runs, o.Runs, o.Runs
	}
	return scale.run(ctx, o)
}

func (s *geoScale) run(ctx context.Context, o Options) (*report.Page, error) {
	clouds, err := newGeoClouds(s, &o)
	if err != nil {
		return nil, err
	}
	parts := chosen(&o, []work{newGeoTestbed(s, &o), newGeoLoads(s, &o), newGeoSites(s, &o), newGeoBusy(s, &o), newGeoLearning(s, &o), clouds}, geoParts)
	var steps []func(context.Context) error
	for _, p := range parts {
		steps = append(steps, p.steps()...)
	}
	if err := o.each(ctx, steps); err != nil {
		return nil, err
	}
	page := &report.Page{
		Name: "geoclone", Title: "Cloning tasks across sites", Known: geoKnown,
		Intro: []string{
			"Wang and others start the attempts of a task at several sites, those of the jobs that are nearest their end first. A figure's runs have one workload and one cluster, " +
				"as in the paper, and each its own random seed; within a run all policies see the same random draws. Intervals are 95 %, over runs.",
			verdicts,
			fmt.Sprintf("Jobs arrive for %.0f s (Facebook-like; %.0f s HPC-like) into an empty cluster. Durations are Montage's times %d, the least at which Flutter's attempts would need 45 %% of the slots at 0.15 Facebook-like jobs "+
				"per second for ever; the tables show how near the window comes to that. Slots used, and attempts per task in Figure 8, are of the second half of the window. The paper prints curves without numbers: what can be compared "+
				"are the percentages in its text. A size agrees if it is within ten points of the printed one.", s.windows[0], s.windows[1], montageScale),
			"Four rows for GeoClone. By its printed rule a task has two bounds: its job's share of slots, and no further attempt once the expected time is below p(1+ε)u. What p is decides. The first row takes what the task's first " +
				"attempt is expected to take at its site, and carries the claims; one takes the least that an attempt is expected to take at any site. With p the best case, which no attempt is quicker than on a machine of speed 1, " +
				"the second bound does not bind while less than 1/(1+ε) = 56 % of the slots are used, and idle slots become clones: up to hundreds per task. The row with four attempts at most takes the best case too, and has the count of the paper's Figure 8 by construction.",
			"Dolly tries each stage by itself, with the budget of its own paper, 5 % of the slots, and p = 0.29, the chance of a slowdown above 1.5 times the median. In Figures 6 to 8 it has another row without a budget, which clones " +
				"whatever fits. GeoClone and Flutter learn how slow sites are from attempts that end; they do not know it.",
			"Nothing reports to GeoClone here, as in its paper, but in rows that say so. A user's tasks may report, and then its default decides otherwise.",
		},
	}
	if len(o.Only) > 0 {
		page.Intro = append(page.Intro, "Only these parts were run: "+strings.Join(o.Only, ", ")+".")
	}
	if o.Quick {
		page.Known = slices.Concat(geoKnown, geoQuickKnown)
	}
	return o.settled(page, parts)
}
