package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/workload"
	"github.com/tailcut/tailcut/trace"
)

// newTrace is the verb about workloads as files.
func newTrace() *cobra.Command {
	cmd := &cobra.Command{
		Use: "trace", Short: "Inspect, convert and synthesise workloads", Args: unknownVerb,
		Long: "Describes workloads, converts them to other formats, and generates synthetic ones.",
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
		Long: `Describes workloads, several side by side: the number of jobs, stages and tasks, task durations, arrivals, stragglers.

WORKLOAD is ` + workloadUsage + `

Straggling is the longest duration of a stage divided by its median, over stages of at least 10 tasks. The load is the work that arrives between
the first and the last job, divided by the capacity of the machines in that time.`,
		Example: `  tailcut trace info jobs.tr.gz
  tailcut trace info google.tr.gz synth:google --machines 11000
  tailcut trace info 19-jobs.trace.json.gz --import incomplete=keep --min-tasks 10 --format csv`,
	}
	input := addWorkloadFlags(cmd)
	var machines int
	var seed uint64
	wholeVar(cmd.Flags(), &machines, "machines", 0, "show the load on this `number` of machines, with one slot each")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "random seed")
	format := addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if machines < 0 || cmd.Flags().Changed("machines") && machines == 0 {
			return wrongFlag("machines", fmt.Errorf("expected a number of at least 1, not %d", machines))
		}
		var all workload.Infos
		for _, arg := range args {
			w, err := loadWorkload(cmd, input, arg, seed)
			if err != nil {
				return err
			}
			all = append(all, workload.Describe(arg, w, machines))
		}
		if err := input.Unread(); err != nil {
			return ofFlag(err)
		}
		return format.write(cmd.OutOrStdout(), all)
	}
	return cmd
}

func newTraceConvert() *cobra.Command {
	cmd := &cobra.Command{
		Use: "convert WORKLOAD OUT", Short: "Write a workload in another format, all of it or some jobs", Args: cobra.ExactArgs(2),
		Long: `Writes a workload, or some of its jobs, in another format. The extension of OUT selects the format: .tr, .jsonl or .csv, followed by .gz or
.zst to compress; - writes JSON lines to stdout. OUT appears only when it is complete.

WORKLOAD is ` + workloadUsage + `

JSON lines keep every field of a workload. If another format would lose fields, the command lists them and writes nothing; --lossy writes
the rest. Jobs are renumbered by line.`,
		Example: `  tailcut trace convert batch_task.csv.gz jobs.jsonl.zst
  zcat part-*.csv.gz | tailcut trace convert - google.jsonl.zst
  tailcut trace convert 19-jobs.trace.json.gz jobs.tr --lossy --min-tasks 10 --force`,
	}
	input := addWorkloadFlags(cmd)
	var out traceOut
	var seed uint64
	out.addFlags(cmd)
	cmd.Flags().Uint64Var(&seed, "seed", 1, "random seed")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := out.settle(args[1], args[0], input.Drop); err != nil {
			return err
		}
		w, err := loadWorkload(cmd, input, args[0], seed)
		if err == nil {
			err = ofFlag(input.Unread())
		}
		if err != nil {
			return err
		}
		return out.write(cmd, w)
	}
	return cmd
}

func newTraceSynth() *cobra.Command {
	cmd := &cobra.Command{
		Use: "synth SPEC OUT", Short: "Generate a workload and write it to a file", Args: cobra.ExactArgs(2),
		Long: `Generates a workload and writes it to a file. The extension of OUT selects the format: .tr, .jsonl or .csv, followed by .gz or .zst to
compress; - writes JSON lines to stdout.

SPEC is one of
  ` + trace.SynthUsage + `
  ` + trace.SynthGoogleUsage + `
  ` + trace.MontageUsage + `
where the first word is optional. Commands that read a workload also accept a SPEC in its place.`,
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
	cmd.Flags().Uint64Var(&seed, "seed", 1, "random seed")
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

// traceOut is a file that a workload is written to.
type traceOut struct {
	force, lossy bool
	file         outFile // its path is "-" for stdout
	format       workload.Format
}

func (o *traceOut) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.force, "force", false, "overwrite OUT if it exists")
	cmd.Flags().BoolVar(&o.lossy, "lossy", false, "write even if the format loses fields")
}

