package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/plan"
)

// deadlineFlags are the flags of 'tailcut plan deadline'.
type deadlineFlags struct {
	capacity    int
	lambda      float64
	maxAttempts int
	utility     string
	masterSlots choice
	format      *choice
}

func newPlanDeadline() *cobra.Command {
	f := &deadlineFlags{masterSlots: choice{value: "0", valid: []string{"0", "1"}}}
	cmd := &cobra.Command{
		Use: "deadline FILE|-", Short: "Divide the slots of a cluster among jobs with deadlines", Args: cobra.ExactArgs(1),
		Long: "Tell how likely each of several jobs is to meet its deadline, and how many clones of each of its tasks make the most of the slots\n" +
			"that their originals leave. FILE is JSON:\n\n" +
			"  {\"jobs\": [\n" +
			"    {\"name\": \"etl\", \"tasks\": 10, \"deadline_seconds\": 500,\n" +
			"     \"law\": {\"name\": \"pareto\", \"xm_seconds\": 120, \"alpha\": 1.5}},\n" +
			"    {\"name\": \"report\", \"tasks\": 4, \"deadline_seconds\": 300, \"elapsed_seconds\": 100, \"progress\": 0.4,\n" +
			"     \"law\": {\"samples_seconds\": [60, 65, 70, 240]}}\n" +
			"  ]}\n\n" +
			"Jobs are listed in the order of their arrival, with those that run first. A law is of the time that one attempt takes for a whole\n" +
			"task; it may also be a text as --law of 'tailcut plan fork' takes it. The progress of a job is that of its least advanced task.\n" +
			"A job that cannot meet its deadline waits for the slots that the others leave.",
		Example: "  tailcut plan deadline jobs.json --capacity 120\n" +
			"  tailcut plan deadline jobs.json --capacity 120 --utility sum --format json\n" +
			"  tailcut plan deadline jobs.json --capacity 200 --lambda 0.8 --max-attempts 3 --master-slots 1",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"json"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	flags := cmd.Flags()
	wholeVar(flags, &f.capacity, "capacity", 0, "slots of the cluster (required)")
	flags.Float64Var(&f.lambda, "lambda", 1, "share of the slots that may be used")
	wholeVar(flags, &f.maxAttempts, "max-attempts", 5, "most attempts of a task, the original included")
	flags.StringVar(&f.utility, "utility", "maxmin", "what is best: maxmin (the worst job), sum (the number of jobs in time), log, or alpha=A in between")
	flags.Var(&f.masterSlots, "master-slots", "slots that each job needs beside those of its tasks")
	f.format = addFormat(cmd)
	for flag, values := range map[string][]string{"utility": {"maxmin", "sum", "log", "alpha=2"}, "master-slots": f.masterSlots.valid} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.run(cmd.InOrStdin(), cmd.OutOrStdout(), args[0])
	}
	return cmd
}

// maxCapacity is the most slots of a cluster that are planned with.
const maxCapacity = 100_000_000

// deadlineSteps bound the search for a proof to some tenths of a second, and its memory to 128 MiB.
const deadlineSteps = 1 << 26

func (f *deadlineFlags) run(stdin io.Reader, out io.Writer, path string) error {
	utility, err := plan.ParseUtility(f.utility)
	switch {
	case err != nil:
		return fmt.Errorf("--utility: expected maxmin, sum, log, or alpha=A with A from 0 to 100, got %q", f.utility)
	case f.capacity == 0:
		return errors.New("--capacity: expected the number of slots of the cluster")
	case f.capacity < 1 || f.capacity > maxCapacity:
		return fmt.Errorf("--capacity: expected a number from 1 to %d, got %d", maxCapacity, f.capacity)
	case !(f.lambda > 0 && f.lambda <= 1):
		return fmt.Errorf("--lambda: expected a number of more than 0 and at most 1, got %g", f.lambda)
	case f.maxAttempts < 1:
		return fmt.Errorf("--max-attempts: expected a number of at least 1, got %d", f.maxAttempts)
	}
	jobs, err := openDeadlineJobs(stdin, path)
	if err != nil {
		return err
	}
	pool := plan.Pool{Slots: f.capacity, Lambda: f.lambda, MaxAttempts: f.maxAttempts, HopelessLast: true}
	if f.masterSlots.value == "1" {
		pool.MasterSlots = 1
	}
	works := make([]plan.Work, len(jobs))
	for i, j := range jobs {
		works[i] = j.Work
	}
	joint := plan.Joint{Steps: deadlineSteps}
	a := newDeadlineAnswer(pool, jobs, joint.Optimise(pool, utility, works))
	return f.format.print(out, a)
}

// openDeadlineJobs reads a file of jobs, "-" for standard input.
func openDeadlineJobs(stdin io.Reader, path string) ([]deadlineJob, error) {
	if path == "-" {
		text, err := io.ReadAll(stdin)
		if err != nil {
			return nil, fmt.Errorf("stdin: %w", err)
		}
		return readDeadlineJobs("stdin", text)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return readDeadlineJobs(path, text)
}
