package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/simulation"
	"github.com/tailcut/tailcut/internal/whatif"
	"github.com/tailcut/tailcut/internal/workload"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

const simulateLong = `Replays a workload on a simulated cluster under one or more policies, and compares them.

WORKLOAD is ` + workloadUsage + `

--from-history NAME replays past jobs of that name as they arrived, on as many slots as they had. Each attempt draws its
duration from what the attempts of its stage took in that job (Kaplan-Meier).

CLUSTER is a YAML file, or
  ` + sim.WaxmanUsage + `

All policies see the same random draws: attempt 2 of task 7 of job 12 has the same duration under each of them. Repetitions
run on all cores; the result does not depend on the number of cores.

Exit status: 0 success, 1 a policy left jobs unfinished, 2 wrong usage or bad input, 130 interrupted.`

const simulateExample = `  tailcut simulate jobs.tr.gz --machines 11000 --policy fifo,spark,srew:beta=0.7
  tailcut simulate 'synth:jobs=200;tasks=100;law=pareto:alpha=1.5,xm=10' --machines 1000 --policy fifo,late --runs 10
  tailcut simulate jobs.tr --machines 500 --policy srew --failures mtbf=24h,mttr=10m --service machine --format json
  tailcut simulate jobs.tr --machines 500 --policy srew:beta=0.7 --speed-factor '1+2*beta+eps' --let beta=0.7,eps=0.1
  tailcut simulate montage.json --cluster cluster.yaml --policy fifo,fair
  tailcut simulate --from-history 'nightly-*' --last 30d --policy fifo,fair,srpt --runs 10`

func newSimulate() *cobra.Command {
	cmd := &cobra.Command{
		Use: "simulate (WORKLOAD (--machines M | --cluster CLUSTER) | --from-history NAME)", Short: "Replay a workload on a simulated cluster and compare policies",
		Long: simulateLong, Example: simulateExample, Args: cobra.MaximumNArgs(1),
	}
	f := simulateFlags{jobs: outFile{called: "--jobs-out"}, manifest: outFile{called: "--manifest-out"}}
	r := &f.Request
	fl := cmd.Flags()
	wholeVar(fl, &r.Machines, "machines", 0, "`number` of machines (required without --cluster)")
	fl.StringVar(&r.Slots, "slots-per-machine", "1", "slots of each machine: a `number`, one for each class of slots such as map=2,shuffle=2, or machines of several sizes such as 40x2,10x16")
	fl.StringArrayVar(&f.policies, "policy", []string{policy.Default}, "`policies` to compare, separated by commas; see 'tailcut policies'; fifo/fair names one for each class of slots")
	fl.StringVar(&r.Slot, "slot", "", "time between decisions, for policies with a parameter slot; 0s decides at every event (default: each policy's own)")
	fl.StringVar(&r.Service, "service", "resample", "how long attempts last: "+sim.ServiceUsage)
	f.addRuns(fl)
	fl.StringVar(&f.speed, "speed-factor", "1", "divide all durations by this number, or `expression` such as 1+2*0.7+0.1")
	fl.StringSliceVar(&f.let, "let", nil, "values of names in --speed-factor, `NAME=NUMBER`")
	fl.StringVar(&f.maxAttempts, "max-attempts", "default", "maximum number of concurrent attempts of a task (`N`, none, or default: 4, or more if the policy bounds them itself)")
	fl.StringVar(&f.cloneBudget, "clone-budget", "default", "maximum number of concurrent clones (`N`, none, or default: 10, 1 % of unfinished tasks, 10 % of running tasks or what the policy allows itself, whichever is most; auto allows itself 10 % of the slots)")
	fl.StringVar(&r.Failures, "failures", "none", "let machines fail and be repaired, after exponential times with these means: `mtbf=24h,mttr=10m`, with rack=20 in racks of 20 at once; or a CSV file of machine,down_seconds,up_seconds")
	fl.StringVar(&r.Progress, "progress", simulation.Auto, "progress reports that policies receive: none, exact, a span between reports such as 10s, faulty reports such as hang:p=0.05 (also freeze, lie, back, late), or auto: 20 reports in the mean task's duration")
	fl.Float64Var(&r.Noise, "progress-noise", 0, "relative error (standard deviation) of the remaining time in progress reports")
	fl.StringVar(&r.NoiseKind, "progress-error", simulation.Independent, "of --progress-noise: independent draws an error for each report, persistent one for each attempt")
	fl.StringVar(&r.LaunchDelay, "launch-delay", "0s", "time that an attempt holds its slot before it starts: a duration such as 2s, or a `law` of seconds such as exp:mean=30, drawn for each attempt; with a law, policies learn when attempts start")
	fl.StringVar(&r.PlaceData, "place-data", "", "with --cluster: move inputs between sites before each job, within this `span` before it such as 10m, to where its transfers are expected to take least (default: nothing moves)")
	fl.StringVar(&r.Overheads, "overheads", "none", "`what` a real cluster takes beside the work: some of "+strings.ReplaceAll(sim.OverheadsUsage, ",", ", ")+", with commas and no spaces")
	fl.Float64Var(&r.DeadlineSlack, "deadline-slack", 0, "give jobs without a deadline `X` times the time they take alone, with the recorded durations (0: no deadline)")
	fl.StringVar(&f.jobs.path, "jobs-out", "", "write one line per job to `file`, as CSV")
	f.attempts = addAttemptsOut(cmd)
	f.input = addWorkloadFlags(cmd)
	format := addFormat(cmd)
	fl.StringVar(&f.cluster, "cluster", "", "YAML `file` with sites, machines and links, or a generator")
	f.history = addFromHistory(cmd, "WORKLOAD")
	fl.StringVar(&f.deadline, "deadline", "", "with --from-history: give every job a deadline this `span` after its submission, such as 2h (default: the deadlines they had)")
	completeSimulate(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		args, err := f.again.read(cmd, args)
		if err != nil {
			return err
		}
		err = cmp.Or(exclusive(cmd, "machines", "cluster"), exclusive(cmd, "slots-per-machine", "cluster"), exclusive(cmd, "from-history", "cluster"),
			f.history.check(args, "WORKLOAD"), checkOut(append(args, f.cluster, f.input.Drop, f.again.path), f.jobs, f.attempts.outFile, f.manifest))
		if err != nil {
			return err
		}
		if err := f.read(cmd, args); err != nil {
			return err
		}
		f.attempts.follow(r)
		result, err := simulate(cmd, r, f.jobs)
		if err == nil {
			err = f.attempts.write(result.Manifest)
		}
		if err == nil {
			err = writeManifest(f.manifest, result.Manifest)
		}
		if err != nil {
			return err
		}
		return format.write(cmd.OutOrStdout(), result)
	}
	return cmd
}

