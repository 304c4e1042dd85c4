package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/diagnosis"
	"github.com/tailcut/tailcut/internal/durations"
	"github.com/tailcut/tailcut/internal/sizing"
)

func newPlanSlots() *cobra.Command {
	var from durations.Log
	var sizes string
	slots, seed := 0, uint64(1)
	cmd := &cobra.Command{
		Use: "slots LOG", Short: "Find how many slots an application needs, from the log of one run", Args: cobra.ExactArgs(1),
		Long: "Replays a log on other numbers of slots, with and without clones, and prints time and cost.\n" +
			"LOG is a log of Spark, Hadoop, GNU parallel, Nextflow, Slurm or Tailcut that tells when attempts started.\n\n" +
			"The slot time is what the slots cost, idle or not. The knee is the number of slots with the least product of time and\n" +
			"slot time: fewer slots lose more time than they save cost, more slots cost more than they save time.",
		Example: "  tailcut plan slots application_1472176676028_407508_1.zstd\n" +
			"  tailcut plan slots eventlog_v2_application_1472176676028_407508 --try 50,100,200,400 --format csv",
	}
	addDurations(cmd, &from, "LOG")
	cmd.Flags().StringVar(&sizes, "try", "", "numbers of slots to replay on, separated by commas (default: an eighth to four times those of the log)")
	wholeVar(cmd.Flags(), &slots, "slots", 0, "`number` of slots that the log ran on (default: as the log says, or else the most seen busy at once)")
	cmd.Flags().Uint64Var(&seed, "seed", seed, "random seed")
	format := addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if cmd.Flags().Changed("slots") && (slots < 1 || slots > mostSlots) {
			return fmt.Errorf("--slots: expected a number from 1 to %d, got %d", mostSlots, slots)
		}
		r := sizing.Request{Seed: seed, Watch: func(doing string, tasks int) (func(int), func()) {
			return showProgress(cmd.ErrOrStderr(), doing, tasks)
		}}
		if r.Sizes, err = parseSizes(sizes); err != nil {
			return err
		}
		listen(cmd, &from)
		from.Path = args[0]
		e := diagnosis.Defaults()
		if e.Stages, e.Hosts, err = from.Stages(); err != nil {
			return err
		}
		e.Log, e.Application = from.Name(), from.Course.Application
		e.Again = rerun(e.Log, e.Stages, from.Course, slots)
		if e.Again == nil {
			return fmt.Errorf("%s: the log does not tell when attempts started, or none succeeded, so it cannot be replayed; say with --slots how many it ran on, or for the exact figures with a machine per task write: "+
				"tailcut plan fork %s", e.Log, args[0])
		}
		diagnosis.Keep(e)
		r.Log, r.Application, r.Stages, r.Again = e.Log, e.Application, e.Stages, e.Again
		a, err := sizing.Plan(cmd.Context(), r)
		if err != nil {
			return err
		}
		return format.write(cmd.OutOrStdout(), a)
	}
	return cmd
}

// parseSizes reads numbers of slots, which come back increasing.
func parseSizes(text string) (sizes []int, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > mostSlots {
			return nil, fmt.Errorf("--try: expected numbers of slots from 1 to %d, separated by commas, got %q", mostSlots, part)
		}
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes), nil
}
