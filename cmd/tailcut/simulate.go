package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

const simulateLong = `Replay a workload on a simulated cluster, under one policy or several, and compare.

WORKLOAD is a file of jobs (.tr lines or JSON lines, plain or compressed), - for stdin, or a generator:
  ` + trace.SynthUsage + `

Policies meet the same luck: attempt 2 of task 7 of job 12 lasts as long under each of them.

Exit status: 0 success, 1 a policy left jobs unfinished, 2 wrong usage or bad input, 130 interrupted.`

const simulateExample = `  tailcut simulate jobs.tr.gz --machines 11000 --policy fifo,spark,srew:beta=0.7
  tailcut simulate 'synth:jobs=200;tasks=100;law=pareto:alpha=1.5,xm=10' --machines 1000 --policy fifo,late --runs 10
  tailcut simulate jobs.tr --machines 500 --policy srew --failures mtbf=24h,mttr=10m --service machine --format json`

// simulateFlags are the flags of simulate as given.
type simulateFlags struct {
	machines, slots             int
	policies, slot, service     string
	runs, skip                  int
	seed                        uint64
	speed, noise                float64
	maxAttempts, cloneBudget    string
	failures, progress, jobsOut string
	launchDelay                 time.Duration
	options                     sim.Options // what the flags say, but for the seed and the progress that a policy needs
	workload                    *trace.Workload
	finished                    atomic.Int64 // tasks, of all runs
	stdin                       io.Reader
	stdout, stderr              io.Writer
}

func newSimulate() *cobra.Command {
	f := &simulateFlags{}
	cmd := &cobra.Command{
		Use: "simulate WORKLOAD --machines M", Short: "Replay a workload on a simulated cluster and compare policies",
		Long: simulateLong, Example: simulateExample, Args: cobra.ExactArgs(1),
	}
	fl := cmd.Flags()
	fl.IntVar(&f.machines, "machines", 0, "`number` of machines; required")
	fl.IntVar(&f.slots, "slots-per-machine", 1, "attempts that a machine runs at once")
	fl.StringVar(&f.policies, "policy", "fifo", "`policies` to compare, separated by commas; see 'tailcut policies'")
	fl.StringVar(&f.slot, "slot", "", "length of a slot, for policies that decide by slots (default: the policy's, 5s)")
	fl.StringVar(&f.service, "service", "resample", "how long attempts last: "+sim.ServiceUsage)
	fl.IntVar(&f.runs, "runs", 1, "runs of each policy, with other luck each")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of all luck")
	fl.Float64Var(&f.speed, "speed-factor", 1, "divide all durations by this")
	fl.StringVar(&f.maxAttempts, "max-attempts", "4", "attempts of one task that may run at once (`N` or none)")
	fl.StringVar(&f.cloneBudget, "clone-budget", "default", "clones that may run at once (`N`, none for no limit, or default: max(10, 1 % of tasks, 10 % of running))")
	fl.StringVar(&f.failures, "failures", "none", "machines fail and are repaired, both after exponential times: `mtbf=24h,mttr=10m`")
	fl.StringVar(&f.progress, "progress", "auto", "what policies are told of attempts' progress: none, exact, a span between reports such as 10s, or auto: exact for policies that decide by it")
	fl.Float64Var(&f.noise, "progress-noise", 0, "relative error (standard deviation) of the remaining time that reports imply")
	fl.DurationVar(&f.launchDelay, "launch-delay", 0, "time that an attempt holds its slot before it begins")
	fl.IntVar(&f.skip, "skip", 0, "leave out the first `N` jobs")
	fl.StringVar(&f.jobsOut, "jobs-out", "", "write what became of each job to `file`, as CSV")
	format := addFormat(cmd)
	completeList(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.stdin, f.stdout, f.stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
		specs, err := f.settle(args[0])
		if err != nil {
			return err
		}
		runs, err := f.simulate(cmd.Context(), specs)
		if err != nil {
			return err
		}
		return printSimulation(f.stdout, format.value, f, runs)
	}
	return cmd
}

