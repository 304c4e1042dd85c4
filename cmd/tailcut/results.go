package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/results"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/trace"
)

// resultsFlags are the flags of results as given.
type resultsFlags struct {
	partial, failed, files, tag, keepOrder bool
	to                                     string
}

func newResults() *cobra.Command {
	cmd := &cobra.Command{
		Use: "results OUT [TASK...]", Short: "Print what the tasks of a run have produced, finished or not", Args: cobra.MinimumNArgs(1),
		Long: "Print the standard output of a run's tasks in the order of the tasks, or copy it with the files that the tasks left. " +
			"OUT is the output folder of a run that has finished, runs, failed or was stopped; it is only read.\n" +
			"TASK is an index, a range, or a stage: 3, 7-9, 1,5-, map, map/3.\n\n" +
			"Exit status: 0 printed, 1 not all tasks are done (see --partial) or a result cannot be read, 2 wrong usage or no run.",
		Example: "  tailcut results out\n  tailcut results out 7-9 --tag\n  tailcut results out --partial --to copy\n  tailcut results out --failed\n  tailcut results out --format json",
	}
	var f resultsFlags
	group(cmd, "Which tasks", func(fl *pflag.FlagSet) {
		fl.BoolVar(&f.partial, "partial", false, "print the tasks that are done although others are not")
		fl.BoolVar(&f.failed, "failed", false, "list the tasks that failed: why, what they ran, where their standard error is")
	})
	group(cmd, "Output", func(fl *pflag.FlagSet) {
		fl.StringVar(&f.to, "to", "", "copy into `folder`, with the files that the tasks left, instead of printing")
		fl.BoolVar(&f.files, "files", false, "print the paths of the results instead of the results")
		fl.BoolVar(&f.tag, "tag", false, "begin each line with the task it is of")
		fl.BoolVarP(&f.keepOrder, "keep-order", "k", false, "in the order of tasks, as always; for those used to it")
		_ = fl.MarkHidden("keep-order")
	})
	format := addFormatOf(cmd, "output", "table", "json", "csv")
	format.value = "output"
	annotate(cmd.Flags().Lookup("format"), groupOf, "Output")
	cmd.Flags().Lookup("format").Usage = "the outputs of the tasks, or a list of the tasks"
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return f.run(cmd, args, format) }
	return cmd
}

// run prints what was asked for.
func (f *resultsFlags) run(cmd *cobra.Command, args []string, format *choice) error {
	for _, pair := range [][2]string{{"to", "files"}, {"to", "tag"}, {"files", "tag"}, {"failed", "to"}, {"failed", "files"}, {"failed", "tag"},
		{"format", "to"}, {"format", "files"}, {"format", "tag"}} {
		if err := exclusive(cmd, pair[0], pair[1]); err != nil {
			return err
		}
	}
	r, tasks, err := openResults(args)
	if err != nil {
		return underWay(cmd.Context(), args[0], err)
	}
	listed := cmd.Flags().Changed("format") && format.value != "output"
	switch {
	case f.failed:
		return format.write(cmd.OutOrStdout(), r.Failures(tasks))
	case listed:
		return format.write(cmd.OutOrStdout(), r.List(tasks))
	}
	if err := r.Complete(tasks); err != nil && !f.partial {
		return failure{err}
	}
	switch {
	case f.to != "":
		err = r.CopyTo(f.to, tasks)
	case f.files:
		err = printPaths(cmd, r, tasks)
	default:
		var tags *results.Tags
		if f.tag {
			if tags, err = r.Tags(""); err != nil {
				return err
			}
		}
		err = r.Print(rawOut(cmd), tasks, tags)
	}
	if err != nil {
		return failure{err}
	}
	return nil
}

// openResults opens the run of the first argument and chooses the tasks that the others name.
func openResults(args []string) (*results.Run, []*results.Result, error) {
	if run.IsURL(args[0]) {
		return nil, nil, fmt.Errorf("%s: expected a folder of this machine; results in a store are its objects part-00000 and so on: copy them with the store's own client", args[0])
	}
	r, err := results.Open(args[0])
	if errors.Is(err, trace.ErrCorrupt) {
		err = failure{err}
	}
	if err != nil {
		return nil, nil, err
	}
	tasks, err := r.Choose(args[1:])
	return r, tasks, err
}

// printPaths prints where the results are. What only the journal has is counted.
func printPaths(cmd *cobra.Command, r *results.Run, tasks []*results.Result) error {
	small := 0
	for _, t := range tasks {
		switch {
		case t.State != results.Done:
		case t.InJournal():
			small++
		default:
			path, err := r.Path(t)
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), path)
		}
	}
	if small > 0 {
		notice(cmd.ErrOrStderr(), "%d small results have no file until the run has finished; copy them with --to FOLDER", small)
	}
	return nil
}

// rawOut is standard output for the bytes of others, which are written as they are.
func rawOut(cmd *cobra.Command) io.Writer {
	if p, ok := cmd.OutOrStdout().(*printed); ok {
		return rawPrinted{p}
	}
	return cmd.OutOrStdout()
}
