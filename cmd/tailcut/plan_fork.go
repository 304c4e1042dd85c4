package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/tailcut/tailcut/dist"
	"github.com/tailcut/tailcut/plan"
)

// forkFlags are the flags of 'tailcut plan fork'.
type forkFlags struct {
	from       durationsFrom
	law        string
	tasks      int
	stragglers int
	clones     int
	original   choice
	given      bool // a policy to evaluate
	maxClones  int
	lambda     float64
	quantile   float64
	method     choice
	rounds     int
	seed       uint64
	format     *choice
}

func newPlanFork() *cobra.Command {
	f := &forkFlags{
		original: choice{value: "keep", valid: []string{"keep", "kill"}},
		method:   choice{value: "exact", valid: []string{"exact", "theorem1", "closed-form", "bootstrap", "simulate"}},
	}
	cmd := &cobra.Command{
		Use: "fork [FILE|-]", Short: "Find when to clone the last tasks of a job, and how often", Args: cobra.MaximumNArgs(1),
		Long: "Find the single-fork policy for a job: when all but S of its tasks are done, start R clones of each that is left,\n" +
			"beside its original (keep) or in its place with one more (kill). FILE tells how long the tasks of a past run took: one\n" +
			"number of seconds per line, a CSV, a .tr workload, or a log of Spark, Hadoop, GNU parallel, Nextflow, Slurm, Kubernetes or Tailcut.",
		Example: "  tailcut plan fork durations.txt\n" +
			"  tailcut plan fork --column seconds tasks.csv --quantile 0.99\n" +
			"  tailcut plan fork application_1472176676028_407508_1.zstd --stage 23\n" +
			"  tailcut plan fork --law pareto:alpha=2,xm=2 --tasks 400 --stragglers 40 --clones 1 --original keep",
	}
	flags := cmd.Flags()
	flags.StringVar(&f.law, "law", "", "law of a task's duration instead of FILE, such as pareto:alpha=2,xm=2")
	flags.IntVar(&f.tasks, "tasks", 0, "tasks of the job to plan (default the number of durations)")
	f.from.addFlags(cmd)
	flags.IntVar(&f.stragglers, "stragglers", 0, "evaluate the policy that forks when all but this many tasks are done")
	flags.IntVar(&f.clones, "clones", 0, "... with this many clones of each")
	flags.Var(&f.original, "original", "... and keeps or kills its original")
	flags.IntVar(&f.maxClones, "max-clones", 4, "most clones of a task to consider")
	flags.Float64Var(&f.lambda, "lambda", 0.1, "price of a machine second in seconds of latency, of the cost-sensitive optimum")
	flags.Float64Var(&f.quantile, "quantile", 0, "tell also by when a job is done with this probability, such as 0.99")
	flags.Var(&f.method, "method", "how to evaluate policies")
	flags.IntVar(&f.rounds, "rounds", 1000, "repetitions of the methods bootstrap and simulate")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the methods bootstrap and simulate")
	f.format = addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.given = flags.Changed("stragglers") || flags.Changed("clones") || flags.Changed("original")
		if f.given && !(flags.Changed("stragglers") && flags.Changed("clones") && flags.Changed("original")) {
			return fmt.Errorf("--stragglers, --clones and --original go together: give all three, or none")
		}
		if flags.Changed("quantile") && !(f.quantile > 0 && f.quantile < 1) {
			return fmt.Errorf("--quantile must be between 0 and 1, got %g", f.quantile)
		}
		return f.run(cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
	}
	return cmd
}

// run reads, plans and prints.
func (f *forkFlags) run(stdin io.Reader, out, notes io.Writer, args []string) error {
	l, samples, err := f.read(stdin, notes, args)
	if err != nil {
		return err
	}
	a := &forkAnswer{flags: f, law: l, samples: samples, tasks: f.tasks}
	if f.tasks == 0 {
		a.tasks = samples
	}
	if err := f.check(a.tasks); err != nil {
		return err
	}
	if err := a.search(); err != nil {
		return err
	}
	switch f.format.value {
	case "json":
		return a.printJSON(out)
	case "csv":
		return a.printCSV(out)
	}
	return a.printTable(out)
}

