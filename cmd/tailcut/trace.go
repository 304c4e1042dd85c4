package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/trace"
)

// newTrace is the verb about workloads as files.
func newTrace() *cobra.Command {
	cmd := &cobra.Command{
		Use: "trace", Short: "Inspect, convert and synthesise workloads", Args: unknownVerb,
		Long: "Inspect, convert and synthesise workloads: what they are like, in which format they are kept, and how to make one.",
		Example: `  tailcut trace info jobs.tr.gz
  tailcut trace convert batch_task.csv.gz jobs.jsonl.zst
  tailcut trace synth 'synth:jobs=1000;tasks=100' jobs.jsonl.gz`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTraceInfo(), newTraceConvert(), newTraceSynth())
	return cmd
}

func newTraceInfo() *cobra.Command {
	cmd := &cobra.Command{
		Use: "info WORKLOAD...", Short: "Describe workloads: sizes, durations, arrivals, stragglers, load", Args: cobra.MinimumNArgs(1),
		Long: `Describe workloads: how many jobs, stages and tasks, how long tasks last, how jobs arrive, and how much tasks straggle; several side by side.

WORKLOAD is ` + workloadUsage + `

Straggling is the longest duration of a stage divided by its median, over stages of at least 10 tasks. The load is the work that arrives between the first
and the last job, divided by what the machines can do in that time.`,
		Example: `  tailcut trace info jobs.tr.gz
  tailcut trace info google.tr.gz synth:google --machines 11000
  tailcut trace info 19-jobs.trace.json.gz --import incomplete=keep --min-tasks 10 --format csv`,
	}
	input := addWorkloadFlags(cmd)
	var machines int
	var seed uint64
	wholeVar(cmd.Flags(), &machines, "machines", 0, "tell the load on that `number` of machines of one slot each")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of what is drawn")
	format := addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if machines < 0 || cmd.Flags().Changed("machines") && machines == 0 {
			return wrongFlag("machines", fmt.Errorf("expected a number of at least 1, not %d", machines))
		}
		var all []traceInfo
		for _, arg := range args {
			w, err := input.load(cmd.Context(), arg, cmd.InOrStdin(), cmd.ErrOrStderr(), seed)
			if err != nil {
				return err
			}
			all = append(all, summaryOf(arg, trace.Summarize(w), machines))
		}
		return printTraceInfo(cmd.OutOrStdout(), format.value, all)
	}
	return cmd
}

func newTraceConvert() *cobra.Command {
	cmd := &cobra.Command{
		Use: "convert WORKLOAD OUT", Short: "Write a workload in another format, all of it or some jobs", Args: cobra.ExactArgs(2),
		Long: `Write a workload in another format, all of it or some jobs. The name OUT tells the format: .tr, .jsonl or .csv, and .gz or .zst behind it
to compress; - is JSON lines to stdout. OUT appears when it is complete.

WORKLOAD is ` + workloadUsage + `

JSON lines keep all that a workload says. If the format has no place for something, nothing is written and what would be lost is told; --lossy writes
the rest. Jobs are numbered anew, by their lines.`,
		Example: `  tailcut trace convert batch_task.csv.gz jobs.jsonl.zst
  zcat part-*.csv.gz | tailcut trace convert - google.jsonl.zst
  tailcut trace convert 19-jobs.trace.json.gz jobs.tr --lossy --min-tasks 10 --force`,
	}
	input := addWorkloadFlags(cmd)
	var out traceOut
	var seed uint64
	out.addFlags(cmd)
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of what is drawn")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := out.settle(args[1], args[0], input.drop); err != nil {
			return err
		}
		w, err := input.load(cmd.Context(), args[0], cmd.InOrStdin(), cmd.ErrOrStderr(), seed)
		if err != nil {
			return err
		}
		return out.write(cmd, w)
	}
	return cmd
}

func newTraceSynth() *cobra.Command {
	cmd := &cobra.Command{
		Use: "synth SPEC OUT", Short: "Make a workload and write it to a file", Args: cobra.ExactArgs(2),
		Long: `Make a workload and write it to a file. The name OUT tells the format: .tr, .jsonl or .csv, and .gz or .zst behind it to compress; - is JSON
lines to stdout.

SPEC is one of
  ` + trace.SynthUsage + `
  ` + trace.SynthGoogleUsage + `
  ` + trace.MontageUsage + `
where the first word may be left out. Verbs that take a workload take a SPEC in its place; a file is for other programs, and for keeping.`,
		Example: `  tailcut trace synth 'synth:jobs=1000;tasks=100;law=pareto:alpha=1.5,xm=10' jobs.jsonl.gz
  tailcut trace synth 'google;jobs=4000;seed=7' google-7.tr.zst`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return []string{"synth:google", "synth:jobs="}, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		},
	}
	var out traceOut
	var seed uint64
	out.addFlags(cmd)
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of what is drawn")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := out.settle(args[1]); err != nil {
			return err
		}
		w, err := trace.Synthesize("synth:"+strings.TrimPrefix(args[0], "synth:"), seed)
		if err != nil {
			return err
		}
		return out.write(cmd, w)
	}
	return cmd
}
