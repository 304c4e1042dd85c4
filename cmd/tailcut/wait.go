package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/serve"
	"github.com/tailcut/tailcut/internal/show"
)

func newWait() *cobra.Command {
	cmd := &cobra.Command{
		Use: "wait [JOB...]", Short: "Wait until jobs of the server are over", ValidArgsFunction: completeJobs,
		Long: "Wait until jobs are over; without JOB, until all are that the server has now. A line tells of each. " +
			"JOB is an id, or a name, which means the latest job of that name. If the server ends in between, " +
			"this waits a minute for it to be started again.\n\n" +
			"Exit status: 0 all have succeeded, 1 one has not or no server answers, 2 wrong usage or no such job.",
		Example: "  tailcut wait nightly\n  tailcut wait 3 4 5 && echo done",
	}
	var server *serverFlag
	group(cmd, "Flags", func(fl *pflag.FlagSet) { server = addServer(fl) })
	format := addFormatOf(cmd, "table", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := server.client()
		if err != nil {
			return err
		}
		refs, err := resolve(cmd.Context(), client, args)
		if err != nil {
			return answered(err)
		}
		answer := &serve.Jobs{Schema: serve.JobsSchema, Jobs: []serve.Job{}}
		failed := false
		for _, ref := range refs {
			j, err := client.Wait(cmd.Context(), ref)
			if err != nil {
				return answered(err)
			}
			j.Schema = ""
			answer.Jobs = append(answer.Jobs, *j)
			failed = failed || j.State != serve.Succeeded
			if format.value == "table" {
				tellJob(cmd, j)
			}
		}
		if format.value == "json" {
			if err := writeJSON(cmd.OutOrStdout(), answer); err != nil {
				return err
			}
		}
		if failed {
			return errFailed
		}
		return nil
	}
	return cmd
}

// resolve returns the ids of jobs as they are called now, so that a mistake is told before anything is waited for, and
// a later job of the same name changes nothing. Without names it returns those of all jobs that are not over.
func resolve(ctx context.Context, client *serve.Client, refs []string) (ids []string, err error) {
	if len(refs) > 0 {
		for _, ref := range refs {
			j, err := client.Job(ctx, ref, 0)
			if err != nil {
				return nil, err
			}
			ids = append(ids, strconv.FormatInt(j.ID, 10))
		}
		return ids, nil
	}
	all, err := client.Jobs(ctx, serve.Filter{States: []serve.State{serve.Queued, serve.Running, serve.Paused}})
	if err != nil {
		return nil, err
	}
	for _, j := range all.Jobs {
		ids = append(ids, strconv.FormatInt(j.ID, 10))
	}
	slices.Reverse(ids)
	return ids, nil
}

// tellJob prints what has become of a job.
func tellJob(cmd *cobra.Command, j *serve.Job) {
	why := ""
	if j.Why != "" {
		why = ": " + j.Why
	}
	took := ""
	if j.State.Over() {
		took = " after " + show.Seconds(j.Flow)
	}
	fmt.Fprintln(cmd.OutOrStdout(), show.OneLine(fmt.Sprintf("job %d (%s): %s%s%s", j.ID, j.Name, j.State, took, why)))
}
