package reproduce

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// shedJob is a job of the paper's: map tasks of equal input, resumable, and seconds until its deadline.
type shedJob struct {
	tasks    int
	deadline float64
}

// shedArrivals returns a workload of such jobs. They arrive as a Poisson process whose luck depends on the seed and
// nothing else.
func shedArrivals(jobs []shedJob, gap float64, seed uint64) *trace.Workload {
	w := &trace.Workload{Name: "shed", Names: []string{""}}
	r := rand.New(rand.NewPCG(seed, 0x5ed))
	at := 0.0
	for i, j := range jobs {
		w.Jobs = append(w.Jobs, trace.JobRow{
			Arrival: sched.FromSeconds(at), Deadline: sched.FromSeconds(j.deadline), Number: uint32(i), FirstStage: uint32(i), Stages: 1,
		})
		w.Stages = append(w.Stages, trace.StageRow{FirstTask: uint32(len(w.Durations)), Tasks: uint32(j.tasks), Law: -1, Resumable: true})
		for range j.tasks {
			w.Durations = append(w.Durations, sched.FromSeconds(shedTMin))
		}
		at += gap * r.ExpFloat64()
	}
	return w
}

func alike(n, tasks int, deadline float64) []shedJob {
	jobs := make([]shedJob, n)
	for i := range jobs {
		jobs[i] = shedJob{tasks, deadline}
	}
	return jobs
}

// shedRun is one repetition of an experiment, under several policies.
type shedRun struct {
	model    shedModel
	workload *trace.Workload
	slots    int
	seed     uint64 // of the durations
	launch   sched.Time
	progress sim.Progress
}

// exactly tells policies when an attempt will end, as soon as it begins.
var exactly = sim.Progress{Exact: true}

// under runs the workload under a policy.
func (r *shedRun) under(ctx context.Context, p sched.Policy) (*sim.Result, error) {
	return sim.Run(ctx, r.workload, p, sim.Options{
		Machines: r.slots, Model: r.model.service, LaunchDelay: r.launch, Progress: r.progress, Seed: r.seed,
		Limits: sched.Limits{Attempts: shedMost, Clones: sched.CloneBudget{Floor: sched.Unlimited}},
	})
}

// spec returns a policy as it is compared: with the law if it reckons with one, and Dolly with p, the share of jobs
// that are late under Hadoop. Jobs past their deadlines are killed, as in the paper.
func (r *shedRun) spec(name string, late float64) string {
	sep := ":"
	for _, c := range name {
		if c == ':' {
			sep = ","
		}
	}
	e, err := policy.Find(name)
	if err != nil {
		panic(err)
	}
	for _, p := range e.Params {
		switch {
		case p.Kind == kit.Law:
			name += fmt.Sprintf("%s%s=(%v)", sep, p.Name, r.model.law)
		case p.Name == "launch":
			name += fmt.Sprintf("%slaunch=%v", sep, r.launch)
		case p.Name == "late":
			name += fmt.Sprintf("%slate=kill", sep)
		case p.Name == "p" && e.Name == "dolly":
			name += fmt.Sprintf("%sp=%g", sep, min(max(late, 1e-6), 0.999999))
		default:
			continue
		}
		sep = ","
	}
	return name
}

// each shows what became of the workload under each policy, by its place in the list. Hadoop's run is the first, for
// Dolly wants to know it.
func (r *shedRun) each(ctx context.Context, policies []string, wrap func(int, sched.Policy) sched.Policy, show func(int, *sim.Result)) error {
	late := math.NaN()
	one := func(i int) error {
		p, err := policy.New(r.spec(policies[i], late), r.seed)
		if err != nil {
			return err
		}
		if wrap != nil {
			p = wrap(i, p)
		}
		res, err := r.under(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", policies[i], err)
		}
		if policies[i] == "hadoop2" {
			late = 1 - ratioMet(res.Jobs)
		}
		show(i, res)
		return nil
	}
	for _, hadoop := range []bool{true, false} {
		for i, name := range policies {
			if (name == "hadoop2") == hadoop {
				if err := one(i); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// met returns the share of jobs that met their deadlines under each policy, and the share that it gave up.
func (r *shedRun) met(ctx context.Context, policies []string) (met, lost []float64, err error) {
	met, lost = make([]float64, len(policies)), make([]float64, len(policies))
	err = r.each(ctx, policies, nil, func(i int, res *sim.Result) { met[i], lost[i] = ratioMet(res.Jobs), ratioLost(res.Jobs) })
	return met, lost, err
}

// ratioMet returns the share of jobs that met their deadlines.
func ratioMet(jobs []sim.JobResult) float64 {
	n := 0
	for i := range jobs {
		if j := &jobs[i]; !j.Failed && j.Completion <= j.Deadline {
			n++
		}
	}
	return float64(n) / float64(len(jobs))
}

// ratioLost returns the share of jobs that failed, which here are those that the policy gave up.
func ratioLost(jobs []sim.JobResult) float64 {
	n := 0
	for i := range jobs {
		if jobs[i].Failed {
			n++
		}
	}
	return float64(n) / float64(len(jobs))
}

// repetition returns the seed of repetition k of an experiment, the same for all settings of one model, so that these
// differ in nothing else.
func repetition(seed uint64, k int) uint64 { return sim.RunSeed(seed, k) }

// noClones returns the PoCD of a job of n tasks without clones.
func noClones(law laws.Law, n int, deadline float64) float64 {
	return math.Pow(law.CDF(deadline-shedLaunch.Seconds()), float64(n))
}