// settle refuses a file that exists or that is an input.
func (o *traceOut) settle(path string, inputs ...string) (err error) {
	o.file = outFile{"OUT", path}
	if o.format, err = workload.FormatOf(path); err != nil || path == "-" {
		return err
	}
	if _, err := os.Lstat(path); !o.force && !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = errors.New("the file exists; --force overwrites it")
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	return checkOut(inputs, o.file)
}

// write writes a workload. The file appears when it is complete.
func (o *traceOut) write(cmd *cobra.Command, w *trace.Workload) error {
	if lost := w.Lost(o.format.Name); len(lost) > 0 {
		what := fmt.Sprintf("%s: .%s cannot store %s", o.file.path, o.format.Name, strings.Join(lost, ", "))
		if !o.lossy {
			return fmt.Errorf("%s; write .jsonl instead, or add --lossy to drop them", what)
		}
		notice(cmd.ErrOrStderr(), "%s", what)
	}
	if o.file.path == "-" {
		return o.format.Write(cmd.OutOrStdout(), w)
	}
	file, err := o.file.create()
	if err != nil {
		return err
	}
	return file.close(cmp.Or(o.format.Write(file, w), cmd.Context().Err()))
}

// workloadUsage says what a workload may be, for help texts.
const workloadUsage = `a file of jobs, - for stdin, or a generator. Files are .tr lines, JSON lines, a CSV of
tasks, or logs: the output folder of a run or the folder of a server, a Spark event log, a Hadoop job history, or a folder of these. Public traces are Rumen, Alibaba v2017 and v2018, SWIM, coflow-benchmark, TPC-H on Spark, Google 2011, WfCommons. The format and gzip or zstd
compression are detected from the content. Generators are
  ` + trace.SynthUsage + `
  ` + trace.SynthGoogleUsage + `
  ` + trace.MontageUsage

// addWorkloadFlags adds to a verb how to read a workload, and which jobs to take.
func addWorkloadFlags(cmd *cobra.Command) *workload.Source {
	f := &workload.Source{}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.Imports, "import", nil, "settings for public traces that lack a field, `KEY=VALUE`: "+strings.ReplaceAll(trace.ImportUsage, ";", "; "))
	wholeVar(fl, &f.Filter.Skip, "skip", 0, "skip the first `N` jobs")
	wholeVar(fl, &f.Filter.MinTasks, "min-tasks", 0, "skip jobs with fewer than `N` tasks")
	fl.DurationVar((*time.Duration)(&f.Filter.From), "from", 0, "keep only jobs that arrive at this `time` of the workload or later, such as 2h or 1470000s")
	fl.DurationVar((*time.Duration)(&f.Filter.To), "to", 0, "keep only jobs that arrive before this `time`")
	fl.StringVar(&f.Drop, "drop", "", "skip the jobs listed in the column line or job of this CSV `file`; if it has a column end_event, only those that did not FINISH")
	fl.Float64Var(&f.Filter.Load, "scale-load", 1, "divide the gaps between arrivals by this `factor`")
	_ = cmd.RegisterFlagCompletionFunc("import", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var keys []string
		for pair := range strings.SplitSeq(trace.ImportUsage, ";") {
			key, _, _ := strings.Cut(pair, "=")
			keys = append(keys, key+"=")
		}
		return keys, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	return f
}

// loadWorkload loads what a verb was given, and tells what is to be said of it.
func loadWorkload(cmd *cobra.Command, from *workload.Source, arg string, seed uint64) (*trace.Workload, error) {
	if from.Filter.Load == 0 { // which stands for 1 in a filter
		return nil, wrongFlag("scale-load", errors.New("expected a positive number, not 0"))
	}
	w, notes, err := from.Load(cmd.Context(), arg, cmd.InOrStdin(), seed)
	for _, note := range notes {
		notice(cmd.ErrOrStderr(), "%s", note)
	}
	return w, ofFlag(err)
}
