package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// srewSpeed is Theorem 4 as an experiment: Algorithm 2 with line 7, lambda = 0 and checkpoints, on machines that are
// 1 + 2 beta + epsilon times as fast, against what no policy can beat on machines of speed 1.
type srewSpeed struct {
	seed   uint64
	runs   int
	jobs   int // N
	points []speedPoint
}

// speedPoint is one setting at one load.
type speedPoint struct {
	beta, epsilon float64
	faster        bool // with the theorem's speed, else speed 1
	load          float64
	ratios        []float64 // by run: mean flow time by the lower bound
}

// The theorem's M and Delta: machines, and the most that a machine does in a slot if it does 1 on average. It
// asks for beta < min(M/N, 1/2).
const (
	speedMachines = 100
	speedPeak     = 2
	speedService  = "law=(uniform:lo=0,hi=2),slot=1s,checkpoint=true"
)

var (
	speedSettings = [][2]float64{{0.1, 0.2}, {0.25, 0.5}, {0.4, 1}} // beta, epsilon
	speedLoads    = []float64{0.5, 0.8, 1, 1.2}
)

func (p *speedPoint) speed() float64 {
	if p.faster {
		return 1 + 2*p.beta + p.epsilon
	}
	return 1
}

// bound is the factor of equation (48): 2 (M + delta + M Delta)/(beta epsilon).
func (p *speedPoint) bound() float64 {
	return 2 * (speedMachines + p.speed() + speedMachines*speedPeak) / (p.beta * p.epsilon)
}

func newSREWSpeed(sc *srewScale, o *Options) *srewSpeed {
	x := &srewSpeed{seed: o.Seed, runs: sc.speed, jobs: sc.speedJobs}
	for _, s := range speedSettings {
		for _, faster := range []bool{false, true} {
			for _, load := range speedLoads {
				x.points = append(x.points, speedPoint{beta: s[0], epsilon: s[1], faster: faster, load: load, ratios: make([]float64, sc.speed)})
			}
		}
	}
	return x
}

