package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/audit"
	"github.com/tailcut/tailcut/trace"
)

func newReplay() *cobra.Command {
	cmd := &cobra.Command{
		Use: "replay JOURNAL", Short: "Repeat every decision of a run from its journal and compare", Args: cobra.ExactArgs(1),
		Long:    "Feeds the events of a run's journal to the same policy again and compares every decision.\nWith --attempts it also lists every attempt: where it ran, how it ended, and how much of the input it mapped.\nJOURNAL is the journal file or the output folder of the run, or the folder of a server: then every segment of the\nserver's journal is replayed, and each has to begin as the one before ends.\n\nExit status: 0 all decisions are equal, 1 a decision differs or the journal is damaged, 2 wrong usage or no journal.",
		Example: "  tailcut replay counts\n  tailcut replay counts --attempts\n  tailcut replay counts/_tailcut/journal --format json",
	}
	format := addFormat(cmd)
	attempts := cmd.Flags().Bool("attempts", false, "list the attempts, in order of their starts")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		j, err := audit.Open(args[0])
		err = underWay(cmd.Context(), args[0], err)
		if errors.Is(err, trace.ErrCorrupt) {
			return failure{err}
		}
		if err != nil {
			return err
		}
		res, err := j.Replay(*attempts)
		if err != nil {
			return failure{err}
		}
		return format.write(cmd.OutOrStdout(), res)
	}
	return cmd
}
