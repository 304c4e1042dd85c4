package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/audit"
	"github.com/tailcut/tailcut/internal/parting"
	"github.com/tailcut/tailcut/internal/timeline"
)

func newCompare() *cobra.Command {
	cmd := &cobra.Command{
		Use: "compare RUN SIM", Short: "Show where a live run and its simulation part", Args: cobra.ExactArgs(2),
		Long: "Compares what the attempts of two runs of the same jobs did, such as a live run and its simulation. Shows the\n" +
			"parts of mean flow time in both, the difference of each job, and the first task that started elsewhere in the\n" +
			"order.\n\n" +
			"RUN and SIM are each the output folder of a run, the folder of a server, a journal, or a file of\n" +
			"'tailcut simulate --attempts-out' or 'tailcut report' (CSV or JSON). Of a server they are all jobs that\n" +
			"'tailcut jobs' lists, read from what they have left in their output folders.",
		Example: "  tailcut simulate counts --machines 4 --policy spark --service recorded --attempts-out sim.csv\n  tailcut compare counts sim.csv\n" +
			"  tailcut compare ~/.local/state/tailcut/server sim.csv",
	}
	format := addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var both [2]*timeline.Timeline
		for i, path := range args {
			var err error
			if both[i], err = attemptsIn(cmd, path); err != nil {
				return err
			}
		}
		r, err := parting.Compare(both[0], both[1])
		if err != nil {
			return fmt.Errorf("%s, %s: %w", args[0], args[1], err)
		}
		return format.write(cmd.OutOrStdout(), r)
	}
	return cmd
}

// attemptsIn reads a table or the JSON of attempts, or what a run or a server has left.
func attemptsIn(cmd *cobra.Command, path string) (*timeline.Timeline, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	first, _ := in.Peek(1)
	var t *timeline.Timeline
	switch string(first) {
	case "p":
		t, err = audit.ReadAttempts(in)
	case "{":
		t, err = timeline.Read(in)
	default:
		return columnsOf(cmd, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}