// read returns the law of a duration, and the number of samples that it was made of, 0 if none.
func (f *forkFlags) read(stdin io.Reader, notes io.Writer, args []string) (dist.Law, int, error) {
	switch {
	case f.law != "" && len(args) > 0:
		return nil, 0, fmt.Errorf("give FILE or --law, not both")
	case f.law == "" && len(args) == 0:
		return nil, 0, fmt.Errorf("give a FILE of durations, - for standard input, or --law (see 'tailcut plan fork --help')")
	case f.law != "":
		if f.tasks == 0 {
			return nil, 0, fmt.Errorf("--law wants --tasks, the number of tasks of the job")
		}
		l, err := dist.Parse(f.law)
		if err != nil {
			return nil, 0, fmt.Errorf("--law: %w", err)
		}
		return l, 0, nil
	}
	f.from.path = args[0]
	values, err := f.from.read(stdin, notes)
	if err != nil {
		return nil, 0, err
	}
	l, err := dist.NewEmpirical(values)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", f.from.path, err)
	}
	return l, len(values), nil
}

// Limits of what is planned exactly within a minute or so.
const (
	maxPlanTasks  = 100_000
	maxPlanClones = 64
)

func (f *forkFlags) check(tasks int) error {
	switch {
	case tasks < 1 || tasks > maxPlanTasks:
		return fmt.Errorf("--tasks must be from 1 to %d, got %d", maxPlanTasks, tasks)
	case f.stragglers < 0 || f.stragglers > tasks:
		return fmt.Errorf("--stragglers must be from 0 to the %d tasks, got %d", tasks, f.stragglers)
	case f.clones < 0 || f.clones > maxPlanClones:
		return fmt.Errorf("--clones must be from 0 to %d, got %d", maxPlanClones, f.clones)
	case f.maxClones < 0 || f.maxClones > maxPlanClones:
		return fmt.Errorf("--max-clones must be from 0 to %d, got %d", maxPlanClones, f.maxClones)
	case !(f.lambda >= 0) || math.IsInf(f.lambda, 1):
		return fmt.Errorf("--lambda must be a finite number of at least 0, got %g", f.lambda)
	case f.rounds < 2 || f.rounds > 100_000_000:
		return fmt.Errorf("--rounds must be from 2 to 100000000, got %d", f.rounds)
	}
	return nil
}

// evaluator returns the evaluator of the method.
func (f *forkFlags) evaluator(l dist.Law, tasks int, exact *plan.Exact) (plan.Evaluator, error) {
	switch f.method.value {
	case "theorem1":
		return plan.NewTheorem1(l, tasks)
	case "closed-form":
		return plan.NewClosedForm(l, tasks)
	case "simulate":
		return plan.NewSimulate(l, tasks, f.rounds, f.seed)
	case "bootstrap":
		sample, ok := l.(*dist.Empirical)
		if !ok {
			return nil, fmt.Errorf("--method bootstrap wants a sample of durations, not the law %s", l)
		}
		return plan.NewBootstrap(sample, tasks, f.rounds, f.seed)
	}
	return exact, nil
}

// search fills the answer: it evaluates the grid of policies on all cores and picks from it. Dice cannot find an optimum whose
// runners-up are within 1e-6 of it, so the methods that roll them evaluate the exact method's picks.
func (a *forkAnswer) search() error {
	f := a.flags
	var err error
	if a.exact, err = plan.NewExact(a.law, a.tasks); err != nil {
		return err
	}
	by, err := f.evaluator(a.law, a.tasks, a.exact)
	if err != nil {
		return err
	}
	var choices []plan.Choice
	dice := f.method.value == "bootstrap" || f.method.value == "simulate"
	var onlyTradeOff []plan.Choice
	if f.method.value == "exact" || dice {
		if choices, onlyTradeOff, err = a.grid(); err != nil {
			return err
		}
	} else {
		choices = evaluateAll(by, slices.Collect(plan.Policies(a.tasks, f.maxClones)), 256)
	}
	a.advice = plan.Optimise(choices, a.tasks, f.lambda)
	if onlyTradeOff != nil {
		a.advice.Frontier = plan.Optimise(onlyTradeOff, a.tasks, f.lambda).Frontier
	}
	a.best = plan.Best(choices, 3)
	a.single = plan.Best(slices.DeleteFunc(slices.Clone(choices), func(c plan.Choice) bool {
		return !c.Baseline() && (c.Clones != 1 || c.Original != plan.Keep || c.Stragglers == a.tasks)
	}), 1)
	if dice {
		a.reevaluate(by)
	}
	if f.given {
		p := plan.Policy{Stragglers: f.stragglers, Clones: f.clones}
		if f.original.value == "kill" {
			p.Original = plan.Kill
		}
		o, err := by.Evaluate(p)
		if err != nil {
			return err
		}
		a.evaluated = &plan.Choice{Policy: p, Outcome: o}
	}
	a.lemma = a.lemma1()
	return nil
}

