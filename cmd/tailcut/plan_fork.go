package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/advice"
	"github.com/tailcut/tailcut/internal/durations"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/policy"
)

// forkFlags are the flags of 'tailcut plan fork'.
type forkFlags struct {
	advice.Request
	from     durations.Log
	cluster  durations.Cluster
	law      string
	own      plan.Policy
	original choice
	method   choice
	compare  string
	report   string
	format   *choice
}

func newPlanFork() *cobra.Command {
	f := &forkFlags{
		Request:  advice.Defaults(),
		original: choice{value: "keep", valid: []string{"keep", "kill"}},
		method:   choice{value: advice.Methods[0], valid: advice.Methods},
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
	wholeVar(flags, &f.Tasks, "tasks", 0, "tasks of the job to plan (default those of FILE)")
	addDurations(cmd, &f.from, "FILE")
	flags.StringVar(&f.cluster.Object, "kubernetes", "", "durations of a Job of the cluster that kubectl speaks to, instead of FILE: job/NAME or cronjob/NAME; "+
		"what tailcut-controller has kept of it and its like, or else the Job's pods")
	flags.StringVar(&f.cluster.Namespace, "namespace", "", "with --kubernetes: namespace of the Job (default that of kubectl)")
	flags.StringVar(&f.cluster.History, "history-namespace", "tailcut-system", "with --kubernetes: namespace where tailcut-controller keeps durations")
	wholeVar(flags, &f.own.Stragglers, "stragglers", 0, "evaluate the policy that forks when all but this many tasks are done")
	wholeVar(flags, &f.own.Clones, "clones", 0, "with --stragglers and --original: clones of each task that is left")
	flags.Var(&f.original, "original", "with --stragglers and --clones: what becomes of the original of each task that is left")
	wholeVar(flags, &f.MaxClones, "max-clones", f.MaxClones, "most clones of a task to consider")
	flags.Float64Var(&f.Lambda, "lambda", f.Lambda, "price of a machine second in seconds of latency, of the cost-sensitive optimum")
	flags.Float64Var(&f.Quantile, "quantile", 0, "recommend what makes the job done soonest with this probability, such as 0.99, instead of on average")
	flags.Var(&f.method, "method", "`how` to evaluate policies: "+strings.Join(f.method.valid, ", "))
	wholeVar(flags, &f.Rounds, "rounds", 0, "repetitions of the methods bootstrap and simulate (default 1000, fewer of jobs of more than 2000 tasks)")
	flags.Uint64Var(&f.Seed, "seed", f.Seed, "seed of all that is simulated or resampled")
	flags.StringVar(&f.Now, "now", "", "what you do now, such as spark or backup: what is recommended beats that, with no more machine time (default no clones)")
	flags.StringVar(&f.compare, "compare", "", "other rules to evaluate, separated by commas, such as spark3,hadoop2")
	flags.BoolVar(&f.Confidence, "confidence", false, "tell how sure the recommendation is, by resampling the durations")
	flags.StringVar(&f.report, "report", "", "also write a page with plots to this HTML file")
	f.format = addFormat(cmd)
	cmd.RunE = f.run
	return cmd
}

// run reads, plans and prints.
func (f *forkFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.fill(cmd.Flags()); err != nil {
		return err
	}
	if err := checkOut(args, reportFile(f.report)); err != nil {
		return err
	}
	listen(cmd, &f.from)
	if err := f.read(args); err != nil {
		return err
	}
	a, err := advice.Recommend(cmd.Context(), f.Request)
	var invalid advice.Invalid
	if errors.As(err, &invalid) {
		return fmt.Errorf("--%w", err)
	} else if err != nil {
		return err
	}
	if f.report != "" {
		if err := writeReport(a.Page(), f.report); err != nil {
			return err
		}
	}
	return f.format.write(cmd.OutOrStdout(), a)
}

// fill sets what the flags say in the request.
func (f *forkFlags) fill(flags *pflag.FlagSet) error {
	given := 0
	for _, name := range []string{"stragglers", "clones", "original"} {
		if flags.Changed(name) {
			given++
		}
	}
	if given > 0 && given < 3 {
		return fmt.Errorf("--stragglers, --clones and --original go together: give all three, or none")
	}
	for name, expected := range map[string]string{"tasks": fmt.Sprintf("from 1 to %d", advice.MaxTasks), "quantile": "between 0 and 1", "rounds": "of at least 2"} {
		if flags.Changed(name) && flags.Lookup(name).Value.String() == "0" {
			return fmt.Errorf("--%s: expected a number %s, got 0", name, expected)
		}
	}
	if given > 0 {
		f.Own = &f.own
		if f.original.value == "kill" {
			f.own.Original = plan.Kill
		}
	}
	f.Method = f.method.value
	if f.compare != "" {
		f.Compare = policy.SplitList(f.compare)
	}
	return nil
}

// read sets what durations are drawn from.
func (f *forkFlags) read(args []string) (err error) {
	switch {
	case f.law != "" && len(args) > 0:
		return fmt.Errorf("give FILE or --law, not both")
	case f.cluster.Object != "" && (f.law != "" || len(args) > 0):
		return fmt.Errorf("give --kubernetes, or FILE, or --law")
	case f.law == "" && f.cluster.Object == "" && len(args) == 0:
		return fmt.Errorf("give a FILE of durations, - for standard input, --kubernetes, or --law (see 'tailcut plan fork --help')")
	case f.law != "" && f.Tasks == 0:
		return fmt.Errorf("--law wants --tasks, the number of tasks of the job")
	case f.law != "" && f.Confidence:
		return fmt.Errorf("--confidence resamples durations: it wants FILE, not --law")
	case f.law != "":
		if f.Law, err = laws.Parse(f.law); err != nil {
			return fmt.Errorf("--law: %w", err)
		}
		return nil
	case f.cluster.Object != "":
		err := f.cluster.Take(&f.from)
		var silent durations.Unreachable
		if errors.As(err, &silent) {
			return failure{err}
		} else if err != nil {
			return fmt.Errorf("--kubernetes: %w", err)
		}
	default:
		f.from.Path = args[0]
	}
	f.Sample, err = f.from.Sample()
	if err == nil && f.Tasks == 0 && f.Sample.Tasks > advice.MaxTasks {
		f.from.Tell(fmt.Sprintf("%s: %d tasks are planned as a job of %d; --tasks sets another number, up to %d",
			f.from.Name(), f.Sample.Tasks, advice.ManyTasks, advice.MaxTasks))
	}
	return err
}
