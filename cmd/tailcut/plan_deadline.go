package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/deadline"
	"github.com/tailcut/tailcut/plan"
)

func newPlanDeadline() *cobra.Command {
	var r deadline.Request
	var utility, atLeast, earliest, job string
	masterSlots := choice{value: "0", valid: []string{"0", "1"}}
	cmd := &cobra.Command{
		Use: "deadline FILE|-", Short: "Divide the slots of a cluster among jobs with deadlines", Args: cobra.ExactArgs(1),
		Long: "Shows each job's probability of meeting its deadline, and the number of clones per task that makes the best use of\n" +
			"the slots that the originals leave free. FILE is JSON:\n\n" +
			"  {\"jobs\": [\n" +
			"    {\"name\": \"etl\", \"tasks\": 10, \"deadline_seconds\": 500,\n" +
			"     \"law\": {\"name\": \"pareto\", \"xm_seconds\": 120, \"alpha\": 1.5}},\n" +
			"    {\"name\": \"report\", \"tasks\": 4, \"deadline_seconds\": 300, \"elapsed_seconds\": 100, \"progress\": 0.4,\n" +
			"     \"law\": {\"samples_seconds\": [60, 65, 70, 240]}}\n" +
			"  ]}\n\n" +
			"List running jobs first, then the others in order of arrival. A law describes the duration of one attempt of a whole\n" +
			"task; a string such as \"pareto:alpha=2,xm=2\" works too. The progress of a job is that of its least advanced task.\n" +
			"If not all tasks fit, jobs run in waves: the next task starts when one ends. \"slots\" in a job is the most slots it may\n" +
			"take. A job that cannot meet its deadline waits for slots that the others leave free. A job may have \"stages\" instead of\n" +
			"tasks and law: [{\"name\": \"map\", \"tasks\": 9, \"law\": ...}, {..., \"after\": [\"map\"]}].\n\n" +
			"--for asks the inverse: the fewest slots on which each job has this probability, and how many more slots a deadline\n" +
			"one minute earlier costs. --earliest shows the earliest deadline with this probability, on the slots that a job gets.",
		Example: "  tailcut plan deadline jobs.json --capacity 120\n" +
			"  tailcut plan deadline jobs.json --capacity 120 --utility sum --format json\n" +
			"  tailcut plan deadline jobs.json --capacity 200 --lambda 0.8 --max-attempts 3 --master-slots 1\n" +
			"  tailcut plan deadline jobs.json --for 99%\n" +
			"  tailcut plan deadline jobs.json --capacity 120 --earliest 99%",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"json"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	flags := cmd.Flags()
	wholeVar(flags, &r.Slots, "capacity", 0, "slots of the cluster (required without --for)")
	flags.Float64Var(&r.Lambda, "lambda", 1, "share of the slots that may be used")
	wholeVar(flags, &r.MaxAttempts, "max-attempts", 5, "most attempts of a task, the original included")
	flags.StringVar(&utility, "utility", "maxmin", "what to maximize: maxmin (the worst job), sum (the number of jobs on time), log, or alpha=A in between")
	flags.StringVar(&atLeast, "for", "", "instead of --capacity: find the fewest slots for this `probability` of each job, such as 99%")
	flags.StringVar(&earliest, "earliest", "", "show the earliest deadline of each job with this `probability`, such as 99%")
	flags.StringVar(&job, "job", "", "with --for: only the job of this `name`")
	flags.Var(&masterSlots, "master-slots", "extra slots that each job needs for its master")
	format := addFormat(cmd)
	for flag, values := range map[string][]string{"utility": {"maxmin", "sum", "log", "alpha=2"}, "master-slots": masterSlots.valid} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if r.Utility, err = plan.ParseUtility(utility); err != nil {
			return fmt.Errorf("--utility: expected maxmin, sum, log, or alpha=A with A from 0 to 100, got %q", utility)
		}
		r.MasterSlots, _ = strconv.Atoi(masterSlots.value)
		if flags.Changed("earliest") {
			if r.Earliest, err = deadline.ParseChance(earliest); err != nil {
				return fmt.Errorf("--earliest: %w", err)
			}
		}
		if flags.Changed("for") {
			needs, err := fewestSlots(cmd, args[0], r, atLeast, job)
			if err != nil {
				return err
			}
			return format.write(cmd.OutOrStdout(), needs)
		}
		if job != "" {
			return fmt.Errorf("--job chooses what --for answers: add --for, such as --for 99%%")
		}
		if err := r.Check(); err != nil {
			return fmt.Errorf("--%w", err)
		}
		if r.Jobs, err = openDeadlineJobs(cmd.InOrStdin(), args[0]); err != nil {
			return err
		}
		return format.write(cmd.OutOrStdout(), deadline.Divide(r))
	}
	return cmd
}

// fewestSlots answers --for.
func fewestSlots(cmd *cobra.Command, path string, r deadline.Request, atLeast, job string) (*deadline.Needs, error) {
	chance, err := deadline.ParseChance(atLeast)
	if err != nil {
		return nil, fmt.Errorf("--for: %w", err)
	}
	for _, other := range []string{"capacity", "utility", "earliest"} {
		if cmd.Flags().Changed(other) {
			return nil, fmt.Errorf("--for finds the slots and divides none: leave out --%s", other)
		}
	}
	r.Slots = 1 // found, not given
	if err := r.Check(); err != nil {
		return nil, fmt.Errorf("--%w", err)
	}
	if r.Jobs, err = openDeadlineJobs(cmd.InOrStdin(), path); err != nil {
		return nil, err
	}
	if job != "" {
		if r.Jobs, err = deadline.Named(r.Jobs, job); err != nil {
			return nil, fmt.Errorf("--job: %w", err)
		}
	}
	return deadline.Fewest(r, chance), nil
}

// openDeadlineJobs reads a file of jobs, "-" for standard input.
func openDeadlineJobs(stdin io.Reader, path string) ([]deadline.Entry, error) {
	if path == "-" {
		text, err := readBounded(stdin, "stdin")
		if err != nil {
			return nil, err
		}
		return deadline.Read("stdin", text)
	}
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return deadline.Read(path, text)
}