// steps returns one step for each run: all points of a run meet the same random draws.
func (x *srewSpeed) steps() (steps []func(context.Context) error) {
	for k := range x.runs {
		steps = append(steps, func(ctx context.Context) error {
			for i := range x.points {
				var err error
				if x.points[i].ratios[k], err = x.points[i].run(ctx, x.jobs, sim.RunSeed(x.seed, k)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return steps
}

// speedWorkload draws jobs of 1 to 40 tasks of equal work, 10 to 70 s, that arrive at a load of machines of speed 1.
func speedWorkload(jobs int, load float64, seed uint64) (*trace.Workload, error) {
	const tasks, work = 20.5, 40.0
	spec := fmt.Sprintf("synth:jobs=%d;tasks=uniform:lo=0.5,hi=40.5;law=1;scale=uniform:lo=10,hi=70;arrivals=poisson:rate=%g", jobs, load*speedMachines/tasks/work)
	w, err := trace.Synthesize(spec, seed)
	if err != nil {
		return nil, err
	}
	for i := range w.Stages {
		w.Stages[i].Resumable = true
	}
	return w, nil
}

func (p *speedPoint) run(ctx context.Context, jobs int, seed uint64) (float64, error) {
	w, err := speedWorkload(jobs, p.load, seed)
	if err != nil {
		return 0, err
	}
	c, err := sim.ParseCapacity(speedService)
	if err != nil {
		return 0, err
	}
	o := sim.Options{Machines: speedMachines, Limits: sched.NoLimits(), Model: c.Model, Seed: seed, Progress: sim.Progress{Every: sched.Second}}
	least, err := sim.LowerBound(w, o)
	if err != nil {
		return 0, err
	}
	q, err := policy.New(fmt.Sprintf("srew:beta=%g,lambda=0,slot=1s,preempt=true", p.beta), seed)
	if err != nil {
		return 0, err
	}
	o.Speed = p.speed()
	res, err := sim.Run(ctx, w, q, o)
	if err != nil {
		return 0, err
	}
	return res.Stats().MeanFlow / least, nil
}

func (x *srewSpeed) sections() []report.Section {
	sec := report.Section{
		Title: "Theorem 4: faster machines",
		Text: []string{
			"SREW+C(β) with line 7, λ = 0 and checkpoints on machines of speed 1 + 2β + ε has at most 2(M + δ + MΔ)/(βε) times the sum of flow times of the best schedule on machines of speed 1, " +
				"δ being the speed (equation 48), if β < min(M/N, 1/2).",
			fmt.Sprintf("Here M = %d, N = %d jobs, and a machine does a uniform amount of work in each slot, on average 1 and at most Δ = %d. The best schedule is not known. A lower bound of its flow times "+
				"stands for it: the longer of each job's shortest path at peak speed, and SRPT on one machine as fast as all. So the ratios shown are above the true ones. Load is that of speed 1; %d workloads of each.",
				speedMachines, x.jobs, speedPeak, x.runs),
		},
	}
	t := report.Table{Name: "theorem4", Caption: "Mean flow time by the lower bound at speed 1", Columns: []string{"β", "ε", "speed", "load", "ratio", "±", "Theorem 4: at most"}}
	plot := report.Plot{Name: "theorem4", X: "load of machines of speed 1", Y: "mean flow time by the lower bound"}
	worst, worstBound := sim.Estimate{Mean: math.Inf(-1)}, 0.0
	for i := range x.points {
		p := &x.points[i]
		e := sim.EstimateOf(p.ratios)
		row := []any{p.beta, p.epsilon, p.speed(), p.load, e.Mean, e.Half, nil}
		if p.faster {
			row[6] = math.Floor(p.bound())
			if e.Mean/p.bound() > worst.Mean {
				worst, worstBound = sim.Estimate{Mean: e.Mean / p.bound(), Half: e.Half / p.bound(), N: e.N}, p.bound()
			}
		}
		t.Add(row...)
	}
	for i := 0; i < len(x.points); i += len(speedLoads) {
		p := &x.points[i]
		plot.Series = append(plot.Series, errorBars(fmt.Sprintf("β = %g, speed %g", p.beta, p.speed()), speedLoads, func(k int) sim.Estimate { return sim.EstimateOf(x.points[i+k].ratios) }))
	}
	sec.Tables, sec.Plots = []report.Table{t}, []report.Plot{plot}
	sec.Claims = []report.Claim{
		judge(worst, 0, 1, "with speed 1 + 2β + ε SREW+C(β) is within the bound of Theorem 4 of any schedule at speed 1", "at most the bound",
			fmt.Sprintf("at most %.2f ± %.2f of a bound of %.0f", worst.Mean*worstBound, worst.Half*worstBound, worstBound)),
		x.flatter(),
	}
	return []report.Section{sec}
}

// flatter is the claim that the theorem is about, beyond its constants: with the speed, the ratio does not grow with
// the load as it does without. It is that of the setting that bears it out least.
func (x *srewSpeed) flatter() report.Claim {
	least, said := sim.Estimate{Mean: math.Inf(1)}, ""
	n := len(speedLoads)
	for i := 0; i < len(x.points); i += 2 * n {
		slow, fast := x.points[i:][:n], x.points[i+n:][:n]
		rise := make([]float64, x.runs)
		for k := range rise {
			rise[k] = slow[n-1].ratios[k]/slow[0].ratios[k] - fast[n-1].ratios[k]/fast[0].ratios[k]
		}
		if e := sim.EstimateOf(rise); e.Mean < least.Mean {
			at := func(p []speedPoint) float64 {
				return sim.EstimateOf(p[n-1].ratios).Mean / sim.EstimateOf(p[0].ratios).Mean
			}
			least, said = e, fmt.Sprintf("β = %g: %.2f-fold at speed 1, %.2f-fold at %g; difference %.2f ± %.2f", fast[0].beta, at(slow), at(fast), fast[0].speed(), e.Mean, e.Half)
		}
	}
	return judge(least, 0, math.Inf(1), fmt.Sprintf("from load %g to %g the ratio grows less with that speed than with speed 1", speedLoads[0], speedLoads[n-1]), "bounded for any load", said)
}
