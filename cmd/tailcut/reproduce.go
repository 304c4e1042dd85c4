package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/internal/reproduce"
	"github.com/tailcut/tailcut/internal/show"
)

type reproduceFlags struct {
	format *choice
	report string
	traces string
	only   []string
	quick  bool
	real   bool
	runs   int
	seed   uint64
}

func newReproduce() *cobra.Command {
	f := &reproduceFlags{}
	var list strings.Builder
	var names, parts []string
	for _, e := range reproduce.Experiments {
		names = append(names, e.Name)
		if e.Parts != nil {
			parts = append(parts, e.Name+": "+strings.Join(e.Parts, ", "))
		}
		fmt.Fprintf(&list, "\n  %-10s %s", e.Name, e.Paper)
	}
	cmd := &cobra.Command{
		Use:   "reproduce PAPER",
		Short: "Repeat the evaluation of a paper and compare its numbers with ours",
		Long: "Repeats the tables and figures of a paper with Tailcut's policies and simulator, prints the published numbers\n" +
			"beside the measured ones, and judges each claim. A claim holds if its whole 95 % interval agrees, and fails if no part of\n" +
			"the interval does. Otherwise it is undecided, and the report estimates how many --runs would decide it.\n" + list.String() +
			"\n\nExit status: 0 all claims hold or fail as expected, 1 another claim fails, 2 wrong usage or bad input.",
		Example:   "  tailcut reproduce overlap --quick\n  tailcut reproduce srew --report srew.html\n  tailcut reproduce srew --only reports\n  tailcut reproduce shed --real",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: names,
		RunE:      func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.format = addFormat(cmd)
	cmd.Flags().StringVar(&f.report, "report", "", "also write an HTML report with plots to this file")
	cmd.Flags().StringVar(&f.traces, "traces", "", "folder with real traces (default: $TAILCUT_TRACES, or the folder traces if it exists)")
	cmd.Flags().StringSliceVar(&f.only, "only", nil, "run only these `parts`; "+strings.Join(parts, "; "))
	cmd.Flags().BoolVar(&f.quick, "quick", false, "run fewer repetitions, for a first look")
	cmd.Flags().BoolVar(&f.real, "real", false, "run real jobs on this machine instead of simulated ones, at small scale (shed only)")
	cmd.Flags().IntVar(&f.runs, "runs", 0, "repetitions of each simulation, 2 or more (default: as many as each experiment needs)")
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "random seed")
	return cmd
}

func (f *reproduceFlags) run(cmd *cobra.Command, name string) error {
	if err := checkOut(nil, reportFile(f.report)); err != nil {
		return err
	}
	e, _ := reproduce.Find(name) // cobra has refused other names
	if cmd.Flags().Changed("runs") && (f.runs < 2 || f.runs > 10_000) {
		return fmt.Errorf("--runs: expected 2 to 10000 repetitions, not %d", f.runs)
	}
	if f.runs > 0 && (!e.Repeats || f.real) {
		return fmt.Errorf("--runs: this experiment does not repeat simulations; srew, shed, geoclone and probes do")
	}
	for _, part := range f.only {
		if err := checkPart(e, part); err != nil {
			return err
		}
	}
	o := reproduce.Options{Only: f.only, Quick: f.quick, Runs: f.runs, Seed: f.seed, Traces: tracesFolder(f.traces), Workers: runtime.GOMAXPROCS(0)}
	o.Progress = newCounter(cmd.ErrOrStderr(), "reproduce "+name)
	page, err := f.page(cmd.Context(), e, o)
	if err != nil {
		return err
	}
	if err := writeReport(page, f.report); err != nil {
		return err
	}
	if err := f.format.write(cmd.OutOrStdout(), page); err != nil {
		return err
	}
	if failed := page.Failed(); len(failed) > 0 {
		return failure{fmt.Errorf("%s of the paper failed unexpectedly; see FAILS above", show.Count(len(failed), "claim"))}
	}
	return nil
}

// checkPart tells whether an experiment has a part of that name.
func checkPart(e reproduce.Experiment, part string) error {
	switch {
	case e.Parts == nil:
		return fmt.Errorf("--only: %s cannot be run in parts; use: tailcut reproduce srew --only reports", e.Name)
	case !slices.Contains(e.Parts, part):
		return fmt.Errorf("--only: %s has no part %q, expected some of %s", e.Name, part, strings.Join(e.Parts, ","))
	}
	return nil
}

// page runs the experiment, simulated or real.
func (f *reproduceFlags) page(ctx context.Context, e reproduce.Experiment, o reproduce.Options) (*report.Page, error) {
	if !f.real {
		return e.Run(ctx, o)
	}
	if e.Real == nil {
		return nil, fmt.Errorf("--real: %s has no experiment with real jobs; use: tailcut reproduce shed --real", e.Name)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	o.Self = []string{self}
	endsItself(ctx)
	return e.Real(ctx, &o)
}

// reportFile is the page that --report asks for.
func reportFile(path string) outFile { return outFile{"--report", path} }

// writeReport writes the page's HTML.
func writeReport(page *report.Page, path string) error { return reportFile(path).fill(page.WriteHTML) }

// tracesFolder is where the real traces are: what the user says, else the environment, else the folder traces, else
// nowhere.
func tracesFolder(named string) string {
	for _, path := range []string{named, os.Getenv("TAILCUT_TRACES"), "traces"} {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() || path == named {
			return path
		}
	}
	return ""
}
