package main

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// workloadFlags are the flags of every verb that takes a workload: how to read it, and which jobs to take.
type workloadFlags struct {
	imports  []string
	from, to time.Duration
	drop     string
	filter   trace.Filter
}

// workloadUsage says what a workload may be, for help texts.
const workloadUsage = `a file of jobs, - for stdin, or a generator. Files are .tr lines, JSON lines, a CSV of
tasks, or public traces: Rumen, Alibaba v2017 and v2018, SWIM, coflow-benchmark, TPC-H on Spark, Google 2011, WfCommons; plain or compressed with gzip or
zstd, told by the content. Generators are
  ` + trace.SynthUsage + `
  ` + trace.SynthGoogleUsage + `
  ` + trace.MontageUsage

// addWorkloadFlags adds the flags to a verb.
func addWorkloadFlags(cmd *cobra.Command) *workloadFlags {
	f := &workloadFlags{}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.imports, "import", nil, "what public traces leave open, `KEY=VALUE`: "+strings.ReplaceAll(trace.ImportUsage, ";", "; "))
	wholeVar(fl, &f.filter.Skip, "skip", 0, "leave out the first `N` jobs")
	wholeVar(fl, &f.filter.MinTasks, "min-tasks", 0, "leave out jobs of fewer than `N` tasks")
	fl.DurationVar(&f.from, "from", 0, "take jobs that arrive at this `instant` of the workload or later, such as 2h or 1470000s")
	fl.DurationVar(&f.to, "to", 0, "take jobs that arrive before this `instant`")
	fl.StringVar(&f.drop, "drop", "", "leave out the jobs that a CSV `file` lists in its column line or job; of rows with an end_event, those that did not FINISH")
	fl.Float64Var(&f.filter.Load, "scale-load", 1, "divide the gaps between arrivals by this `factor`")
	_ = cmd.RegisterFlagCompletionFunc("import", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var keys []string
		for pair := range strings.SplitSeq(trace.ImportUsage, ";") {
			key, _, _ := strings.Cut(pair, "=")
			keys = append(keys, key+"=")
		}
		return keys, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	return f
}

// load reads a workload, applies the filters and tells what was done to it on stderr. Reading cannot be broken off, so
// an interrupted one is left to itself.
func (f *workloadFlags) load(ctx context.Context, arg string, stdin io.Reader, stderr io.Writer, seed uint64) (*trace.Workload, error) {
	m := trace.Importer{Seed: seed}
	for _, text := range f.imports {
		if err := m.Set(text); err != nil {
			return nil, wrongFlag("import", err)
		}
	}
	filter := f.filter
	filter.From, filter.To = sched.Time(f.from), sched.Time(f.to)
	if filter.Load == 0 { // which stands for 1 in a filter
		return nil, wrongFlag("scale-load", errors.New("expected a positive number, not 0"))
	}
	if f.drop != "" {
		var err error
		if filter.Drop, err = trace.LoadDropList(f.drop); err != nil {
			return nil, wrongFlag("drop", err)
		}
	}
	type loaded struct {
		w   *trace.Workload
		err error
	}
	ready := make(chan loaded, 1)
	go func() {
		w, err := m.Load(arg, stdin)
		if err == nil {
			w, err = filter.Apply(w)
		}
		ready <- loaded{w, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case l := <-ready:
		var wrong *trace.FilterError
		if errors.As(l.err, &wrong) {
			return nil, wrongFlag(wrong.Field, wrong.Problem)
		}
		if l.err != nil {
			return nil, l.err
		}
		for _, note := range l.w.Notes {
			notice(stderr, "%s", note)
		}
		for _, law := range l.w.Laws {
			if math.IsInf(law.Mean(), 1) {
				notice(stderr, "warning: %s: the mean of %s is infinite: means of what is drawn from it change with the seed, however many tasks there are", l.w.Name, law)
			}
		}
		return l.w, nil
	}
}
