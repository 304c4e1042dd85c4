package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// shedIsolated is Theorem 1 against simulated jobs that have the cluster for themselves.
type shedIsolated struct {
	jobs   int
	seed   uint64
	points []isolatedPoint
}

type isolatedPoint struct {
	beta               float64
	tasks, clones      int
	deadline           float64
	reckoned, measured float64
}

func newShedIsolated(o *Options) *shedIsolated {
	x := &shedIsolated{jobs: 100_000, seed: o.Seed}
	if o.Quick {
		x.jobs = 20_000
	}
	for _, beta := range []float64{1.3, 1.5, 1.8, 2} {
		for clones := range 3 {
			x.points = append(x.points, isolatedPoint{beta: beta, tasks: 10, clones: clones, deadline: 500})
		}
	}
	x.points = append(x.points, isolatedPoint{beta: 1.5, tasks: 5, clones: 1, deadline: 460}, isolatedPoint{beta: 1.5, tasks: 20, clones: 1, deadline: 560})
	return x
}

func (x *shedIsolated) steps() (steps []func(context.Context) error) {
	for i := range x.points {
		steps = append(steps, func(ctx context.Context) error { return x.run(ctx, &x.points[i]) })
	}
	return steps
}

// run simulates jobs far apart. Launching takes no time here: the theorem has none.
func (x *shedIsolated) run(ctx context.Context, p *isolatedPoint) error {
	model := pureModel(p.beta)
	p.reckoned = plan.Work{Tasks: p.tasks, Law: model.law, Deadline: p.deadline}.PoCD(p.clones)
	w := shedArrivals(alike(x.jobs, p.tasks, p.deadline), 0, x.seed)
	for i := range w.Jobs {
		w.Jobs[i].Arrival = sched.Time(i) * 1000 * sched.Second
	}
	// What is late is over at the deadline, so that nobody waits for heavy tails.
	chronos, err := policy.New(fmt.Sprintf("chronos-clone:clones=%d,kill=1000,silence=false", p.clones), x.seed)
	if err != nil {
		return err
	}
	res, err := sim.Run(ctx, w, &untilDeadline{Policy: chronos}, sim.Options{
		Machines: 20 * p.tasks, Model: model.service, Limits: sched.NoLimits(), Seed: repetition(x.seed, p.clones),
	})
	if err != nil {
		return err
	}
	p.measured = float64(res.Stats().DeadlinesMet) / float64(x.jobs)
	return nil
}

// untilDeadline is a policy that also gives up jobs at their deadlines.
type untilDeadline struct {
	sched.Policy
	next sched.JobID // no earlier job is active
}

func (p *untilDeadline) Decide(v *sched.View, act *sched.Actions) {
	p.Policy.Decide(v, act)
	for j, ok := v.ActiveJob(p.next); ok; j, ok = v.ActiveJob(j + 1) {
		if deadline := v.Job(j).Deadline; deadline <= v.Now() {
			_ = act.Cancel(j) // it is active
		} else {
			p.next = j
			act.WakeAt(deadline)
			return
		}
	}
}

func (x *shedIsolated) section() report.Section {
	t := report.Table{
		Name: "theorem1", Caption: fmt.Sprintf("PoCD of %d jobs that are alone", x.jobs),
		Columns: []string{"beta", "tasks", "deadline (s)", "clones", "Theorem 1", "simulated"},
	}
	worst := 0.0
	for _, p := range x.points {
		t.Add(p.beta, p.tasks, p.deadline, p.clones, p.reckoned, p.measured)
		worst = max(worst, math.Abs(p.reckoned-p.measured))
	}
	return report.Section{
		Title: "Theorem 1", Tables: []report.Table{t},
		Text: []string{"The probability that a job is done by its deadline with r clones of each task, against jobs far apart in the simulator."},
		Claims: []report.Claim{
			report.Check(worst <= 0.01, "Theorem 1: largest difference between the formula and simulated jobs, at most 0.01", "0", fmt.Sprintf("%.4f", worst)),
		},
	}
}
