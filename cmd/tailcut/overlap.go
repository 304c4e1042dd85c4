package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/overlap/study"
)

func newOverlap() *cobra.Command {
	cmd := &cobra.Command{
		Use: "overlap [JOBS.csv]", Short: "Simulate jobs whose map and shuffle phases overlap", Args: cobra.MaximumNArgs(1),
		Long: "Simulates jobs whose map and shuffle phases overlap, in a fluid model, and compares policies with a lower bound.\n" +
			"JOBS.csv has the columns arrival, map and shuffle, in seconds of a whole station; - reads standard input.\n" +
			"The policy wps reads a column weight, from 0.001 to 1000. Other columns are ignored.\n" +
			"A SWIM workload, with map input and shuffle in bytes, needs --load. Both formats may be compressed with gzip.\n\n" +
			"Policies: fcfs, maxsrpt, splitsrpt (both with :conserving=false), fillsrpt, klps:k=100, wps, lower-bound.\n\n" +
			"Exit status: 0 done, 2 wrong usage or bad input.",
		Example: "  tailcut overlap jobs.csv --policy maxsrpt,splitsrpt,klps:k=100\n" +
			"  tailcut overlap --synthetic lognormal --jobs 1e6 --load 0.9 --policy maxsrpt --format json\n" +
			"  tailcut overlap FB-2010_samples_24_times_1hr_0.tsv.gz --load 0.7 --ratio cube-root",
	}
	var r study.Request
	var from study.Source
	var load float64
	var synthetic, page string
	bound := choice{value: study.Bounds[0], valid: study.Bounds}
	ratio := choice{value: "original", valid: []string{"original", "cube-root"}}
	jobs, fairness := outFile{called: "--jobs-out"}, outFile{called: "--fairness"}
	flags := cmd.Flags()
	flags.StringSliceVar(&r.Policies, "policy", []string{"maxsrpt", "splitsrpt", "klps"}, "policies to simulate")
	flags.StringVar(&synthetic, "synthetic", "", "generate the jobs instead of reading a file: lognormal")
	wholeVar(flags, &r.Drawn, "jobs", 1_000_000, "number of jobs to generate")
	flags.Float64Var(&load, "load", study.DefaultLoad, "load of both stations; with a file, job sizes are scaled to it (default: CSV sizes are not scaled)")
	flags.Var(&ratio, "ratio", "with --load and a file: keep each job's ratio of shuffle to map size, or take its cube root")
	flags.Uint64Var(&r.Seed, "seed", 1, "random seed")
	flags.Float64Var(&r.Warmup, "warmup", 0, "leave this fraction of the jobs, the first to arrive, out of the results (0.1 with --synthetic)")
	flags.Float64Var(&r.Speed, "speed", 1, "speed of both stations")
	flags.BoolVar(&r.Batch, "batch", false, "let all jobs arrive at 0")
	flags.Var(&bound, "bound", "lower bound: the paper's, a tighter one that takes longer, or none, which saves a fifth of the time of maxsrpt")
	flags.BoolVar(&from.Sort, "sort", false, "accept arrivals in any order")
	flags.StringVar(&jobs.path, "jobs-out", "", "write every job's completion to this file, as CSV")
	flags.StringVar(&fairness.path, "fairness", "", "write the mean slowdown by size to this file, as CSV")
	flags.StringVar(&page, "report", "", "write a page with a plot of the mean slowdown by size to this HTML file")
	complete(cmd, "ratio", ratio.valid...)
	complete(cmd, "bound", bound.valid...)
	complete(cmd, "synthetic", "lognormal")
	completeList(cmd, "policy", func() []string { return append(overlap.Names(), study.LowerBound) })
	format := addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if synthetic != "" && !flags.Changed("warmup") {
			r.Warmup = 0.1
		}
		r.Load, r.Bound, from.CubeRoot, from.Batch = load, bound.value, ratio.value == "cube-root", r.Batch
		if flags.Changed("load") {
			from.Load = load
		}
		switch {
		case (synthetic == "") == (len(args) == 0):
			return errors.New("give either JOBS.csv or --synthetic lognormal")
		case synthetic != "" && synthetic != "lognormal":
			return fmt.Errorf("--synthetic: expected lognormal, not %q", synthetic)
		case r.Drawn < 1:
			return fmt.Errorf("--jobs: expected a whole number from 1 to 1e12, not %d", r.Drawn)
		case flags.Changed("jobs") && synthetic == "":
			return errors.New("--jobs needs --synthetic: with JOBS.csv the file has the number of jobs")
		case from.CubeRoot && synthetic != "":
			return errors.New("--ratio needs JOBS.csv; remove --synthetic")
		case from.CubeRoot && !flags.Changed("load"):
			return errors.New("--ratio needs --load, which makes sizes comparable")
		case flags.Changed("load") && r.Batch:
			return errors.New("--load and --batch: give one of them; jobs that all arrive at 0 have no load")
		}
		if err := cmp.Or(ofFlag(r.Check()), checkOut(args, jobs, fairness, reportFile(page))); err != nil {
			return err
		}
		if synthetic == "" {
			r.Drawn = 0
			var err error
			if r.Jobs, err = readJobs(cmd.InOrStdin(), args[0], from); err != nil {
				return ofFlag(err)
			}
		}
		r.Fair = fairness.path != "" || page != ""
		return answerOverlap(cmd, &r, format, jobs, fairness, reportFile(page))
	}
	return cmd
}

// readJobs reads a file of jobs, "-" for standard input.
func readJobs(stdin io.Reader, path string, from study.Source) (study.Jobs, error) {
	if path == "-" {
		return from.Read(stdin, "standard input")
	}
	file, err := os.Open(path)
	if err != nil {
		return study.Jobs{}, err
	}
	defer file.Close()
	return from.Read(file, path)
}

// answerOverlap compares the policies and writes what was asked for.
func answerOverlap(cmd *cobra.Command, r *study.Request, format *choice, jobs, fairness, page outFile) error {
	log, err := jobs.create()
	if err != nil {
		return err
	}
	if log != nil {
		r.Completions = log
	}
	result, err := r.Run(cmd.Context())
	if err := log.close(err); err != nil {
		return err
	}
	if err := fairness.fill(result.WriteFairness); err != nil {
		return err
	}
	if err := page.fill(func(w io.Writer) error { return result.Page().WriteHTML(w) }); err != nil {
		return err
	}
	return format.write(cmd.OutOrStdout(), result)
}
