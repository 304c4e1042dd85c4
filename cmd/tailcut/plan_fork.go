package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
)

// forkFlags are the flags of 'tailcut plan fork'.
type forkFlags struct {
	from       durationsFrom
	cluster    clusterFrom
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
	now        string
	compare    string
	confidence bool
	report     string
	format     *choice
	resolution float64 // seconds, of the clock of the log
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
			"number of seconds per line, a CSV, a .tr workload, or a log of Spark, Hadoop, GNU parallel, Nextflow, Slurm, Kubernetes or Tailcut.\n\n" +
			"--compare adds what other rules would do, and --now says which you have: spark, spark3, flink, hadoop2 and backup with their parameters as in\n" +
			"'tailcut policies', a time-out such as timeout:after=30s,r=1,original=kill,times=3, or several forks joined by +.",
		Example: "  tailcut plan fork durations.txt\n" +
			"  tailcut plan fork --column seconds tasks.csv --quantile 0.99\n" +
			"  tailcut plan fork application_1472176676028_407508_1.zstd --stage 23\n" +
			"  tailcut plan fork --kubernetes job/report-20260131\n" +
			"  tailcut plan fork durations.txt --compare spark3,hadoop2,timeout:after=30s --confidence --report plan.html\n" +
			"  tailcut plan fork --law pareto:alpha=2,xm=2 --tasks 400 --stragglers 40 --clones 1 --original keep",
	}
	flags := cmd.Flags()
	flags.StringVar(&f.law, "law", "", "law of a task's duration instead of FILE, such as pareto:alpha=2,xm=2")
	wholeVar(flags, &f.tasks, "tasks", 0, "tasks of the job to plan (default those of FILE)")
	f.from.addFlags(cmd, "FILE")
	f.cluster.addFlags(cmd)
	wholeVar(flags, &f.stragglers, "stragglers", 0, "evaluate the policy that forks when all but this many tasks are done")
	wholeVar(flags, &f.clones, "clones", 0, "with --stragglers and --original: clones of each task that is left")
	flags.Var(&f.original, "original", "with --stragglers and --clones: what becomes of the original of each task that is left")
	wholeVar(flags, &f.maxClones, "max-clones", 4, "most clones of a task to consider")
	flags.Float64Var(&f.lambda, "lambda", 0.1, "price of a machine second in seconds of latency, of the cost-sensitive optimum")
	flags.Float64Var(&f.quantile, "quantile", 0, "recommend what makes the job done soonest with this probability, such as 0.99, instead of on average")
	flags.Var(&f.method, "method", "`how` to evaluate policies: "+strings.Join(f.method.valid, ", "))
	wholeVar(flags, &f.rounds, "rounds", 0, "repetitions of the methods bootstrap and simulate (default 1000, fewer of jobs of more than 2000 tasks)")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of all that is simulated or resampled")
	flags.StringVar(&f.now, "now", "", "what you do now, such as spark or backup: what is recommended beats that, with no more machine time (default no clones)")
	flags.StringVar(&f.compare, "compare", "", "other rules to evaluate, separated by commas, such as spark3,hadoop2")
	flags.BoolVar(&f.confidence, "confidence", false, "tell how sure the recommendation is, by resampling the durations")
	flags.StringVar(&f.report, "report", "", "also write a page with plots to this HTML file")
	f.format = addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.given = flags.Changed("stragglers") || flags.Changed("clones") || flags.Changed("original")
		if f.given && !(flags.Changed("stragglers") && flags.Changed("clones") && flags.Changed("original")) {
			return fmt.Errorf("--stragglers, --clones and --original go together: give all three, or none")
		}
		if flags.Changed("tasks") && f.tasks == 0 {
			return fmt.Errorf("--tasks: expected a number from 1 to %d, got 0", maxPlanTasks)
		}
		if flags.Changed("quantile") && !(f.quantile > 0 && f.quantile < 1) {
			return fmt.Errorf("--quantile: expected a number between 0 and 1, got %g", f.quantile)
		}
		if flags.Changed("rounds") && (f.rounds < 2 || f.rounds > 100_000_000) {
			return fmt.Errorf("--rounds: expected a number from 2 to 100000000, got %d", f.rounds)
		}
		return f.run(cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
	}
	return cmd
}

// run reads, plans and prints.
func (f *forkFlags) run(stdin io.Reader, out, notes io.Writer, args []string) error {
	if err := checkOut(args, reportFile(f.report)); err != nil {
		return err
	}
	a := &forkAnswer{flags: f}
	if err := a.read(stdin, notes, args); err != nil {
		return err
	}
	a.tasks = f.tasks
	if err := f.check(a.tasks); err != nil {
		return err
	}
	if err := a.search(); err != nil {
		return err
	}
	if f.report != "" {
		if err := writeReport(a.page(), f.report); err != nil {
			return err
		}
	}
	return f.format.print(out, a)
}

