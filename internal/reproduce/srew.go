package reproduce

import (
	"context"
	"fmt"
	"strings"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Task cloning under SREW+C(beta): Xu, Lau, Yang, de Veciana, Hou, Section 5. The 28-hour extract of the Google trace
// that it used is not public; trace.GoogleJobs stands for it, and 6,939 real jobs of the same trace stand beside it.
var srewPaper = Experiment{
	Name:  "srew",
	Paper: "Xu et al.: Mitigating Service Variability in MapReduce Clusters via Task Cloning, IEEE TPDS 2017",
	Run:   runSREW,

	Repeats: true,
	Parts:   srewParts,
}

// srewParts is what the experiment consists of, in the order of the page.
var srewParts = []string{"table3", "checkpoints", "jobs", "reports", "figure2", "figure3", "theorem4", "real"}

// What the paper ran everything with: machines of one slot each, and the setting of its own algorithm.
const (
	srewMachines = 11_000
	srewSpec     = "srew:beta=0.7,lambda=1,slot=5s"
)

// srewScale is how much is simulated.
type srewScale struct {
	cluster   int        // machines, but for Figure 3a and the real jobs
	jobs      int        // of a workload, at 11,000 machines' load of 0.55
	window    sched.Time // in which they arrive
	table     int        // workloads of Table 3 and of the CDFs
	sweep     int        // workloads of each point of Figures 3a and 3b
	other     int        // workloads of the sensitivity runs
	luck      int        // runs of each point of Figures 2a and 2b, on one workload
	told      int        // workloads of each kind of reports
	toldJobs  int        // of such a workload, in a window of as many jobs' part
	kinds     []reportsKind
	speed     int   // workloads of each load of the experiment on Theorem 4
	speedJobs int   // of such a workload
	real      int   // runs on the real jobs
	others    []int // numbers of jobs of the sensitivity runs
	betas     []float64
	lambdas   []float64
	machines  []int
	slots     []int // seconds
}

// srewFull is the paper's ten repetitions where a claim is about size, fewer where it is about shape or only reported.
var srewFull = srewScale{
	cluster: srewMachines, jobs: 4000, window: 102_767 * sched.Second, table: 10, sweep: 6, other: 5, luck: 10, told: 40, toldJobs: 150, kinds: reportsKinds, speed: 10, speedJobs: 150, real: 5, others: []int{3000, 5000},
	betas:   []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1},
	lambdas: []float64{0, 1, 5, 6}, machines: []int{5000, 6000, 7000, 8500, 10_000, 12_000}, slots: []int{1, 5, 15, 30, 60},
}

// srewQuick has the same load in a quarter of the time.
var srewQuick = srewScale{
	cluster: srewMachines, jobs: 1000, window: 102_767 * sched.Second / 4, table: 4, sweep: 3, luck: 3, told: 2, toldJobs: 60, kinds: []reportsKind{reportsKinds[0], reportsKinds[1], reportsKinds[5]}, speed: 3, speedJobs: 150, real: 0,
	betas: []float64{0.1, 0.3, 0.5, 0.7, 0.9, 1}, lambdas: []float64{0, 1, 6}, machines: []int{5000, 7000, 10_000, 13_000}, slots: []int{5, 20, 60},
}

func runSREW(ctx context.Context, o Options) (*report.Page, error) {
	scale := srewFull
	if o.Quick {
		scale = srewQuick
	}
	if o.Runs > 0 {
		for _, n := range []*int{&scale.table, &scale.sweep, &scale.other, &scale.luck, &scale.told, &scale.speed, &scale.real} {
			if *n > 0 {
				*n = o.Runs
			}
		}
	}
	return scale.run(ctx, o)
}

// run simulates everything and describes it.
func (sc *srewScale) run(ctx context.Context, o Options) (*report.Page, error) {
	reality, err := newSREWReality(sc, &o)
	if err != nil {
		return nil, err
	}
	parts := chosen(&o, []work{
		newTable3(sc, &o), newSREWSaved(sc, &o), newSREWJobs(sc, &o), newSREWTold(sc, &o), newSREWFigure2(sc, &o), newSREWFigure3(sc, &o), newSREWSpeed(sc, &o), reality,
	}, srewParts)
	if err := o.runParts(ctx, parts); err != nil {
		return nil, err
	}
	page := &report.Page{
		Name: "srew", Title: "Task cloning under SREW+C(β)", Known: srewKnown,
		Intro: []string{
			"Xu et al. give machines to the β-fraction of the jobs with the least remaining effective workload, and what these cannot use for their waiting tasks " +
				"they fill with clones. They compare on 28 hours of the Google trace of 2011.",
			fmt.Sprintf("That extract is not public. The workload here is a surrogate, synth:google: %d jobs in %.0f s, fitted to what is printed of the extract and of its flow "+
				"times. Its work varies from seed to seed (loads of 0.47 to 0.64 on 11,000 machines), so each repetition draws jobs of its own, and all policies see the same jobs and "+
				"the same random draws. ± is half of a 95 %% interval over repetitions, of a reduction that of the paired differences.", sc.jobs, sc.window.Seconds()),
			"M = 11,000 machines of one slot, slots of 5 s, β = 0.7 and λ = 1, no preemption, as in the paper. The first attempt of a task lasts as recorded, every other as long " +
				"as a random task of its job. The core's limits on attempts (four of a task) and on clones (a tenth of what runs) are lifted, for the paper has none; SREW then " +
				"keeps the cluster full of clones. Policies that detect stragglers know exactly when an attempt will end from its launch on, except in the section on reports.",
			"The paper leaves open how its baselines were run. Each has a row as its authors seem to have run it, which the claims are about, and rows of other readings. " +
				"The row with the smallest mean is the baseline at its best.",
			verdicts,
		},
	}
	if len(o.Only) > 0 {
		page.Intro = append(page.Intro, "Only these parts were run: "+strings.Join(o.Only, ", ")+".")
	}
	if o.Quick {
		page.Intro = append(page.Intro, fmt.Sprintf("A quick run: a quarter of the window with a quarter of the jobs, %d repetitions instead of %d, coarser sweeps. Left out: "+
			"the sensitivity to the number of jobs, and the real jobs.", sc.table, srewFull.table))
	}
	return o.settled(page, parts)
}

// lambdaSpread is how much jobs' relative deviations differ where the weight of the deviation is in question: about as
// much as those of real jobs of the trace. With one for all jobs the weight changes the order of no two.
const lambdaSpread = 1.3

// scatteredOf is surrogateOf with jobs whose relative deviations differ.
func (sc *srewScale) scatteredOf(jobs int) func(seed uint64) (*trace.Workload, error) {
	return func(seed uint64) (*trace.Workload, error) {
		g := trace.DefaultGoogleJobs(seed)
		g.Jobs, g.Window, g.Spread = jobs, sc.window, lambdaSpread
		return g.Workload("scattered")
	}
}

// surrogateOf returns what draws a workload of so many jobs.
func (sc *srewScale) surrogateOf(jobs int) func(seed uint64) (*trace.Workload, error) {
	return func(seed uint64) (*trace.Workload, error) {
		g := trace.DefaultGoogleJobs(seed)
		g.Jobs, g.Window = jobs, sc.window
		return g.Workload("surrogate")
	}
}
