package reproduce

import (
	"context"
	"fmt"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// forkBeyond is what the paper leaves to future work, on one of its jobs: a fork that is learned while the job runs,
// from its own durations, and two forks, beside the one fork that is best for who knows the law before.
type forkBeyond struct {
	*forkJob
	law   laws.Law
	tasks int
	runs  int
	seed  uint64
	rules []beyondRule
}

type beyondRule struct {
	name, words, spec string
	latency, cost     []float64 // of each run
}

const beyondRuns = 200

// forkSpec writes parameters of the policy fork, whose names end in suffix.
func forkSpec(p plan.Policy, tasks int, suffix string) string {
	return fmt.Sprintf("p%[1]s=%[2]v,r%[1]s=%[3]d,original%[1]s=%[4]s", suffix, float64(p.Stragglers)/float64(tasks), p.Clones, p.Original)
}

func (j *forkJob) beyond(o *Options) (*forkBeyond, error) {
	law, err := laws.NewEmpirical(j.seconds)
	return &forkBeyond{forkJob: j, law: law, tasks: len(j.seconds), runs: forkRuns(o), seed: o.Seed,
		rules: []beyondRule{
			{name: "no clones", spec: "fork:r=0"},
			{name: "one fork", words: j.words(j.advice.LatencySensitive.Policy), spec: "fork:" + forkSpec(j.advice.LatencySensitive.Policy, len(j.seconds), "")},
			{name: "learned while it runs", spec: fmt.Sprintf("fork:learn=true,r=%d", mostClones)},
		}}, err
}

func forkRuns(o *Options) int {
	if o.Quick {
		return beyondRuns / 10
	}
	return beyondRuns
}

// run finds two forks, and plays the jobs under each rule. The jobs of a run have the same durations.
func (b *forkBeyond) run(ctx context.Context) error {
	found, err := plan.TwoForks(ctx.Err, b.law, b.tasks, mostClones, b.law.Mean())
	if err != nil {
		return err
	}
	draws, err := plan.NewSimulate(b.law, b.tasks, 200, b.seed)
	if err != nil {
		return err
	}
	best, err := draws.Soonest(found, plan.Policy{})
	if err != nil {
		return err
	}
	if best != nil {
		b.rules = append(b.rules, beyondRule{
			name: "two forks", words: b.words(best[0]) + ", then " + b.words(best[1]), spec: "fork:" + forkSpec(best[0], b.tasks, "") + "," + forkSpec(best[1], b.tasks, "2"),
		})
	}
	w := shedArrivals(alike(1, b.tasks, 0), 0, b.seed)
	for i := range b.rules {
		for k := range b.runs {
			if err := b.play(ctx, &b.rules[i], w, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// play runs one job with a slot for whatever it starts.
func (b *forkBeyond) play(ctx context.Context, r *beyondRule, w *trace.Workload, k int) error {
	seed := repetition(b.seed+1, k)
	p, err := policy.New(r.spec, seed)
	if err != nil {
		return err
	}
	res, err := sim.Run(ctx, w, p, sim.Options{Machines: b.tasks * (mostClones + 2), Model: sim.OneLaw(b.law), Limits: sched.NoLimits(), Seed: seed})
	if err != nil {
		return fmt.Errorf("%s: %w", r.spec, err)
	}
	job := &res.Jobs[0]
	r.latency = append(r.latency, (job.Completion - job.Arrival).Seconds())
	r.cost = append(r.cost, (job.Fruitful+job.Fruitless).Seconds()/float64(b.tasks))
	return nil
}

// beyondSection is the table of all jobs.
func beyondSection(all []*forkBeyond) report.Section {
	t := report.Table{Name: "beyond", Columns: []string{"job", "rule", "policy", "T", "± T", "C", "± C", "T less than one fork's (%)", "±"}}
	var claims []report.Claim
	for _, b := range all {
		one := &b.rules[1]
		exact := fmt.Sprintf(" (exactly T %.0f, C %.1f)", b.advice.LatencySensitive.Latency, b.advice.LatencySensitive.Cost)
		for i := range b.rules {
			r := &b.rules[i]
			T, C := sim.EstimateOf(r.latency), sim.EstimateOf(r.cost)
			less := less(one.latency, r.latency)
			name, words := "", r.words
			if i == 0 {
				name = b.name
			}
			if r == one {
				words += exact
			}
			t.Add(name, r.name, words, T.Mean, T.Half, C.Mean, C.Half, 100*less.Mean, 100*less.Half)
			if r.name == "two forks" || r.name == "learned while it runs" {
				claims = append(claims, report.Claim{What: fmt.Sprintf("%s: %s, latency below that of the best single fork", b.name, r.name), Verdict: report.Reported,
					Measured: fmt.Sprintf("%.1f ± %.1f %%, at C %.1f ± %.1f where none has %.1f", 100*less.Mean, 100*less.Half, C.Mean, C.Half, b.law.Mean())})
			}
		}
	}
	return report.Section{
		Title: "Beyond the paper: a fork that is learned, and two forks",
		Text: []string{
			"Section 6 leaves to future work how to fork without knowing the law, and to fork more than once. \"Learned\" is the policy fork:learn=true, which knows nothing " +
				"before: it learns the law from the tasks that are done and the ages of those that run, and forks when that is worth it. \"Two forks\" are the best two " +
				"at no more cost than the baseline that a search by the limit of many tasks finds. \"One fork\" is Table 1's latency-sensitive choice, for who knows the law. " +
				"All are simulated, on the same jobs, with a slot for whatever starts.",
		},
		Tables: []report.Table{t}, Claims: claims,
	}
}

// less is by which share the second is less than the first, on average: a ratio of means, with the interval of the
// paired differences.
func less(first, second []float64) sim.Estimate {
	mean := sim.EstimateOf(first).Mean
	d := make([]float64, len(first))
	for i := range d {
		d[i] = (first[i] - second[i]) / mean
	}
	return sim.EstimateOf(d)
}
