package reproduce

import (
	"context"
	"fmt"
	"strings"

	"github.com/tailcut/tailcut/internal/report"
)

// Schedulers with queues at machines: Sparrow's comparison of ways to place tasks (section 3), and Hawk's with Sparrow
// by the size of the cluster (section 4). Eagle and what schedulers with a view of the whole cluster do stand beside
// them.
var probesPaper = Experiment{
	Name: "probes",
	Paper: "Ousterhout et al.: Sparrow: Distributed, Low Latency Scheduling, SOSP 2013; Delgado et al.: Hawk: Hybrid Datacenter Scheduling, USENIX ATC 2015; " +
		"Delgado et al.: Job-aware Scheduling in Eagle, SoCC 2016",
	Run:     runProbes,
	Repeats: true,
	Parts:   probesParts,
}

var probesParts = []string{"sampling", "google", "surrogate"}

// probesScale is how much is simulated.
type probesScale struct {
	machines, jobs int       // of Sparrow's comparison
	sampling       []float64 // its loads
	loads          []float64 // of the Google trace
	runs           int       // on each workload that there is, or on workloads of their own
	window         int       // seconds of the real trace, 0 for all
	surrogate      int       // jobs of a surrogate, 0 for none
	rows           []probesRow
}

// probesRow is a policy of Hawk's comparison.
type probesRow struct{ name, spec string }

// The first is what the others are compared with.
var probesRows = []probesRow{
	{"Sparrow", "sparrow"}, {"Hawk", "hawk"}, {"Eagle", "eagle"},
	{"fifo", "fifo"}, {"srpt", "srpt"}, {"SREW", "srew"}, {"auto", "auto"},
}

const (
	rowSparrow = iota
	rowHawk
	rowEagle
	rowFIFO
)

var probesFull = probesScale{
	machines: 2500, jobs: 4000, sampling: []float64{0.5, 0.8, 0.9}, loads: []float64{0.5, 0.7, 0.9, 1}, runs: 3, surrogate: 600, rows: probesRows,
}

var probesQuick = probesScale{machines: 1000, jobs: 2000, sampling: []float64{0.8}, loads: []float64{0.5, 0.7, 0.9, 1}, runs: 3, window: 7200, rows: probesRows}

func runProbes(ctx context.Context, o Options) (*report.Page, error) {
	scale := probesFull
	if o.Quick {
		scale = probesQuick
	}
	if o.Runs > 0 {
		scale.runs = o.Runs
	}
	return scale.run(ctx, o)
}

func (sc *probesScale) run(ctx context.Context, o Options) (*report.Page, error) {
	real, err := newProbesReal(sc, &o)
	if err != nil {
		return nil, err
	}
	surrogate, err := newProbesSurrogate(sc, &o)
	if err != nil {
		return nil, err
	}
	parts := chosen(&o, []work{newProbesSampling(sc, &o), real, surrogate}, probesParts)
	if err := o.runParts(ctx, parts); err != nil {
		return nil, err
	}
	page := &report.Page{
		Name: "probes", Title: "Probes with late binding: Sparrow, Hawk and Eagle", Known: probesKnown,
		Intro: []string{
			"Under Sparrow no scheduler knows the queues: each sends two probes a task to machines drawn at random, and a machine asks for a task when it has a free slot. " +
				"Hawk places long jobs centrally, keeps them off a part of the machines, and lets idle machines steal short tasks that wait behind long ones. " +
				"Eagle's machines turn short tasks away while they have long ones.",
			"All run in the simulator and core that run the other policies. A message and its answer take 0.5 ms. Queues, probes and steals are as described in the " +
				"pages of the policies. Each repetition has its own random draws, the same under all policies. ± is half of a 95 % interval over repetitions, of a ratio that of the paired ratios.",
			verdicts,
		},
	}
	if len(o.Only) > 0 {
		page.Intro = append(page.Intro, "Only these parts were run: "+strings.Join(o.Only, ", ")+".")
	}
	if o.Quick {
		page.Intro = append(page.Intro, fmt.Sprintf("A quick run: %d repetitions, two of the trace's seven hours, and one load and a smaller cluster for Sparrow's comparison. Left out: the surrogate.", sc.runs))
	}
	return o.settled(page, parts)
}