// read sets the law of a duration and what it was made of. It sets the tasks if they are not given.
func (a *forkAnswer) read(stdin io.Reader, notes io.Writer, args []string) (err error) {
	f := a.flags
	switch {
	case f.law != "" && len(args) > 0:
		return fmt.Errorf("give FILE or --law, not both")
	case f.cluster.object != "" && (f.law != "" || len(args) > 0):
		return fmt.Errorf("give --kubernetes, or FILE, or --law")
	case f.law == "" && f.cluster.object == "" && len(args) == 0:
		return fmt.Errorf("give a FILE of durations, - for standard input, --kubernetes, or --law (see 'tailcut plan fork --help')")
	case f.law != "":
		if f.tasks == 0 {
			return fmt.Errorf("--law wants --tasks, the number of tasks of the job")
		}
		if a.law, err = laws.Parse(f.law); err != nil {
			return fmt.Errorf("--law: %w", err)
		}
		return nil
	}
	if f.cluster.object != "" {
		text, err := f.cluster.durations(notes)
		if err != nil {
			return err
		}
		f.from.path, f.from.title, stdin = "-", f.cluster.object, bytes.NewReader(text)
	} else {
		f.from.path = args[0]
	}
	st, err := f.from.read(stdin, notes)
	if err != nil {
		return err
	}
	law, cut, err := lawOf(st)
	if err != nil {
		return fmt.Errorf("%s: %w", f.from.name(), err)
	}
	f.from.note(st, cut, notes)
	f.from.leftOut([]*history.Stage{st}, notes)
	f.resolution = st.Resolution
	if f.tasks == 0 {
		if f.tasks = st.Tasks; f.tasks > maxPlanTasks {
			f.tasks = manyTasks
			notice(notes, "%s: %d tasks are planned as a job of %d; --tasks sets another number, up to %d", f.from.name(), st.Tasks, f.tasks, maxPlanTasks)
		}
	}
	a.stage, a.law, a.cut, a.censored, a.samples = st, law, cut, len(st.Censored), len(st.Succeeded)+len(st.Censored)
	return nil
}

// Limits of what is planned exactly within a minute or so.
const (
	maxPlanTasks  = 100_000
	manyTasks     = 20_000 // what a larger job is planned as, unless --tasks says something else
	maxPlanClones = 64
)

func (f *forkFlags) check(tasks int) error {
	switch {
	case tasks < 1 || tasks > maxPlanTasks:
		return fmt.Errorf("--tasks: expected a number from 1 to %d, got %d", maxPlanTasks, tasks)
	case f.stragglers < 0 || f.stragglers > tasks:
		return fmt.Errorf("--stragglers: expected a number from 0 to the %d tasks, got %d", tasks, f.stragglers)
	case f.clones < 0 || f.clones > maxPlanClones:
		return fmt.Errorf("--clones: expected a number from 0 to %d, got %d", maxPlanClones, f.clones)
	case f.maxClones < 0 || f.maxClones > maxPlanClones:
		return fmt.Errorf("--max-clones: expected a number from 0 to %d, got %d", maxPlanClones, f.maxClones)
	case !(f.lambda >= 0) || math.IsInf(f.lambda, 1):
		return fmt.Errorf("--lambda: expected a finite number of at least 0, got %g", f.lambda)
	case f.confidence && f.law != "":
		return fmt.Errorf("--confidence resamples durations: it wants FILE, not --law")
	}
	return nil
}

// repetitions is how often the methods that roll dice do: as asked for, or as often as some seconds allow.
func (f *forkFlags) repetitions(tasks int) int {
	if f.rounds > 0 {
		return f.rounds
	}
	return max(20, min(1000, 2_000_000/tasks))
}

// evaluator returns the evaluator of the method.
func (f *forkFlags) evaluator(l laws.Law, tasks int, exact plan.Evaluator) (plan.Evaluator, error) {
	switch f.method.value {
	case "theorem1":
		return plan.NewTheorem1(l, tasks)
	case "closed-form":
		return plan.NewClosedForm(l, tasks)
	case "simulate":
		return plan.NewSimulate(l, tasks, f.repetitions(tasks), f.seed)
	case "bootstrap":
		sample, ok := l.(*laws.Empirical)
		if !ok {
			return nil, fmt.Errorf("--method bootstrap wants a sample of durations, not the law %s", l)
		}
		return plan.NewBootstrap(sample, tasks, f.repetitions(tasks), f.seed)
	}
	return exact, nil
}
