package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live/remote"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/policy"
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
	f.slots = runtime.NumCPU()
	fl.VarP((*whole)(&f.slots), "slots", "j", "attempts that run at once; with --on kubernetes, 10 unless given")
	fl.StringArrayVar(&f.sites, "site", nil, "a `site` of so many slots, NAME=SLOTS[,speed=F][,bandwidth=RATE], whose tasks compute at a fraction F of this machine's speed and fetch from other sites at RATE; repeated, one for each")
	fl.StringVar(&f.cluster, "cluster", "", "sites, slots, speeds and links from a YAML `file`, as for 'tailcut simulate'")
	fl.StringArrayVar(&f.data, "data", nil, "input that is at a site, `SITE=PATH` with a file or folder; repeated. Splits of which it does not say it are spread over the sites")
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
		o, err := f.options(fl, args)
		if err != nil {
			return err
		}
		o.Version, o.Log = version(), cmd.ErrOrStderr()
		return f.run(cmd, o, format)
	}
	return cmd
}

// run does what was asked for and prints what came of it.
func (f *runFlags) run(cmd *cobra.Command, o run.Options, format *choice) error {
	e, err := run.New(o)
	var wrong *grammar.FieldError
	if errors.As(err, &wrong) {
		return f.wrong(wrong.Field, wrong.Problem)
	}
	if err != nil {
		return err
	}
	if f.dryRun {
		p, err := e.Preview(cmd.Context())
		if err != nil {
			return err
		}
		return format.write(cmd.OutOrStdout(), p)
	}
	res, err := e.Run(cmd.Context())
	if res == nil {
		return err
	}
	if err := format.write(cmd.OutOrStdout(), res); err != nil {
		return failure{err}
	}
	if d := res.Deadline; f.strict && d != nil && !d.Met && d.Over > 0 {
		return failure{fmt.Errorf("the deadline was missed by %.2f s", d.Over.Seconds())}
	}
	if err != nil && cmd.Context().Err() == err {
		fmt.Fprintln(cmd.ErrOrStderr(), "the same command goes on where this one stopped")
	}
	return err
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
	_ = cmd.MarkFlagFilename("cluster", "yaml", "yml")
	_ = cmd.MarkFlagDirname("output")
	_ = cmd.MarkFlagDirname("history")
}

// options are what a job file or the command line describes.
func (f *runFlags) options(fl *pflag.FlagSet, args []string) (o run.Options, err error) {
	var job *jobfile.Job
	if f.file != "" {
		job, o.Dir, err = f.fromFile(fl, args)
	} else {
		job, err = f.job(args)
		if err == nil {
			o.Dir, err = os.Getwd()
		}
	}
	if err != nil {
		return o, err
	}
	if f.name != "" {
		job.Name = f.name
	}
	if f.name != "" || f.file != "" {
		o.Name = job.Name
	}
	job.Retries = f.retries
	if job.MapReduce != nil {
		f.shape(job.MapReduce)
	}
	o.Job = *job
	if _, inFile := f.placed["slots"]; inFile || f.given("slots") {
		if o.Slots = f.slots; o.Slots == 0 {
			return o, f.wrong("slots", fmt.Errorf("expected a number between 1 and %d, not 0", run.MostSlots))
		}
	}
	if f.maxLine > mapreduce.MaxLine {
		return o, f.wrong("max-line", fmt.Errorf("expected a size of at most 1GiB, not %v", &f.maxLine))
	}
	if f.strict && f.deadline == "" {
		return o, fmt.Errorf("--fail-on-deadline needs a --deadline")
	}
	if o.Limits.Attempts, err = parseMaxAttempts(f.maxAttempts); err != nil {
		return o, f.wrong("max-attempts", err)
	}
	if o.Limits.Clones, err = parseCloneBudget(f.cloneBudget); err != nil {
		return o, f.wrong("clone-budget", err)
	}
	o.Policy, o.Slot, o.Seed, o.Deadline, o.Law, o.History = f.policy, f.slot, f.seed, f.deadline, f.law, f.history
	o.Output, o.On, o.Sites, o.Cluster, o.Data = f.output, f.on.value, f.sites, f.cluster, f.data
	o.Pods = remote.Pods{Kubeconfig: f.kubeconfig, Namespace: f.namespace, Image: f.image, Template: f.podTemplate}
	o.Timeout, o.MaxLine, o.Disturb, o.Joblog, o.Force = f.timeout, int64(f.maxLine), f.disturb, f.joblog, f.force
	return o, f.checkShape(job)
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
func (f *runFlags) shape(mr *mapreduce.Request) {
	mr.SplitSize, mr.Reducers = int64(f.splitSize), f.reducers
	if mr.Operator.Name == "streaming" && mr.Operator.Reducer == "" {
		mr.Reducers = 0
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
			Name: jobfile.SoleStage, Tasks: f.tasks, Command: slices.Clone(args), Resumable: f.resumable,
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
	return &jobfile.Job{Name: op.Name, MapReduce: &mapreduce.Request{Operator: op, Inputs: slices.Clone(args)}}, nil
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

// checkShape finds flags that are of no use to a job of this kind.
func (f *runFlags) checkShape(job *jobfile.Job) error {
	mr := job.MapReduce
	reduces := mr != nil && (mr.Operator.Name != "streaming" || mr.Operator.Reducer != "")
	for _, flag := range []struct {
		name string
		used bool
		need string
	}{
		{"split-size", mr != nil, "is about the input of an operator or a mapper, and an array job has none"},
		{"max-line", mr != nil, "is about the input of an operator or a mapper, and an array job has none"},
		{"reducers", reduces, "is about operators and about a --reducer, and the job has neither"},
	} {
		if f.given(flag.name) && !flag.used {
			return fmt.Errorf("--%s %s", flag.name, flag.need)
		}
	}
	if reduces && (f.reducers < 1 || f.reducers > mapreduce.MaxReducers) {
		return f.wrong("reducers", fmt.Errorf("expected a number between 1 and %d, not %d", mapreduce.MaxReducers, f.reducers))
	}
	return nil
}
