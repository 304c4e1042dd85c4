package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/live/remote"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

const runLong = `Run a job, on this machine or on Kubernetes, with clones for the tasks that straggle, and exactly one result per task.

  tailcut run wordcount|wordmean|sort INPUT...       built-in operators over files or folders
  tailcut run grep PATTERN INPUT...
  tailcut run --mapper CMD [--reducer CMD] INPUT...  commands in the manner of Hadoop Streaming
  tailcut run --tasks N -- CMD ARG...                an array job; {} is the index, also in TAILCUT_TASK
  tailcut run -f job.yaml                            the same, declared in a file; several stages

Results are OUT/part-00000 and so on; OUT/_SUCCESS is written last. If the engine or the machine dies, or the job
fails, the same command again goes on with the tasks that are not done.

Exit status: 0 success, 1 the job failed, 2 wrong usage or bad input, 130 interrupted (the same command goes on).`

const runExample = `  tailcut run wordcount ~/src --output counts
  tailcut run --mapper 'cut -f2' --reducer 'uniq -c' logs/ --reducers 4
  tailcut run --tasks 100 --policy spark -- ./render.sh {}
  tailcut run wordcount s3://bucket/logs --output s3://bucket/counts --on kubernetes --slots 40 --pod-template pod.yaml
  tailcut run sort big/ --deadline 10m --policy shed --clone-budget none --name nightly
  tailcut run wordcount logs/ --site edge=2,speed=0.5,bandwidth=20Mbit/s --site dc=4 --data edge=logs/edge --policy geoclone
  tailcut run --tasks 50 --disturb slow=0.1,factor=8 --policy late -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'`

// arrayStage is the stage of an array job that is given by flags.
const arrayStage = "tasks"

// runFlags are the flags of run as given.
type runFlags struct {
	file, output, mapper, reducer, combiner string
	tasks, slots, reducers, retries         int
	splitSize, maxLine                      size
	policy, slot, maxAttempts, cloneBudget  string
	seed                                    uint64
	timeout                                 time.Duration
	disturb, joblog                         string
	deadline, law, name, history            string
	sites, data                             []string
	cluster                                 string
	force, dryRun, resumable, strict        bool
	on                                      *choice
	image, namespace, kubeconfig            string
	podTemplate                             string

	dash   int                    // arguments before --, -1 without one
	given  func(name string) bool // on the command line
	placed map[string]placed      // flags that the job file sets
}

// placed is a setting in a job file.
type placed struct {
	in *jobfile.File
	at jobfile.Setting
}

