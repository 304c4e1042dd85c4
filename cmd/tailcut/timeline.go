package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tailcut/tailcut/internal/audit"
	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/trace"
)

func newTimeline() *cobra.Command {
	cmd := &cobra.Command{
		Use: "timeline OUT...", Short: "Draw what each slot of a run did when: attempts, stragglers and clones", Args: cobra.MinimumNArgs(1),
		Long: "Draw the timeline of runs: one row per slot, one bar per attempt. Stragglers (attempts that took\n" +
			"twice the median of their stage or longer), clones, and attempts whose result was not used stand out.\n" +
			"Several runs share one axis of time, one above the other.\n\n" +
			"OUT is the output folder of a run, finished or not, or its journal.",
		Example: "  tailcut timeline counts\n  tailcut timeline without-clones with-clones --svg compare.svg",
	}
	svg := outFile{called: "--svg"}
	cmd.Flags().StringVar(&svg.path, "svg", "", "draw into this SVG file, not on the terminal")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOut(args, svg); err != nil {
			return err
		}
		t, err := timelineOf(args)
		for _, out := range args {
			err = underWay(cmd.Context(), out, err)
		}
		if err != nil {
			return err
		}
		if svg.path != "" {
			return svg.fill(t.WriteSVG)
		}
		return t.WriteText(cmd.OutOrStdout(), columns(os.Stdout))
	}
	return cmd
}

// timelineOf reads the journals of runs.
func timelineOf(paths []string) (*report.Timeline, error) {
	t := &report.Timeline{}
	for _, path := range paths {
		j, err := audit.Open(path)
		if err == nil {
			var run *report.TimelineRun
			if run, err = j.Timeline(); err != nil {
				return nil, failure{err}
			}
			t.Runs = append(t.Runs, *run)
		}
		if errors.Is(err, trace.ErrCorrupt) {
			return nil, failure{err}
		}
		if err != nil {
			return nil, err
		}
	}
	if t.Empty() {
		return nil, fmt.Errorf("%s: no attempt has run yet", paths[0])
	}
	return t, nil
}

// columns is the width of the terminal, 80 where there is none.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}
