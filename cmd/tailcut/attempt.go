package main

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/mapreduce"
)

// newAttempt is the verb with which the engine starts itself as an attempt of map/reduce work. The spec comes on
// standard input, progress goes to descriptor 3.
func newAttempt() *cobra.Command {
	return &cobra.Command{
		Use: "attempt", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			endsItself(cmd.Context())
			data, err := io.ReadAll(cmd.InOrStdin())
			if err != nil {
				return err
			}
			spec, err := mapreduce.DecodeSpec(data)
			if err != nil {
				return err
			}
			progress := os.NewFile(3, "progress")
			spec.Progress = func(x float64) { fmt.Fprintf(progress, "%.4f\n", x) }
			spec.Saved = func(offset int64, x float64) { fmt.Fprintln(progress, strconv.FormatFloat(x, 'g', -1, 64), offset) }
			spec.Stderr = cmd.ErrOrStderr()
			if _, err := mapreduce.Run(cmd.Context(), spec); err != nil {
				return attemptFailure{err, mapreduce.ExitStatus(err)}
			}
			return nil
		},
	}
}

// newGuard is the verb of the process that kills what an engine leaves behind.
func newGuard() *cobra.Command {
	return &cobra.Command{
		Use: "guard TAG", Hidden: true, Args: cobra.ExactArgs(1),
		Run: func(cmd *cobra.Command, args []string) {
			endsItself(cmd.Context())
			proc.Guard(args[0], cmd.InOrStdin())
		},
	}
}