// A sample with more than exhaustive distinct values is searched rounded to so many as take some seconds.
const (
	exhaustive = 5000
	roundedTo  = 1500
)

// grid evaluates every policy exactly. Of a large sample it evaluates those of the sample rounded, and exactly the few of which
// one is the optimum; then all are returned as well, for the trade-off.
func (a *forkAnswer) grid() (choices, rounded []plan.Choice, err error) {
	sample, ok := a.law.(*dist.Empirical)
	if !ok || sample.Distinct() <= exhaustive {
		return sweep(a.exact, a.flags.maxClones), nil, nil
	}
	e, err := plan.NewExact(plan.Rounded(sample, roundedTo), a.tasks)
	if err != nil {
		return nil, nil, err
	}
	a.rounded = true
	rounded = sweep(e, a.flags.maxClones)
	return evaluateAll(a.exact, plan.Shortlist(rounded, a.tasks, a.flags.lambda), 1), rounded, nil
}

// reevaluate replaces the figures of the picks by those of a method.
func (a *forkAnswer) reevaluate(by plan.Evaluator) {
	fresh := func(cs []plan.Choice) {
		for i := range cs {
			if o, err := by.Evaluate(cs[i].Policy); err == nil {
				cs[i].Outcome = o
			}
		}
	}
	one := func(c *plan.Choice) {
		cs := []plan.Choice{*c}
		fresh(cs)
		*c = cs[0]
	}
	one(&a.advice.Baseline)
	one(&a.advice.LatencySensitive)
	one(&a.advice.CostSensitive)
	a.advice.Objective = plan.Objective(a.advice.CostSensitive.Outcome, a.tasks, a.flags.lambda)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, cs := range [][]plan.Choice{a.best, a.single, a.advice.Frontier} {
		for i := range cs {
			group.Go(func() error { one(&cs[i]); return nil })
		}
	}
	_ = group.Wait()
}

// sweep evaluates the exact grid on all cores. A block of many tasks is large, so no more than one per core is held.
func sweep(e *plan.Exact, maxClones int) []plan.Choice {
	s := e.Sweep(maxClones)
	parts := make([]plan.Block, min(s.Blocks(), runtime.GOMAXPROCS(0)))
	for first := 0; first < s.Blocks(); first += len(parts) {
		some := parts[:min(len(parts), s.Blocks()-first)]
		var group errgroup.Group
		for i := range some {
			group.Go(func() error { some[i] = s.Block(first + i); return nil })
		}
		_ = group.Wait()
		for _, b := range some {
			s.Add(b)
		}
	}
	return plan.EvaluateAll(s.Grid(), plan.Policies(e.Tasks(), maxClones))
}

// evaluateAll evaluates policies one by one, so many at a time.
func evaluateAll(by plan.Evaluator, policies []plan.Policy, part int) []plan.Choice {
	parts := make([][]plan.Choice, (len(policies)+part-1)/part)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range parts {
		group.Go(func() error {
			some := policies[i*part : min(len(policies), (i+1)*part)]
			parts[i] = plan.EvaluateAll(by, slices.Values(some))
			return nil
		})
	}
	_ = group.Wait()
	return slices.Concat(parts...)
}

// lemma1 tests the fork of the policy that was asked for, otherwise of the latency-sensitive optimum, and if that is the
// baseline of all forks: what they agree on.
func (a *forkAnswer) lemma1() plan.Verdict {
	switch s := a.advice.LatencySensitive.Stragglers; {
	case a.evaluated != nil && a.evaluated.Stragglers > 0:
		return plan.Lemma1(a.law, a.tasks, a.evaluated.Stragglers)
	case s > 0:
		return plan.Lemma1(a.law, a.tasks, s)
	}
	common := plan.Lemma1(a.law, a.tasks, 1)
	for i := 1; i < 20 && common != plan.Inconclusive; i++ {
		if s := a.tasks * i / 20; s > 1 && plan.Lemma1(a.law, a.tasks, s) != common {
			return plan.Inconclusive
		}
	}
	return common
}
