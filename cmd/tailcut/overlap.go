package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/overlap"
)

// overlapFlags is what the user asked of the verb overlap.
type overlapFlags struct {
	policies  []string
	synthetic string
	jobs      int
	load      float64
	loadGiven bool
	jobsGiven bool
	ratio     choice
	seed      uint64
	warmup    float64
	speed     float64
	batch     bool
	sort      bool
	jobsOut   string
	fairness  string
	report    string
}

const (
	lowerBound = "lower-bound"
	cubeRoot   = "cube-root"
)

func newOverlap() *cobra.Command {
	var f overlapFlags
	cmd := &cobra.Command{
		Use: "overlap [JOBS.csv]", Short: "Simulate jobs whose map and shuffle phases overlap", Args: cobra.MaximumNArgs(1),
		Long: "Simulate jobs whose map and shuffle phases overlap, as a fluid, and compare policies with the lower bound of any policy.\n" +
			"JOBS.csv has the columns arrival, map and shuffle, in seconds of a whole station; - is standard input. A column weight,\n" +
			"from 0.001 to 1000, counts under wps. Other columns are ignored. A workload of SWIM, with map input and shuffle in bytes, is read\n" +
			"as well, at a --load. Both may be compressed with gzip.\n\n" +
			"Policies: fcfs, maxsrpt, splitsrpt (both with :conserving=false), klps:k=100, wps, lower-bound.\n\n" +
			"Exit status: 0 done, 2 wrong usage or bad input.",
		Example: "  tailcut overlap jobs.csv --policy maxsrpt,splitsrpt,klps:k=100\n" +
			"  tailcut overlap --synthetic lognormal --jobs 1e6 --load 0.9 --policy maxsrpt --format json\n" +
			"  tailcut overlap FB-2010_samples_24_times_1hr_0.tsv.gz --load 0.7 --ratio cube-root",
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.policies, "policy", []string{"maxsrpt", "splitsrpt", "klps"}, "policies to simulate")
	flags.StringVar(&f.synthetic, "synthetic", "", "draw the jobs: lognormal")
	wholeVar(flags, &f.jobs, "jobs", 1_000_000, "number of jobs to draw")
	flags.Float64Var(&f.load, "load", 0.75, "load of both stations, by drawn jobs or by scaling sizes; sizes in a CSV file are scaled only if this is given")
	f.ratio = choice{value: "original", valid: []string{"original", cubeRoot}}
	flags.Var(&f.ratio, "ratio", "with --load and a file, keep each job's ratio of shuffle to map size or take its cube root")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the draws")
	flags.Float64Var(&f.warmup, "warmup", 0, "fraction of the jobs, the first to arrive, that does not count; 0.1 when jobs are drawn")
	flags.Float64Var(&f.speed, "speed", 1, "speed of both stations")
	flags.BoolVar(&f.batch, "batch", false, "let all jobs arrive at 0")
	flags.BoolVar(&f.sort, "sort", false, "accept arrivals in any order")
	flags.StringVar(&f.jobsOut, "jobs-out", "", "write every job's completion to this file, as CSV")
	flags.StringVar(&f.fairness, "fairness", "", "write the mean slowdown by size to this file, as CSV")
	flags.StringVar(&f.report, "report", "", "write a page with a plot of the mean slowdown by size to this HTML file")
	completeOverlap(cmd, &f)
	format := addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.synthetic != "" && !flags.Changed("warmup") {
			f.warmup = 0.1
		}
		f.loadGiven, f.jobsGiven = flags.Changed("load"), flags.Changed("jobs")
		if err := f.check(args); err != nil {
			return err
		}
		if err := checkOut(args, f.jobsFile(), f.fairnessFile(), reportFile(f.report)); err != nil {
			return err
		}
		s, err := newOverlapStudy(&f, cmd, args)
		if err != nil {
			return err
		}
		if err := s.jobLog.close(s.run(cmd.Context())); err != nil {
			return err
		}
		if err := s.writeFairness(); err != nil {
			return err
		}
		if f.report != "" {
			if err := writeReport(s.page(), f.report); err != nil {
				return err
			}
		}
		return s.print(cmd.OutOrStdout(), format.value)
	}
	return cmd
}