// completeList completes the last policy of a comma-separated list.
func completeList(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("policy", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		var all []string
		for _, name := range policy.Names() {
			all = append(all, before+name)
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	_ = cmd.RegisterFlagCompletionFunc("service", cobra.FixedCompletions([]string{"resample", "recorded", "law", "sx", "machine"}, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	_ = cmd.RegisterFlagCompletionFunc("progress", cobra.FixedCompletions([]string{"auto", "none", "exact"}, cobra.ShellCompDirectiveNoFileComp))
}

// wrongFlag says whose value is wrong; packages begin their errors with their own name, which helps no user.
func wrongFlag(flag string, err error) error {
	text := err.Error()
	for _, prefix := range []string{"sim: ", "policy: ", flag + ": ", "service: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return fmt.Errorf("--%s: %s", flag, text)
}

// settle checks the flags, loads the workload and returns the policies' specifications as the core gets them.
func (f *simulateFlags) settle(workload string) (specs []string, err error) {
	switch {
	case f.machines < 1 || f.machines > 1<<24:
		return nil, wrongFlag("machines", fmt.Errorf("expected a number between 1 and %d, not %d", 1<<24, f.machines))
	case f.slots < 1 || f.slots > 1<<16 || f.slots > 1<<30/f.machines:
		return nil, wrongFlag("slots-per-machine", fmt.Errorf("expected a number between 1 and %d, and at most %d slots in all, not %d", 1<<16, 1<<30, f.slots))
	case f.runs < 1 || f.runs > 1<<20:
		return nil, wrongFlag("runs", fmt.Errorf("expected a number between 1 and %d, not %d", 1<<20, f.runs))
	case !(f.speed > 0) || math.IsInf(f.speed, 0):
		return nil, wrongFlag("speed-factor", fmt.Errorf("expected a positive number, not %v", f.speed))
	case !(f.noise >= 0) || math.IsInf(f.noise, 0):
		return nil, wrongFlag("progress-noise", fmt.Errorf("expected a number of at least 0, not %v", f.noise))
	case f.launchDelay < 0:
		return nil, wrongFlag("launch-delay", fmt.Errorf("expected a duration of at least 0, not %v", f.launchDelay))
	}
	o := &f.options
	o.Machines, o.Slots, o.Speed, o.LaunchDelay = f.machines, f.slots, f.speed, sched.Time(f.launchDelay)
	if o.Limits.Attempts, err = parseMaxAttempts(f.maxAttempts); err != nil {
		return nil, wrongFlag("max-attempts", err)
	}
	if o.Limits.Clones, err = parseCloneBudget(f.cloneBudget); err != nil {
		return nil, wrongFlag("clone-budget", err)
	}
	if o.Faults, err = sim.ParseFaults(f.failures); err != nil {
		return nil, wrongFlag("failures", err)
	}
	if o.Model, err = sim.ParseService(f.service); err != nil {
		return nil, wrongFlag("service", err)
	}
	if f.progress != "auto" {
		if o.Progress, err = sim.ParseProgress(f.progress); err != nil {
			return nil, wrongFlag("progress", err)
		}
	}
	o.Progress.Noise = f.noise
	for _, given := range policy.SplitList(f.policies) {
		spec, err := withSlot(given, f.slot)
		if err == nil {
			_, err = policy.New(spec, f.seed)
		}
		if err != nil {
			return nil, wrongFlag("policy", err)
		}
		specs = append(specs, spec)
	}
	return specs, f.load(workload)
}

// load reads the workload and tells what was done to it.
func (f *simulateFlags) load(workload string) error {
	w, err := trace.Load(workload, f.stdin, f.seed)
	if err != nil {
		return err
	}
	for _, note := range w.Notes {
		fmt.Fprintf(f.stderr, "tailcut: %s\n", note)
	}
	if f.skip < 0 || f.skip >= len(w.Jobs) {
		return wrongFlag("skip", fmt.Errorf("expected between 0 and %d of the %d jobs, not %d", len(w.Jobs)-1, len(w.Jobs), f.skip))
	}
	f.workload = w.Skip(f.skip)
	return nil
}

// simulated is one run of one policy.
type simulated struct {
	policy string // as the user wrote it
	run    int
	stats  sim.Stats
	events int64
	wall   time.Duration
}

// simulate runs every policy as often as asked for, on all cores. The order of what it returns and writes does not depend on who was faster.
func (f *simulateFlags) simulate(ctx context.Context, specs []string) ([]simulated, error) {
	names := policy.SplitList(f.policies)
	all := make([]simulated, len(specs)*f.runs)
	out, err := newJobsFile(f.jobsOut, len(all))
	if err != nil {
		return nil, err
	}
	stop := f.showProgress(len(all) * f.workload.Tasks())
	err = sim.Each(ctx, len(all), func(i int) error {
		k, run := i/f.runs, i%f.runs
		o := f.options
		o.Seed = sim.RunSeed(f.seed, run)
		o.Tick = func(tasks int) { f.finished.Add(int64(tasks)) }
		if e, err := policy.Find(specs[k]); err == nil && f.progress == "auto" {
			o.Progress.Exact = e.Progress
		}
		p, err := policy.New(specs[k], o.Seed)
		if err != nil {
			return err
		}
		start := time.Now()
		res, err := sim.Run(ctx, f.workload, p, o)
		if errors.Is(err, sim.ErrStuck) {
			return failure{fmt.Errorf("%s: %w", names[k], err)}
		}
		if err != nil {
			return err
		}
		all[i] = simulated{policy: names[k], run: run, stats: res.Stats(), events: res.Events, wall: time.Since(start)}
		return out.add(i, &all[i], res.Jobs)
	})
	stop()
	if closed := out.close(); err == nil {
		err = closed
	}
	return all, err
}

// showProgress draws how far the runs are while they last, if somebody watches.
func (f *simulateFlags) showProgress(tasks int) (stop func()) {
	file, ok := f.stderr.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || os.Getenv("TERM") == "dumb" {
		return func() {}
	}
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(time.Second / 4)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				n := f.finished.Load()
				fmt.Fprintf(file, "\r\x1b[K%s of %s tasks, %.0f %%", humanCount(float64(n)), humanCount(float64(tasks)), 100*float64(n)/float64(tasks))
			case <-done:
				fmt.Fprint(file, "\r\x1b[K")
				return
			}
		}
	}()
	return func() { close(done); <-gone }
}