// wrong tells whose value is wrong: a flag's, or a job file's.
func (f *runFlags) wrong(flag string, err error) error {
	if p, ok := f.placed[flag]; ok {
		return p.in.Error(p.at, err)
	}
	return fmt.Errorf("--%s: %w", flag, err)
}

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "run [OPERATOR] [INPUT...] [-- CMD ARG...]", Short: "Run a job now, with clones for the tasks that straggle",
		Long: runLong, Example: runExample,
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.file, "file", "f", "", "job `file` in YAML")
	fl.StringVarP(&f.output, "output", "o", "tailcut-out", "`folder` for the results, or a URL such as s3://bucket/prefix")
	fl.StringVar(&f.mapper, "mapper", "", "shell `command` that maps lines to key<TAB>value lines")
	fl.StringVar(&f.reducer, "reducer", "", "shell `command` that reduces sorted key<TAB>value lines")
	fl.StringVar(&f.combiner, "combiner", "", "shell `command` that reduces a map attempt's output beforehand")
	wholeVar(fl, &f.tasks, "tasks", 0, "run the command after -- this many times")
	fl.BoolVar(&f.resumable, "resumable", false, "clones of --tasks go on where an attempt is: the command heeds TAILCUT_RESUME_OFFSET")
	f.slots = defaultSlots()
	fl.VarP((*whole)(&f.slots), "slots", "j", "attempts that run at once; with --on kubernetes, 10 unless given")
	addSiteFlags(cmd, &f)
	wholeVar(fl, &f.reducers, "reducers", 1, "number of reduce tasks, and so of parts")
	fl.Var(&f.splitSize, "split-size", "bytes of input per map task")
	f.maxLine = mapreduce.DefaultMaxLine
	fl.Var(&f.maxLine, "max-line", "longest line, or word, of the input that operators take; 1GiB at most")
	wholeVar(fl, &f.retries, "retries", 3, "failures of one task that are forgiven")
	fl.DurationVar(&f.timeout, "timeout", 0, "an attempt that runs longer fails (0: no limit)")
	fl.StringVar(&f.policy, "policy", "spark", "scheduling `policy`, see 'tailcut policies'")
	fl.StringVar(&f.slot, "slot", "0s", "length of a slot, for policies that decide by slots; 0s decides whenever something has happened")
	fl.StringVar(&f.maxAttempts, "max-attempts", "4", "attempts of one task that may run at once (`N` or none)")
	fl.StringVar(&f.cloneBudget, "clone-budget", "default", "clones at once (`N`, none, or default: the most of 10, 1 % of unfinished tasks, 10 % of running tasks)")
	fl.StringVar(&f.deadline, "deadline", "", "`time` by which the job should be done: 10m after the start, or an instant such as 2026-11-30T18:00:00Z")
	fl.StringVar(&f.law, "law", "", "`law` of an attempt's duration in seconds, to reckon with for --deadline (without: durations of earlier runs of the same --name)")
	fl.BoolVar(&f.strict, "fail-on-deadline", false, "exit with 1 if the deadline is missed")
	fl.StringVar(&f.name, "name", "", "`name` under which durations are kept for later deadlines")
	fl.StringVar(&f.history, "history", "", "`folder` where durations are kept under --name, or none (without: in the user's state folder)")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of the policy's and of --disturb's choices")
	fl.StringVar(&f.disturb, "disturb", "", "slow and fail attempts on purpose: `slow=0.1,factor=8,fail=0.02`; pace=4e6 bounds the bytes per second that a map attempt reads")
	fl.StringVar(&f.joblog, "joblog", "", "append a line per attempt to `file`, in GNU parallel's columns")
	f.on = &choice{value: remote.Local, valid: []string{remote.Local, remote.Kubernetes}}
	fl.Var(f.on, "on", "where attempts run: as processes of this machine, or as pods")
	fl.StringVar(&f.image, "image", "", "`image` of the pods (without: tailcut-cloud:latest)")
	fl.StringVar(&f.podTemplate, "pod-template", "", "`file` with a Pod in YAML that the pods are made from: resources, volumes, credentials")
	fl.StringVar(&f.namespace, "namespace", "", "`namespace` of the pods (without: that of the kubeconfig)")
	fl.StringVar(&f.kubeconfig, "kubeconfig", "", "`file` that says how to reach the cluster (without: as kubectl finds it)")
	fl.BoolVar(&f.force, "force", false, "replace what the output folder holds of an earlier run")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print stages, tasks and what the policy would launch first, and run nothing")
	format := addFormat(cmd)
	completeRun(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		endsItself(cmd.Context())
		f.dash = cmd.ArgsLenAtDash()
		f.given = func(name string) bool { return fl.Lookup(name).Changed }
		e := &engine{cmd: cmd, format: format, force: f.force, dryRun: f.dryRun, joblog: f.joblog, strict: f.strict}
		if err := f.request(e, fl, args); err != nil {
			return err
		}
		return e.start(cmd.Context())
	}
	return cmd
}