// simulateFlags are the flags of 'tailcut simulate'.
type simulateFlags struct {
	simulation.Request
	policies, let                            []string
	cluster, speed, maxAttempts, cloneBudget string
	deadline, until                          string
	input                                    *workload.Source
	history                                  *fromHistory
	jobs, manifest                           outFile
	again                                    repetition
	attempts                                 *attemptsOut
}

// addRuns adds the flags of repetitions and of the manifest.
func (f *simulateFlags) addRuns(fl *pflag.FlagSet) {
	r := &f.Request
	wholeVar(fl, &r.Runs, "runs", 1, "repetitions per policy, each with its own seed; with --until the most (default 10240)")
	fl.StringVar(&f.until, "until", "", "repeat until the 95 % intervals are within this `share` of the mean flow times, such as 2%")
	fl.StringVar(&r.Cut, "cut", "", "leave jobs out of all figures: auto cuts warm-up and cool-down by a rule; `FIRST,LAST` are numbers of jobs or spans of arrivals, such as 500,100 or 2h,30m (default none, with a hint where auto matters)")
	fl.StringVar(&r.By, "by", "", "add results by class of job, divided by a `property`: "+simulation.ByUsage)
	fl.StringVar(&r.Replicate, "replicate", simulation.Luck, "`what` differs between repetitions: workload has each draw its jobs anew, from the generator, or with replacement from the file; both draws durations, failures and reports, too, which is all that the default draws")
	fl.BoolVar(&r.Intervals, "intervals", false, "add a table of the intervals of means, medians over repetitions and differences, also of quantiles")
	fl.Uint64Var(&r.Seed, "seed", 1, "random seed")
	fl.BoolVar(&r.NoTiming, "no-timing", false, "leave out the time that the simulation itself took, so that the same command prints the same bytes")
	fl.StringVar(&f.again.path, "manifest", "", "repeat the simulation of this `file`, which --manifest-out or --format json has written")
	fl.StringVar(&f.manifest.path, "manifest-out", "", "write what the result depends on to `file`, as JSON for --manifest")
}

// readUntil reads --until, a share in percent.
func (f *simulateFlags) readUntil(fl *pflag.FlagSet) error {
	number, percent := strings.CutSuffix(f.until, "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !percent || !(share > 0 && share < 100) {
		return wrongFlag("until", fmt.Errorf("expected a share between 0%% and 100%%, such as 2%%, not %q", f.until))
	}
	if f.Until = share / 100; !fl.Changed("runs") {
		f.Runs = simulation.MostRuns
	}
	return nil
}

