package main

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/serve"
)

// newOrder returns a verb that does something to jobs of the server, one after another.
func newOrder(name, short, long, example string, do func(*serve.Client, context.Context, string) (*serve.Job, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " JOB...", Short: short, Args: cobra.MinimumNArgs(1), ValidArgsFunction: completeJobs,
		Long:    long + " JOB is an id, or a name, which means the latest job of that name.\n\nExit status: 0 done, 1 a job is over already or no server answers, 2 wrong usage or no such job.",
		Example: example,
	}
	var server *serverFlag
	group(cmd, "Flags", func(fl *pflag.FlagSet) { server = addServer(fl) })
	format := addFormatOf(cmd, "table", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := server.client()
		if err != nil {
			return err
		}
		answer := &serve.Jobs{Schema: serve.JobsSchema, Jobs: []serve.Job{}}
		for _, ref := range args {
			j, err := do(client, cmd.Context(), ref)
			if err != nil {
				return answered(err)
			}
			j.Schema = ""
			if answer.Jobs = append(answer.Jobs, *j); format.value == "table" {
				tellJob(cmd, j)
			}
		}
		if format.value == "json" {
			return writeJSON(cmd.OutOrStdout(), answer)
		}
		return nil
	}
	return cmd
}

func newCancel() *cobra.Command {
	return newOrder("cancel", "End jobs of the server", "End jobs, and what runs of them. Tasks that are done keep their results: "+
		"the same command submitted into the same output folder goes on with the others.",
		"  tailcut cancel nightly\n  tailcut cancel 3 4 5", (*serve.Client).Cancel)
}

func newPause() *cobra.Command {
	return newOrder("pause", "Start nothing more of jobs of the server", "Start nothing more of jobs. What runs of them, runs on to its end.",
		"  tailcut pause nightly", (*serve.Client).Pause)
}

func newResume() *cobra.Command {
	return newOrder("resume", "Let paused jobs of the server go on", "Let paused jobs go on.", "  tailcut resume nightly", (*serve.Client).Resume)
}

func newPriority() *cobra.Command {
	cmd := &cobra.Command{
		Use: "priority JOB [PRIORITY]", Short: "Change a job's priority, weight or deadline", Args: cobra.RangeArgs(1, 2), ValidArgsFunction: completeJob,
		Long: "Change the place of a job of the server among the others. A higher PRIORITY goes first; jobs begin with 0. " +
			"What a policy looks at, 'tailcut policies' says: fair and laps at weights, laxity and shed at deadlines.\n\n" +
			"Exit status: 0 changed, 1 the job is over or no server answers, 2 wrong usage or no such job.",
		Example: "  tailcut priority nightly 10\n  tailcut priority 17 --weight 3 --deadline 20m",
	}
	var server *serverFlag
	weight, deadline := 1.0, ""
	group(cmd, "Flags", func(fl *pflag.FlagSet) {
		fl.Float64Var(&weight, "weight", 1, "share of the slots, under policies that share them")
		fl.StringVar(&deadline, "deadline", "", "new `deadline`: 10m from now, an instant such as 2026-01-31T06:00:00Z, or none")
		server = addServer(fl)
	})
	format := addFormatOf(cmd, "table", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		change := &serve.Change{}
		if len(args) == 2 {
			p, err := strconv.Atoi(args[1])
			if err != nil {
				return fmt.Errorf("expected a whole number as PRIORITY, not %q; for a negative one write: tailcut priority -- %s %s", args[1], args[0], args[1])
			}
			change.Priority = &p
		}
		if math.IsNaN(weight) || math.IsInf(weight, 0) { // JSON has no word for these
			return checkWeight(cmd, weight)
		}
		if cmd.Flags().Changed("weight") {
			change.Weight = &weight
		}
		if cmd.Flags().Changed("deadline") {
			change.Deadline = &deadline
		}
		if *change == (serve.Change{}) {
			return fmt.Errorf("expected a PRIORITY, --weight or --deadline")
		}
		client, err := server.client()
		if err != nil {
			return err
		}
		j, err := client.Change(cmd.Context(), args[0], change)
		switch {
		case err != nil:
			return answered(err)
		case format.value == "json":
			return writeJSON(cmd.OutOrStdout(), j)
		}
		writeJob(cmd.OutOrStdout(), j)
		return nil
	}
	return cmd
}
