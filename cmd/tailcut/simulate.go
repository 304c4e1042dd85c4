package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

const simulateLong = `Replay a workload on a simulated cluster, under one policy or several, and compare.

WORKLOAD is ` + workloadUsage + `

CLUSTER is a YAML file, or
  ` + sim.WaxmanUsage + `

Policies meet the same luck: attempt 2 of task 7 of job 12 lasts as long under each of them. Runs are spread over all cores; the result does not
depend on how many there are.

Exit status: 0 success, 1 a policy left jobs unfinished, 2 wrong usage or bad input, 130 interrupted.`

const simulateExample = `  tailcut simulate jobs.tr.gz --machines 11000 --policy fifo,spark,srew:beta=0.7
  tailcut simulate 'synth:jobs=200;tasks=100;law=pareto:alpha=1.5,xm=10' --machines 1000 --policy fifo,late --runs 10
  tailcut simulate jobs.tr --machines 500 --policy srew --failures mtbf=24h,mttr=10m --service machine --format json
  tailcut simulate jobs.tr --machines 500 --policy srew:beta=0.7 --speed-factor '1+2*beta+eps' --let beta=0.7,eps=0.1
  tailcut simulate montage.json --cluster cluster.yaml --policy fifo,fair`

// simulateFlags are the flags of simulate as given.
type simulateFlags struct {
	machines                    int
	clusterText                 string
	cluster                     *sim.Cluster // nil if --cluster is not given
	slotsText                   string
	slots                       slotsPerMachine
	policies                    []string // lists
	slot, service               string
	runs                        int
	seed                        uint64
	speed                       string
	let                         []string
	noise                       float64
	maxAttempts, cloneBudget    string
	failures, progress, jobsOut string
	launchDelay                 string
	deadlineSlack               float64
	serviceGiven                func() bool // --service is
	// one of the policies sets the speed of the machines, so that no bound is known
	paces          bool
	uses           []bool      // by policy: progress
	told           []string    // by policy: what it is told of progress
	options        sim.Options // what the flags say, but for the seed and the progress that a policy needs
	input          *workloadFlags
	workload       *trace.Workload
	stdin          io.Reader
	stdout, stderr io.Writer
}

