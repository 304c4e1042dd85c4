package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/diagnosis"
	"github.com/tailcut/tailcut/internal/durations"
	"github.com/tailcut/tailcut/internal/nights"
)

func newPlanVerify() *cobra.Command {
	var from durations.Log
	var after []string
	slots := 0
	cmd := &cobra.Command{
		Use: "verify BEFORE... AFTER", Short: "Compare what other settings were to save with what they saved, by the logs of both", Args: cobra.MinimumNArgs(1),
		Long: "Predicts what the settings of the runs in AFTER would have saved of the runs in BEFORE, and compares it with what they\n" +
			"saved, for the application and each stage, corrected for what was read. Each argument is a log or a folder of logs.\n" +
			"With --after all arguments are BEFORE.",
		Example: "  tailcut plan verify october/ november/\n" +
			"  tailcut plan verify monday.gz tuesday.gz --after wednesday.gz --after thursday.gz --format json",
	}
	addDurations(cmd, &from, "BEFORE")
	cmd.Flags().StringArrayVar(&after, "after", nil, "`log` with the other settings, or a folder of logs; may be given several times")
	wholeVar(cmd.Flags(), &slots, "slots", 0, "`number` of slots that the logs ran on (default: as the log says, or else the most seen busy at once)")
	format := addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("slots") && (slots < 1 || slots > mostSlots) {
			return fmt.Errorf("--slots: expected a number from 1 to %d, got %d", mostSlots, slots)
		}
		before := args
		if len(after) == 0 {
			before, after = args[:len(args)-1], args[len(args)-1:]
		}
		if len(before) == 0 {
			return fmt.Errorf("give the logs of BEFORE and AFTER: tailcut plan verify BEFORE %s", args[0])
		}
		var sides [2]*nights.Application
		for i, paths := range [][]string{before, after} {
			q := nights.Query{Paths: paths, Slots: slots, Log: from, Each: diagnosis.Defaults}
			q.Tell = func(line string) { notice(cmd.ErrOrStderr(), "%s", line) }
			all, err := nights.Read(cmd.Context(), q)
			if err != nil {
				return err
			}
			if len(all) > 1 {
				return fmt.Errorf("%s: expected runs of one application, found %s and %s", paths[0], all[0].Runs[0].Application, all[1].Runs[0].Application)
			}
			sides[i] = all[0]
		}
		v, err := nights.Verify(cmd.Context(), sides[0], sides[1])
		if err != nil {
			return err
		}
		return format.write(cmd.OutOrStdout(), v)
	}
	return cmd
}