// completeRun completes operators, names of policies, and paths of the right kind.
func completeRun(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return mapreduce.Operators(), cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
	_ = cmd.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions(policy.Names(), cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	_ = cmd.RegisterFlagCompletionFunc("on", cobra.FixedCompletions([]string{remote.Local, remote.Kubernetes}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.MarkFlagFilename("file", "yaml", "yml")
	_ = cmd.MarkFlagFilename("pod-template", "yaml", "yml")
	_ = cmd.MarkFlagFilename("kubeconfig")
	_ = cmd.MarkFlagDirname("output")
	_ = cmd.MarkFlagDirname("history")
}

// request makes the request that a job file or the command line describes.
func (f *runFlags) request(e *engine, fl *pflag.FlagSet, args []string) error {
	var job *jobfile.Job
	var err error
	if f.file != "" {
		job, e.Dir, err = f.fromFile(fl, args)
	} else {
		job, err = f.job(args)
		if err == nil {
			e.Dir, err = os.Getwd()
		}
	}
	if err != nil {
		return err
	}
	if f.name != "" {
		job.Name = f.name
	}
	if f.name != "" || f.file != "" {
		e.history = f.historyOf(job.Name)
	}
	job.Retries = f.retries
	if job.MapReduce != nil {
		f.shape(job.MapReduce)
		if job.MapReduce.Operator.Name != "streaming" {
			e.Dir = "" // nothing depends on it
		}
	}
	e.Job = *job
	if err := f.fill(e); err != nil {
		return err
	}
	return f.check(e)
}

// fill turns the flags into the settings of a request.
func (f *runFlags) fill(e *engine) (err error) {
	switch {
	case f.slots < 1 || f.slots > 1<<16:
		return f.wrong("slots", fmt.Errorf("expected a number between 1 and %d, not %d", 1<<16, f.slots))
	case f.retries < 0 || f.retries > sched.MaxRetries:
		return f.wrong("retries", fmt.Errorf("expected a number between 0 and %d, not %d", sched.MaxRetries, f.retries))
	case f.timeout < 0:
		return f.wrong("timeout", fmt.Errorf("expected a duration of at least 0, not %v", f.timeout))
	}
	if f.maxLine > mapreduce.MaxLine {
		return f.wrong("max-line", fmt.Errorf("expected a size of at most 1GiB, not %v", &f.maxLine))
	}
	e.timeout, e.maxLine, e.Slots, e.Seed = f.timeout, int64(f.maxLine), f.slots, f.seed
	if err := f.fillSites(e); err != nil {
		return err
	}
	if e.Limits.Attempts, err = parseMaxAttempts(f.maxAttempts); err != nil {
		return f.wrong("max-attempts", err)
	}
	if e.Limits.Clones, err = parseCloneBudget(f.cloneBudget); err != nil {
		return f.wrong("clone-budget", err)
	}
	if d, err := time.ParseDuration(f.slot); err != nil || d < 0 {
		return f.wrong("slot", fmt.Errorf("expected a duration of at least 0, such as 500ms, not %q", f.slot))
	}
	if e.Policy, err = withSlot(f.policy, f.slot); err != nil {
		return f.wrong("policy", err)
	}
	if e.Policy, err = policy.WithDefault(e.Policy, "min_age", liveAge); err != nil {
		return f.wrong("policy", err)
	}
	if e.notice, err = policy.Fit(e.Policy, policy.Place{Name: "a run", Sites: e.sites != nil}); err != nil {
		return f.wrong("policy", err)
	}
	if err := f.fillDeadline(e); err != nil {
		return err
	}
	if f.disturb != "" {
		if e.disturb, err = proc.ParseDisturb(f.disturb); err != nil {
			return f.wrong("disturb", err)
		}
		e.disturb.Seed = f.seed
	}
	if e.out, err = filepath.Abs(f.output); err != nil {
		return err
	}
	e.folders = proc.Folders{Root: filepath.Join(e.out, privateDir)}
	return f.fillCloud(e)
}

// fillDeadline sets what has to do with deadlines.
func (f *runFlags) fillDeadline(e *engine) (err error) {
	if e.Policy, err = livePolicy(e.Policy); err != nil {
		return f.wrong("policy", err)
	}
	if e.Policy, err = policy.WithLaw(e.Policy, f.law); err != nil {
		return f.wrong("law", err)
	}
	e.Deadline, e.Law = f.deadline, f.law
	if f.deadline == "" {
		if f.strict {
			return fmt.Errorf("--fail-on-deadline needs a --deadline")
		}
		return nil
	}
	if _, err := deadlineAt(f.deadline, time.Time{}); err != nil {
		return f.wrong("deadline", err)
	}
	return nil
}

// historyOf returns the file of a name's history; "" if none is kept.
func (f *runFlags) historyOf(name string) string {
	folder := f.history
	if folder == "" {
		folder = historyFolder()
	}
	if folder == "" || folder == noHistory {
		return ""
	}
	return historyPath(folder, name)
}

// fromFile reads the job file and sets the flags that it gives, save those given on the command line. It returns the
// job and its working directory.
func (f *runFlags) fromFile(fl *pflag.FlagSet, args []string) (*jobfile.Job, string, error) {
	for _, name := range []string{"mapper", "reducer", "combiner", "tasks", "resumable"} {
		if f.given(name) {
			return nil, "", fmt.Errorf("--file: the job file says what to run; --%s cannot stand beside it", name)
		}
	}
	if len(args) > 0 {
		return nil, "", fmt.Errorf("--file: the job file says what to run; %q cannot stand beside it", args[0])
	}
	file, err := jobfile.Read(f.file)
	if err != nil {
		return nil, "", err
	}
	f.placed = map[string]placed{}
	for _, s := range file.Settings {
		if f.given(s.Flag) {
			continue
		}
		f.placed[s.Flag] = placed{file, s}
		err := fl.Lookup(s.Flag).Value.Set(s.Text)
		if errors.Is(err, strconv.ErrRange) {
			err = fmt.Errorf("expected a smaller number than %s", s.Text)
		}
		if err != nil {
			return nil, "", f.wrong(s.Flag, err)
		}
	}
	return &file.Job, file.Dir, nil
}

// shape tells a map/reduce job how to cut its input and its output.
func (f *runFlags) shape(mr *mapreduce.Job) {
	mr.SplitSize, mr.Reducers = int64(f.splitSize), f.reducers
	if mr.Operator.Name == "streaming" && mr.Operator.Reducer == "" {
		mr.Reducers = 0
	}
	for i, path := range mr.Inputs {
		if abs, err := filepath.Abs(path); err == nil && !isURL(path) {
			mr.Inputs[i] = abs
		}
	}
}

// job makes a job of flags and arguments.
func (f *runFlags) job(args []string) (*jobfile.Job, error) {
	streaming := f.mapper != "" || f.reducer != "" || f.combiner != ""
	switch {
	case f.tasks != 0 && streaming:
		return nil, fmt.Errorf("--tasks and --mapper are two different kinds of jobs; give one")
	case f.resumable && f.tasks == 0:
		return nil, fmt.Errorf("--resumable is about the command of --tasks; built-in operators resume anyway, mappers cannot")
	case f.given("tasks") && (f.tasks < 1 || f.tasks > mapreduce.MaxTasks):
		return nil, fmt.Errorf("--tasks: expected a number between 1 and %d, not %d", mapreduce.MaxTasks, f.tasks)
	case f.tasks > 0:
		if f.dash < 0 || len(args) == f.dash {
			return nil, fmt.Errorf("--tasks needs a command after --, as in: tailcut run --tasks 10 -- ./task.sh {}")
		}
		if f.dash > 0 {
			return nil, fmt.Errorf("--tasks: the command stands after --, and %q before it", args[0])
		}
		return &jobfile.Job{Name: filepath.Base(args[0]), Array: &jobfile.Array{Stages: []jobfile.Stage{{
			Name: arrayStage, Tasks: f.tasks, Command: slices.Clone(args), Resumable: f.resumable,
		}}}}, nil
	}
	op := mapreduce.Operator{Name: "streaming", Mapper: f.mapper, Reducer: f.reducer, Combiner: f.combiner}
	if streaming {
		if f.mapper == "" {
			return nil, fmt.Errorf("--reducer and --combiner need a --mapper; use --mapper cat to pass lines through")
		}
		if err := neitherOperator(args); err != nil {
			return nil, err
		}
	} else {
		if len(args) == 0 {
			return nil, fmt.Errorf("nothing to run; give an operator and its input, --mapper, --tasks or -f (see 'tailcut run --help')")
		}
		if valid := mapreduce.Operators(); !slices.Contains(valid, args[0]) {
			return nil, grammar.Unknown("operator", args[0], valid)
		}
		op = mapreduce.Operator{Name: args[0]}
		args = args[1:]
		if op.Name == "grep" && len(args) > 0 {
			op.Pattern, args = args[0], args[1:]
		}
	}
	return &jobfile.Job{Name: op.Name, MapReduce: &mapreduce.Job{Operator: op, Inputs: slices.Clone(args)}}, nil
}

// neitherOperator refuses an operator beside a mapper, unless it is the name of a file.
func neitherOperator(args []string) error {
	if len(args) == 0 || !slices.Contains(mapreduce.Operators(), args[0]) {
		return nil
	}
	if _, err := os.Stat(args[0]); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("give an operator (%s) or --mapper, not both", args[0])
}

// parseMaxAttempts reads --max-attempts.
func parseMaxAttempts(text string) (int, error) {
	if text == "none" {
		return sched.Unlimited, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("expected a number of at least 1, or none, not %q", text)
	}
	return n, nil
}

// parseCloneBudget reads --clone-budget.
func parseCloneBudget(text string) (sched.CloneBudget, error) {
	switch text {
	case "default":
		return sched.DefaultLimits().Clones, nil
	case "none":
		return sched.NoLimits().Clones, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return sched.CloneBudget{}, fmt.Errorf("expected a number of at least 0, none or default, not %q", text)
	}
	return sched.CloneBudget{Floor: n}, nil
}

// withSlot gives a policy that decides by slots the slot of the flag, unless the specification names one.
func withSlot(spec, slot string) (string, error) {
	if slot == "" {
		_, err := policy.Find(spec)
		return spec, err
	}
	return policy.WithDefault(spec, "slot", slot)
}

// liveAge is the age below which attempts are not cloned in a live run, for policies whose published default is a
// minute: tasks here last seconds rather than minutes.
const liveAge = "1s"