// read completes the request by what the flags say, and loads the workload.
func (f *simulateFlags) read(cmd *cobra.Command, args []string) (err error) {
	r, fl := &f.Request, cmd.Flags()
	var nights *whatif.Nights
	switch {
	case f.history.name != "":
		if nights, err = f.history.nights(cmd); err != nil {
			return err
		}
		f.asTheyHad(fl, nights)
	case f.deadline != "":
		return wrongFlag("deadline", errors.New("works with --from-history; for a WORKLOAD there is --deadline-slack"))
	case len(args) == 0:
		return errors.New("give a WORKLOAD or --from-history NAME")
	case f.cluster != "":
		if r.Cluster, err = sim.LoadCluster(f.cluster, r.Seed); err != nil {
			return wrongFlag("cluster", err)
		}
		if !fl.Changed("service") {
			r.Service = ""
		}
	case r.Machines == 0:
		return errors.New("give the number of machines, such as --machines 100, or a --cluster")
	}
	if r.Runs == 0 {
		return wrongFlag("runs", errors.New("expected a number between 1 and 1048576, not 0"))
	}
	if f.until != "" {
		if err = f.readUntil(fl); err != nil {
			return err
		}
	}
	if r.Speed, err = simulation.SpeedFactor(f.speed, f.let); err != nil {
		return ofFlag(err)
	}
	if err = parseMaxAttempts(f.maxAttempts, &r.Limits); err != nil {
		return wrongFlag("max-attempts", err)
	}
	if r.Limits.Clones, err = parseCloneBudget(f.cloneBudget); err != nil {
		return wrongFlag("clone-budget", err)
	}
	r.Policies = policy.SplitList(strings.Join(f.policies, ","))
	if err := r.Check(); err != nil {
		return ofFlag(err)
	}
	if nights != nil {
		r.Workload, err = f.history.workload(nights, f.deadline, &f.input.Filter)
	} else {
		r.Workload, err = loadWorkload(cmd, f.input, args[0], r.Seed)
	}
	if err == nil {
		err = ofFlag(f.input.Unread())
	}
	if err == nil && r.Replicate != simulation.Luck {
		err = f.replicate(cmd, args)
	}
	if err == nil {
		r.Origin, err = originOf(cmd, args)
	}
	if err != nil {
		return err
	}
	return f.again.check(f)
}

// replicate has the repetitions draw jobs of their own: anew from a generator, else from the jobs that there are.
func (f *simulateFlags) replicate(cmd *cobra.Command, args []string) error {
	if len(args) == 0 || !strings.HasPrefix(args[0], "synth:") {
		return nil
	}
	if strings.Contains(args[0], "seed=") {
		return wrongFlag("replicate", errors.New("the workload names its seed, so all repetitions would have the same jobs; remove seed= from it"))
	}
	f.Redraw = func(seed uint64) (*trace.Workload, error) {
		again := *f.input // repetitions load at the same time
		w, _, err := again.Load(cmd.Context(), args[0], nil, seed)
		return w, err
	}
	return nil
}

// asTheyHad sets what the user leaves open to what past jobs had: policy, slots, and the laws of their durations.
func (f *simulateFlags) asTheyHad(fl *pflag.FlagSet, n *whatif.Nights) {
	r := &f.Request
	r.Live = true
	if had := n.Policy(); had != "" && !fl.Changed("policy") {
		f.policies = []string{had}
	}
	if r.Machines == 0 {
		r.Machines = 1
	}
	if !fl.Changed("slots-per-machine") && n.Slots() > 0 {
		r.Slots = n.SlotsOfEach(r.Machines)
	}
	if !fl.Changed("service") {
		r.Service = "law"
	}
}

// simulate runs every policy as often as asked for, while a bar tells how far it is.
func simulate(cmd *cobra.Command, r *simulation.Request, jobs outFile) (*simulation.Result, error) {
	out, err := jobs.create()
	if err != nil {
		return nil, err
	}
	if out != nil {
		r.Jobs = out
	}
	r.Warn = func(field, text string) { notice(cmd.ErrOrStderr(), "--%s: %s", field, text) }
	tick, stop := showProgress(cmd.ErrOrStderr(), "simulating", len(r.Policies)*r.Runs*r.Workload.Tasks())
	r.Tick = tick
	result, err := r.Run(cmd.Context())
	stop()
	if errors.Is(err, sim.ErrStuck) {
		err = failure{err}
	}
	return result, out.close(ofFlag(err))
}

// completeSimulate completes the values of the flags; of a comma-separated list the last.
func completeSimulate(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("service", cobra.FixedCompletions([]string{"resample", "recorded", "law", "sx", "machine", "capacity"}, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	complete(cmd, "cut", simulation.CutAuto, "none")
	complete(cmd, "by", "name", "priority", "tasks", "stages", "work", "duration")
	complete(cmd, "replicate", simulation.Luck, simulation.NewWorkload, simulation.Both)
	complete(cmd, "progress-error", simulation.Independent, simulation.Persistent)
	complete(cmd, "progress", simulation.Auto, "none", "exact", "hang:p=0.05", "freeze:at=0.99", "lie", "back", "late:delay=30s")
	_ = cmd.RegisterFlagCompletionFunc("cluster", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		if typed == "" || !strings.HasPrefix("synth:waxman", typed) {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return []string{"synth:waxman"}, cobra.ShellCompDirectiveNoSpace
	})
}
