package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// replayResult is the result of a replay for programs.
type replayResult struct {
	Schema    string `json:"schema"`
	Policy    string `json:"policy"`
	Batches   int    `json:"batches"`
	Facts     int    `json:"facts"`
	Decisions int    `json:"decisions"`
	Equal     bool   `json:"equal"`
	Torn      bool   `json:"torn"` // bytes of an unfinished record follow the last whole one

	Attempts []replayAttempt `json:"attempts,omitempty"` // if asked for
}

func newReplay() *cobra.Command {
	cmd := &cobra.Command{
		Use: "replay JOURNAL", Short: "Feed a run's journal to a fresh core and check that every decision is the same", Args: cobra.ExactArgs(1),
		Long:    "Feed the facts of a run's journal to a fresh core under the same policy and compare every decision.\nWith --attempts also tell every attempt's life: where it began, how it ended, and how much of the input it mapped.\nJOURNAL is the file, or the output folder of the run.\n\nExit status: 0 all equal, 1 a decision differs or the journal is damaged, 2 wrong usage or no journal.",
		Example: "  tailcut replay counts\n  tailcut replay counts --attempts\n  tailcut replay counts/_tailcut/journal --format json",
	}
	format := addFormat(cmd)
	attempts := cmd.Flags().Bool("attempts", false, "list the attempts, in the order of their starts")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path := args[0]
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = proc.Folders{Root: filepath.Join(path, privateDir)}.Journal()
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: expected the output folder of a run", args[0])
			}
		}
		r, err := trace.OpenJournalReader(path)
		if err != nil {
			return damaged(err)
		}
		if _, err := policiesOf(&r.Header); err != nil {
			return err
		}
		res := replayResult{Schema: "tailcut.replay/v1", Policy: r.Header.Policy, Equal: true}
		lives, err := live.Lives(r, policiesOf, func(_ *sched.Core, b *trace.Batch) {
			res.Batches++
			res.Facts += len(b.Facts)
			res.Decisions += len(b.Decisions)
		})
		if err != nil {
			return failure{err}
		}
		res.Torn = r.Torn()
		if *attempts {
			if res.Attempts, err = attemptsOf(lives, &r.Header, path); err != nil {
				return failure{err}
			}
		}
		return res.print(cmd.OutOrStdout(), format.value, *attempts)
	}
	return cmd
}

func (res *replayResult) print(w io.Writer, format string, attempts bool) error {
	switch {
	case format == "json":
		return json.NewEncoder(w).Encode(res)
	case format == "csv" && attempts:
		return printAttemptsCSV(w, res.Attempts)
	case format == "csv":
		fmt.Fprintf(w, "policy,batches,facts,decisions,equal,torn\n%q,%d,%d,%d,%v,%v\n", res.Policy, res.Batches, res.Facts, res.Decisions, res.Equal, res.Torn)
		return nil
	case attempts:
		printAttempts(w, res.Attempts)
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s: %d batches, %d facts, %d decisions, all as in the journal\n", res.Policy, res.Batches, res.Facts, res.Decisions)
	if res.Torn {
		fmt.Fprintln(w, "an unfinished record follows; it was never acted on")
	}
	return nil
}

// policiesOf returns a fresh policy of a run.
func policiesOf(h *trace.JournalHeader) (sched.Policy, error) { return policy.New(h.Policy, h.Seed) }

// damaged makes a broken journal a failure rather than the user's mistake.
func damaged(err error) error {
	if errors.Is(err, trace.ErrCorrupt) {
		return failure{err}
	}
	return err
}