// check finds mistakes in the flags.
func (f *overlapFlags) check(args []string) error {
	switch {
	case (f.synthetic == "") == (len(args) == 0):
		return errors.New("expected either JOBS.csv or --synthetic lognormal")
	case f.synthetic != "" && f.synthetic != "lognormal":
		return fmt.Errorf("--synthetic: expected lognormal, not %q", f.synthetic)
	case f.jobs < 1 || f.jobs > 1e12:
		return fmt.Errorf("--jobs: expected a whole number from 1 to 1e12, not %d", f.jobs)
	case f.jobsGiven && f.synthetic == "":
		return errors.New("--jobs: JOBS.csv says how many there are; it is for --synthetic")
	case !(f.load > 0 && f.load <= 1e6):
		return fmt.Errorf("--load: expected a number above 0, up to 1e6, not %v", f.load)
	case f.ratio.value == cubeRoot && f.synthetic != "":
		return errors.New("--ratio: expected a file of jobs, not --synthetic")
	case f.ratio.value == cubeRoot && !f.loadGiven:
		return errors.New("--ratio: expected --load as well, as ratios are between sizes of equal load")
	case f.loadGiven && f.batch:
		return errors.New("--load: expected no --batch: what arrives at once has no load")
	case !(f.warmup >= 0 && f.warmup < 1):
		return fmt.Errorf("--warmup: expected a fraction from 0 to below 1, not %v", f.warmup)
	case !(f.speed >= 1e-6 && f.speed <= 1e6):
		return fmt.Errorf("--speed: expected a number from 1e-6 to 1e6, not %v", f.speed)
	case len(f.policies) == 0:
		return errors.New("--policy: expected a policy")
	}
	return nil
}

func (f *overlapFlags) jobsFile() outFile     { return outFile{"--jobs-out", f.jobsOut} }
func (f *overlapFlags) fairnessFile() outFile { return outFile{"--fairness", f.fairness} }

// overlapStudy runs several policies and the lower bound over one stream of jobs.
type overlapStudy struct {
	flags  *overlapFlags
	jobs   iter.Seq[overlap.Job]
	n      int64
	rows   []int64 // of jobs by their order of arrival, when the file was sorted
	lines  []*overlapLine
	bound  *overlap.Bound
	jobLog *completionsFile
}

// overlapLine is a policy in the study; sim is nil for the lower bound.
type overlapLine struct {
	name    string
	sim     *overlap.Sim
	summary overlap.Summary
	fair    overlap.Fairness
	done    []overlap.Completion // of the present block, so that spent is without what is made of them
	spent   time.Duration        // of a processor
}

func newOverlapStudy(f *overlapFlags, cmd *cobra.Command, args []string) (*overlapStudy, error) {
	s := &overlapStudy{flags: f}
	for _, spec := range f.policies {
		line := &overlapLine{name: strings.TrimSpace(spec)}
		s.lines = append(s.lines, line)
		if line.name == lowerBound {
			continue
		}
		p, err := overlap.Parse(line.name)
		if err != nil {
			return nil, fmt.Errorf("--policy: %w", err)
		}
		line.sim = overlap.New(p, func(c overlap.Completion) { line.done = append(line.done, c) })
	}
	if f.synthetic != "" {
		s.n = int64(f.jobs)
		s.jobs = overlap.Synthetic(s.n, f.load, f.seed)
	} else {
		jobs, rows, err := readOverlapJobs(cmd.InOrStdin(), args[0], f)
		if err != nil {
			return nil, err
		}
		s.n, s.jobs, s.rows = int64(len(jobs)), slices.Values(jobs), rows
	}
	skip := int64(f.warmup * float64(s.n))
	for _, l := range s.lines {
		l.summary.Skip, l.fair.Skip = skip, skip
	}
	s.bound = overlap.NewBound(skip)
	var err error
	s.jobLog, err = newCompletionsFile(f.jobsFile())
	return s, err
}

// completed counts and forgets the completions of a block.
func (s *overlapStudy) completed(l *overlapLine) {
	fair := s.flags.fairness != "" || s.flags.report != ""
	for _, c := range l.done {
		l.summary.Add(c)
		if fair {
			l.fair.Add(c, c.Job.Alone()*s.flags.speed)
		}
		if s.jobLog != nil {
			row := c.Index
			if s.rows != nil {
				row = s.rows[row]
			}
			s.jobLog.write(l.name, row, c)
		}
	}
	l.done = l.done[:0]
}

// run feeds the jobs in blocks, so that all policies see one stream, which is never held whole, and the time of each
// can be told.
func (s *overlapStudy) run(ctx context.Context) error {
	block := make([]overlap.Job, 0, 1<<13)
	for j := range s.jobs {
		j.Map /= s.flags.speed
		j.Shuffle /= s.flags.speed
		if s.flags.batch {
			j.Arrival = 0
		}
		if block = append(block, j); len(block) == cap(block) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			s.feed(block)
			block = block[:0]
		}
	}
	s.feed(block)
	for _, l := range s.lines {
		if l.sim != nil {
			start := cpuTime()
			l.sim.Drain()
			l.spent += cpuTime() - start
			s.completed(l)
		}
	}
	s.bound.Drain()
	return nil
}

func (s *overlapStudy) feed(block []overlap.Job) {
	for _, l := range s.lines {
		if l.sim == nil {
			continue
		}
		start := cpuTime()
		for _, j := range block {
			l.sim.Arrive(j)
		}
		l.spent += cpuTime() - start
		s.completed(l)
	}
	for _, j := range block {
		s.bound.Arrive(j)
	}
}