func newSimulate() *cobra.Command {
	f := &simulateFlags{}
	cmd := &cobra.Command{
		Use: "simulate WORKLOAD (--machines M | --cluster CLUSTER)", Short: "Replay a workload on a simulated cluster and compare policies",
		Long: simulateLong, Example: simulateExample, Args: cobra.ExactArgs(1),
	}
	fl := cmd.Flags()
	wholeVar(fl, &f.machines, "machines", 0, "`number` of machines; required unless a --cluster says it")
	fl.StringVar(&f.slotsText, "slots-per-machine", "1", "attempts that a machine runs at once: a `number`, or one for each class of slots such as map=2,shuffle=2")
	fl.StringArrayVar(&f.policies, "policy", []string{"fifo"}, "`policies` to compare, separated by commas; see 'tailcut policies'; fifo/fair is one for each class of slots")
	fl.StringVar(&f.slot, "slot", "", "length of a slot, for policies that decide by slots (default: the policy's, 5s)")
	fl.StringVar(&f.service, "service", "resample", "how long attempts last: "+sim.ServiceUsage)
	wholeVar(fl, &f.runs, "runs", 1, "runs of each policy, with other luck each")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of all luck")
	fl.StringVar(&f.speed, "speed-factor", "1", "divide all durations by this number, or `expression` such as 1+2*0.7+0.1")
	fl.StringSliceVar(&f.let, "let", nil, "values of names in --speed-factor, `NAME=NUMBER`")
	fl.StringVar(&f.maxAttempts, "max-attempts", "4", "attempts of one task that may run at once (`N` or none)")
	fl.StringVar(&f.cloneBudget, "clone-budget", "default", "clones at once (`N`, none, or default: the most of 10, 1 % of unfinished tasks, 10 % of running tasks)")
	fl.StringVar(&f.failures, "failures", "none", "machines fail and are repaired, both after exponential times: `mtbf=24h,mttr=10m`")
	fl.StringVar(&f.progress, "progress", autoProgress, "what policies are told of attempts' progress: none, exact, a span between reports such as 10s, what is odd about reports such as hang:p=0.05 (also freeze, lie, back, late), or auto: reports, 20 in the mean task's duration")
	fl.Float64Var(&f.noise, "progress-noise", 0, "relative error (standard deviation) of the remaining time that reports imply")
	fl.StringVar(&f.launchDelay, "launch-delay", "0s", "time that an attempt holds its slot before it begins: a duration such as 2s, or a `law` of seconds such as exp:mean=30, drawn for each attempt; with a law policies are told when attempts begin")
	fl.Float64Var(&f.deadlineSlack, "deadline-slack", 0, "jobs without a deadline get `X` times what they would take alone, with durations as recorded (0: none)")
	fl.StringVar(&f.jobsOut, "jobs-out", "", "write what became of each job to `file`, as CSV")
	f.input = addWorkloadFlags(cmd)
	format := addFormat(cmd)
	completeList(cmd)
	addClusterFlag(cmd, f)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.stdin, f.stdout, f.stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
		if err := cmp.Or(exclusive(cmd, "machines", "cluster"), exclusive(cmd, "slots-per-machine", "cluster")); err != nil {
			return err
		}
		if err := checkOut([]string{args[0], f.clusterText, f.input.drop}, f.jobsFile()); err != nil {
			return err
		}
		policies, err := f.settle(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		bound := 0.0
		if !f.paces {
			if bound, err = sim.LowerBound(f.workload, f.options); err != nil {
				return err
			}
		}
		result, err := f.simulate(cmd.Context(), policies)
		if err != nil {
			return err
		}
		s := &simulation{simulateFlags: f, Comparison: result, policies: policies, bound: bound}
		return format.print(f.stdout, s)
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
	_ = cmd.RegisterFlagCompletionFunc("service", cobra.FixedCompletions([]string{"resample", "recorded", "law", "sx", "machine", "capacity"}, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	_ = cmd.RegisterFlagCompletionFunc("progress", cobra.FixedCompletions([]string{autoProgress, "none", "exact", "hang:p=0.05", "freeze:at=0.99", "lie", "back", "late:delay=30s"}, cobra.ShellCompDirectiveNoFileComp))
}

// wrongFlag says whose value is wrong.
func wrongFlag(flag string, err error) error {
	return fmt.Errorf("--%s: %w", flag, err)
}

// settle checks the flags, loads the workload and returns the policies.
func (f *simulateFlags) settle(ctx context.Context, workload string) (policies []sim.Candidate, err error) {
	if err := f.settleCluster(); err != nil {
		return nil, err
	}
	switch {
	case f.machines == 0:
		return nil, errors.New("expected --machines of at least 1, or a --cluster with machines of its own")
	case f.machines < 1 || f.machines > 1<<24:
		return nil, wrongFlag("machines", fmt.Errorf("expected a number between 1 and %d, not %d", 1<<24, f.machines))
	case f.runs < 1 || f.runs > 1<<20:
		return nil, wrongFlag("runs", fmt.Errorf("expected a number between 1 and %d, not %d", 1<<20, f.runs))
	case !(f.noise >= 0) || math.IsInf(f.noise, 0):
		return nil, wrongFlag("progress-noise", fmt.Errorf("expected a number of at least 0, not %v", f.noise))
	}
	if slot, err := time.ParseDuration(f.slot); f.slot != "" && (err != nil || slot < 0) {
		return nil, wrongFlag("slot", fmt.Errorf("expected a duration such as 5s, not %q", f.slot))
	}
	if f.slots, err = parseSlots(f.slotsText, f.machines); err != nil {
		return nil, wrongFlag("slots-per-machine", err)
	}
	o := &f.options
	o.Machines, o.Slots, o.More, o.Seed = f.machines, f.slots.each[0], f.slots.each[1:], f.seed
	if err := f.settleDelay(); err != nil {
		return nil, wrongFlag("launch-delay", err)
	}
	if o.Speed, err = f.speedFactor(); err != nil {
		return nil, err
	}
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
	if f.cluster != nil && !f.serviceGiven() {
		o.Model = sim.Intrinsic
	}
	if f.progress != autoProgress {
		if o.Progress, err = sim.ParseProgress(f.progress); err != nil {
			return nil, wrongFlag("progress", err)
		}
	}
	o.Progress.Noise = f.noise
	for _, given := range policy.SplitList(strings.Join(f.policies, ",")) {
		c, err := f.candidate(given)
		if err != nil {
			return nil, wrongFlag("policy", err)
		}
		policies = append(policies, c)
	}
	if f.workload, err = f.input.load(ctx, workload, f.stdin, f.stderr, f.seed); err != nil {
		return nil, err
	}
	f.settleProgress(policies)
	f.noteFaults()
	if f.cluster != nil {
		if _, err := f.cluster.Locate(f.workload); err != nil {
			return nil, wrongFlag("cluster", err)
		}
	}
	if err := f.workload.SetClasses(f.slots.classes); err != nil {
		return nil, wrongFlag("slots-per-machine", err)
	}
	if f.deadlineSlack != 0 {
		if err := f.workload.SetDeadlines(f.deadlineSlack); err != nil {
			return nil, wrongFlag("deadline-slack", err)
		}
	}
	return policies, nil
}

// noteFaults tells of machines that fail so often that hardly a task is done before: an attempt of d seconds lives with
// probability exp(-d/mtbf), so that the simulation may never end.
func (f *simulateFlags) noteFaults() {
	const often = 10
	mean := f.workload.WorkSeconds() / float64(max(1, f.workload.Tasks())) / f.options.Speed
	if mtbf := f.options.Faults.MTBF.Seconds(); mtbf > 0 && mean > often*mtbf {
		fmt.Fprintf(f.stderr, "tailcut: --failures: a machine fails %s times, on average, while it works on the mean task, of %s; "+
			"few attempts will come to an end, and the simulation perhaps never\n", show.Number(mean/mtbf), show.Seconds(mean))
	}
}

// speedFactor computes --speed-factor.
func (f *simulateFlags) speedFactor() (float64, error) {
	names, err := parseNames(f.let)
	if err != nil {
		return 0, wrongFlag("let", err)
	}
	speed, err := evaluate(f.speed, names)
	if err == nil && (!(speed > 0) || math.IsInf(speed, 0)) {
		err = fmt.Errorf("expected a positive number, not %v", speed)
	}
	if err != nil {
		return 0, wrongFlag("speed-factor", err)
	}
	return speed, nil
}

// candidate returns a policy as the experiment needs it. It is called what the user calls it.
func (f *simulateFlags) candidate(given string) (sim.Candidate, error) {
	spec, err := withSlots(given, f.slot)
	if err != nil {
		return sim.Candidate{}, err
	}
	classes := len(f.slots.each)
	progress, err := policy.ProgressPerClass(spec, classes)
	if err != nil {
		return sim.Candidate{}, err
	}
	p, err := policy.NewPerClass(spec, 0, classes)
	if err != nil {
		return sim.Candidate{}, err
	}
	f.paces = f.paces || sched.Paces(p)
	f.uses = append(f.uses, progress)
	return sim.Candidate{
		Name: given,
		New: func(seed uint64) (sched.Policy, error) {
			p, err := policy.NewPerClass(spec, seed, classes)
			if err == nil && f.cluster != nil {
				policy.Tell(p, f.cluster.Law) // for truth=true
			}
			return p, err
		},
	}, nil
}

// autoProgress is the default of --progress.
const autoProgress = "auto"

// reportsPerTask is how many reports of an attempt there are by default, if it takes as long as the mean task.
const reportsPerTask = 20

// settleProgress says what each policy is told of progress. All that use it are told the same; the others would not
// look at it.
func (f *simulateFlags) settleProgress(policies []sim.Candidate) {
	p := &f.options.Progress
	if f.progress == autoProgress {
		mean := f.workload.WorkSeconds() / float64(max(1, f.workload.Tasks())) / f.options.Speed
		every := sched.FromSeconds(max(1e-3, math.Round(mean/reportsPerTask*1e3)/1e3))
		for i := range policies {
			if f.uses[i] {
				policies[i].Every = every
			}
		}
		f.told = toldOf(f.uses, "every "+every.String())
		return
	}
	said := f.progress
	if _, err := time.ParseDuration(strings.TrimSpace(said)); err == nil {
		said = "every " + p.Every.String()
	}
	f.told = toldOf(f.uses, said)
}

// toldOf returns what is said of each policy.
func toldOf(uses []bool, said string) []string {
	told := make([]string, len(uses))
	for i, uses := range uses {
		if told[i] = said; !uses && said != "none" {
			told[i] = "unused"
		}
	}
	return told
}

func (f *simulateFlags) jobsFile() outFile { return outFile{"--jobs-out", f.jobsOut} }

// simulate runs every policy as often as asked for.
func (f *simulateFlags) simulate(ctx context.Context, policies []sim.Candidate) (*sim.Comparison, error) {
	e := sim.Experiment{Workload: f.workload, Policies: policies, Runs: f.runs, Options: f.options}
	out, err := newJobsFile(f.jobsFile())
	if err != nil {
		return nil, err
	}
	if out != nil {
		e.Done = func(c *sim.Cell, jobs []sim.JobResult) error {
			return out.add(policies[c.Policy].Name, f.told[c.Policy], c.Run, jobs)
		}
	}
	tick, stop := showProgress(f.stderr, len(policies)*f.runs*f.workload.Tasks())
	e.Options.Tick = tick
	result, err := e.Run(ctx)
	stop()
	if errors.Is(err, sim.ErrStuck) {
		err = failure{err}
	}
	return result, out.close(err)
}
