package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/audit"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/internal/timeline"
	"github.com/tailcut/tailcut/trace"
)

// reportSuffixes are what the names of report's files end with, by format.
var reportSuffixes = map[string]string{"html": ".html", "json": ".json", "csv": ".csv", "perfetto": ".pftrace"}

// reportWriters write a timeline by format; html writes its page.
func reportWriters(t *timeline.Timeline, html func(io.Writer) error) map[string]func(io.Writer) error {
	table := func(w io.Writer) error { return audit.WriteAttempts(w, t) }
	return map[string]func(io.Writer) error{"html": html, "json": t.WriteJSON, "csv": table, "perfetto": t.WritePerfetto}
}

func newReport() *cobra.Command {
	cmd := &cobra.Command{
		Use: "report OUT", Short: "Write a run's timeline as a page to zoom in, or as a trace", Args: cobra.ExactArgs(1),
		Long: "Writes what every attempt of a run did as one HTML file that opens without a network: a timeline to\n" +
			"zoom in, with the reason of each clone, and tables of stages and attempts.\n" +
			"OUT is the output folder of a run, finished or not, or its journal.\n\n" +
			"--format perfetto writes a trace for https://ui.perfetto.dev, --format json the data (tailcut.timeline/v1),\n" +
			"--format csv a line for each attempt.",
		Example: "  tailcut report counts\n  tailcut report counts -o page.html\n  tailcut report counts --format perfetto -o counts.pftrace\n  tailcut report counts --format json -o - | jq .stages",
	}
	format := addFormatOf(cmd, "html", "json", "csv", "perfetto")
	out := outFile{called: "--output"}
	cmd.Flags().StringVarP(&out.path, "output", "o", "", "`file` to write, - for standard output; default: named after OUT, in this folder")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		toStdout := out.path == "-"
		if out.path == "" {
			out.path = reportName(args[0]) + reportSuffixes[format.value]
		}
		if !toStdout {
			if err := checkOut(args, out); err != nil {
				return err
			}
		}
		t := timelineUnderWay(cmd.Context(), args[0])
		if t == nil {
			var err error
			if t, err = columnsOf(cmd, args[0]); err != nil {
				return underWay(cmd.Context(), args[0], err)
			}
		}
		write := reportWriters(t, audit.Page(t).WriteHTML)[format.value]
		if toStdout {
			return write(bareOut(cmd))
		}
		if err := out.fill(write); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), "wrote", out.path)
		return nil
	}
	return cmd
}

// reportName is what a report of a run is called, without its suffix.
func reportName(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if name := strings.TrimSuffix(filepath.Base(path), ".journal"); name != string(filepath.Separator) {
		return name
	}
	return "report"
}

// columnsOf reads the journal of a run, or the folder of a server.
func columnsOf(cmd *cobra.Command, path string) (*timeline.Timeline, error) {
	j, err := audit.Open(path)
	if errors.Is(err, trace.ErrCorrupt) {
		return nil, failure{err}
	}
	if err != nil {
		return nil, err
	}
	t, err := j.Columns()
	if err != nil {
		return nil, failure{err}
	}
	if n := j.Gone(); n > 0 {
		notice(cmd.ErrOrStderr(), "%s: left out %s whose output folder has no journal from it", path, show.Count(n, "job"))
	}
	return t, nil
}

// writeReport writes the page of a run that has ended, or was broken off, if it was asked for.
func (f *runFlags) writeReport(cmd *cobra.Command, journal string) error {
	if f.report.path == "" {
		return nil
	}
	t, err := columnsOf(cmd, journal)
	if err != nil {
		return err
	}
	if err := f.report.fill(audit.Page(t).WriteHTML); err != nil {
		return err
	}
	notice(cmd.ErrOrStderr(), "wrote %s", f.report.path)
	return nil
}
