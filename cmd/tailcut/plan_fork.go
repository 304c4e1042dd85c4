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
	history  *fromHistory
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
		Use: "fork [FILE|-]", Short: "Find when to clone the last tasks of a job, and how many clones", Args: cobra.MaximumNArgs(1),
		Long: "Finds the best single-fork policy for a job. When all but S tasks are done, the policy starts R clones of each remaining task.\n" +
			"The original keeps running beside its clones (keep), or R+1 new attempts replace it (kill).\n" +
			"FILE has the task durations of a past run: one number of seconds per line, a CSV, a .tr workload, or a log of\n" +
			"Spark, Hadoop, GNU parallel, Nextflow, Slurm, Kubernetes or Tailcut.\n\n" +
			"--compare evaluates other rules beside the recommendation; --now names your current setting. Rules are spark, spark3,\n" +
			"flink, hadoop2 and backup with the parameters of 'tailcut policies', a time-out such as\n" +
			"timeout:after=30s,r=1,original=kill,times=3, or several forks joined by +.",
		Example: "  tailcut plan fork durations.txt\n" +
			"  tailcut plan fork --column seconds tasks.csv --quantile 0.99\n" +
			"  tailcut plan fork application_1472176676028_407508_1.zstd --stage 23\n" +
			"  tailcut plan fork --kubernetes job/report-20260131\n" +
			"  tailcut plan fork --from-history nightly --stage map\n" +
			"  tailcut plan fork durations.txt --compare spark3,hadoop2,timeout:after=30s --confidence --report plan.html\n" +
			"  tailcut plan fork --law pareto:alpha=2,xm=2 --tasks 400 --stragglers 40 --clones 1 --original keep",
	}
	flags := cmd.Flags()
	flags.StringVar(&f.law, "law", "", "probability law of a task's duration, instead of FILE, such as pareto:alpha=2,xm=2")
	wholeVar(flags, &f.Tasks, "tasks", 0, "number of tasks of the job to plan (default: as in FILE)")
	addDurations(cmd, &f.from, "FILE")
	flags.StringVar(&f.cluster.Object, "kubernetes", "", "read durations from the cluster of kubectl's current context, instead of FILE: job/NAME or cronjob/NAME; "+
		"uses the history that tailcut-controller keeps, or else the Job's pods")
	flags.StringVar(&f.cluster.Namespace, "namespace", "", "with --kubernetes: namespace of the Job (default: kubectl's)")
	flags.StringVar(&f.cluster.History, "history-namespace", "tailcut-system", "with --kubernetes: namespace where tailcut-controller keeps durations")
	wholeVar(flags, &f.own.Stragglers, "stragglers", 0, "evaluate the policy that forks when all but this number of tasks are done")
	wholeVar(flags, &f.own.Clones, "clones", 0, "with --stragglers: clones of each remaining task")
	flags.Var(&f.original, "original", "with --stragglers and --clones: keep or kill the original of each remaining task")
	wholeVar(flags, &f.MaxClones, "max-clones", f.MaxClones, "maximum number of clones per task to consider")
	wholeVar(flags, &f.Forks, "forks", 1, "2: also search policies that fork twice, and simulate the best")
	flags.Float64Var(&f.Lambda, "lambda", f.Lambda, "price of a machine second, in seconds of latency, for the cost-sensitive optimum")
	flags.Float64Var(&f.Quantile, "quantile", 0, "optimize this quantile of the job's latency, such as 0.99, instead of its mean")
	flags.Var(&f.method, "method", "`how` to evaluate policies: "+strings.Join(f.method.valid, ", "))
	wholeVar(flags, &f.Rounds, "rounds", 0, "repetitions of the methods bootstrap and simulate (default 1000, fewer for jobs of more than 2000 tasks)")
	flags.Uint64Var(&f.Seed, "seed", f.Seed, "random seed")
	flags.StringVar(&f.Now, "now", "", "your current setting, such as spark or backup; only plans that are faster at equal or lower cost are recommended (default: no clones)")
	flags.StringVar(&f.compare, "compare", "", "other rules to evaluate, separated by commas, such as spark3,hadoop2")
	flags.BoolVar(&f.Confidence, "confidence", false, "show how stable the recommendation is, by resampling the durations")
	flags.StringVar(&f.report, "report", "", "also write an HTML report with plots to this file")
	f.history = addFromHistory(cmd, "FILE")
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
	if err := f.read(cmd, args); err != nil {
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
	own := flags.Changed("stragglers")
	if own != flags.Changed("clones") || !own && flags.Changed("original") {
		return fmt.Errorf("--stragglers, --clones and --original: give the first two, or none")
	}
	for _, name := range []string{"namespace", "history-namespace"} {
		if flags.Changed(name) && f.cluster.Object == "" {
			return fmt.Errorf("--%s: works with --kubernetes", name)
		}
	}
	for name, expected := range map[string]string{"tasks": fmt.Sprintf("from 1 to %d", advice.MaxTasks), "quantile": "between 0 and 1", "forks": "1 or 2", "rounds": "of at least 2"} {
		if flags.Changed(name) && flags.Lookup(name).Value.String() == "0" {
			return fmt.Errorf("--%s: expected a number %s, got 0", name, expected)
		}
	}
	if own {
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
func (f *forkFlags) read(cmd *cobra.Command, args []string) (err error) {
	if err := f.history.check(args, "FILE"); err != nil {
		return err
	}
	switch {
	case f.law != "" && len(args) > 0:
		return fmt.Errorf("give FILE or --law, not both")
	case f.cluster.Object != "" && (f.law != "" || len(args) > 0):
		return fmt.Errorf("give only one of FILE, --kubernetes and --law")
	case f.history.name != "" && (f.law != "" || f.cluster.Object != ""):
		return fmt.Errorf("give only one of FILE, --from-history, --kubernetes and --law")
	case f.law == "" && f.cluster.Object == "" && f.history.name == "" && len(args) == 0:
		return fmt.Errorf("give a FILE of durations, - for standard input, --from-history, --kubernetes or --law; for example: tailcut plan fork durations.txt")
	case f.law != "" && f.Tasks == 0:
		return fmt.Errorf("--law needs --tasks, the number of tasks of the job; for example --tasks 400")
	case f.law != "" && f.Confidence:
		return fmt.Errorf("--confidence resamples durations, so it needs FILE instead of --law")
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
	case f.history.name != "":
		if err := f.history.take(cmd, &f.from); err != nil {
			return err
		}
	default:
		f.from.Path = args[0]
	}
	f.Sample, err = f.from.Sample()
	if err == nil && f.Tasks == 0 && f.Sample.Tasks > advice.MaxTasks {
		f.from.Tell(fmt.Sprintf("%s: planning its %d tasks as a job of %d; --tasks sets another number, up to %d",
			f.from.Name(), f.Sample.Tasks, advice.ManyTasks, advice.MaxTasks))
	}
	return err
}
