package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live/remote"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/internal/serve"
)

const runLong = `Runs a job on this machine or on Kubernetes. Stragglers get clones; each task gives exactly one result.

  tailcut run wordcount|wordmean|sort INPUT...       built-in operators over files or folders
  tailcut run grep PATTERN INPUT...
  tailcut run --mapper CMD [--reducer CMD] INPUT...  commands as in Hadoop Streaming
  tailcut run --tasks N -- CMD ARG...                an array job; {} is the index, also in TAILCUT_TASK
  tailcut run -f job.yaml                            a job file, with one or more stages

Results are OUT/part-00000 and so on; OUT/_SUCCESS is written last. If the engine or the machine dies, or the job
fails, rerun the same command to resume: finished tasks are kept.

Exit status: 0 success, 1 the job failed, 2 wrong usage or bad input, 130 interrupted,
141 standard output was closed.`

const runExample = `  tailcut run wordcount ~/src --output counts
  tailcut run --mapper 'cut -f2' --reducer 'uniq -c' logs/ --reducers 4
  tailcut run --tasks 100 --policy spark -- ./render.sh {}
  tailcut run sort big/ --deadline 10m --policy shed --clone-budget none --name nightly
  tailcut run -f patients.yaml --cluster clouds.yaml --policy geoclone
  tailcut run wordcount s3://bucket/logs -o s3://bucket/counts --on kubernetes --pod-template pod.yaml`

// runFlags are the flags of run as given.
type runFlags struct {
	outputFlags
	failureFlags
	shared                                 serverFlags
	limits                                 runLimits
	file, mapper, reducer, combiner        string
	tasks, reducers, retries               int
	splitSize, maxLine                     size
	policy, slot, maxAttempts, cloneBudget string
	seed                                   uint64
	disturb                                string
	deadline, law, name, history           string
	value                                  float64
	late                                   lateFlag
	sites, data                            []string
	cluster                                string
	dryRun, resumable, strict              bool
	on                                     *choice
	image, namespace, kubeconfig           string
	podTemplate                            string
	inputs                                 inputFlags
	stdin                                  io.Reader // of --pipe

	dash   int                    // arguments before --, -1 without one
	given  func(name string) bool // on the command line
	placed map[string]placed      // flags that the job file sets
	inFile *jobfile.File          // nil without a job file
	unused []string               // fields of the job file that have no flag here
}

// placed is a setting in a job file.
type placed struct {
	in *jobfile.File
	at jobfile.Setting
}

// wrong tells whose value is wrong: a flag's, or a job file's.
func (f *runFlags) wrong(flag string, err error) error {
	if at := f.inFile.Place(flag, err); at != nil {
		return at
	}
	if p, ok := f.placed[flag]; ok {
		return p.in.Error(p.at, err)
	}
	return fmt.Errorf("--%s: %w", flag, err)
}

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "run [OPERATOR] [INPUT...] [-- CMD ARG...]", Short: "Run a job, with clones for stragglers",
		Long: runLong, Example: runExample,
	}
	f.addWhat(cmd)
	f.addInputs(cmd)
	f.addLimits(cmd)
	f.addFailures(cmd)
	f.addPolicy(cmd)
	f.addDeadline(cmd)
	f.addShared(cmd)
	f.addWhere(cmd)
	f.addOutput(cmd)
	f.addTrial(cmd)
	format := addFormat(cmd)
	fl := cmd.Flags()
	annotate(fl.Lookup("format"), groupOf, "Output")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o, err := f.asked(cmd, args)
		if errors.Is(err, errNoTasks) {
			return nil
		}
		if err != nil {
			return err
		}
		endsItself(cmd.Context())
		return f.run(cmd, o, format)
	}
	return cmd
}

// engine checks what is asked for.
func (f *runFlags) engine(o run.Options) (*run.Engine, error) {
	e, err := run.New(o)
	return e, f.placeOf(err)
}

// placeOf gives a user's error about a flag or a field its place.
func (f *runFlags) placeOf(err error) error {
	var wrong *grammar.FieldError
	var failed run.Failure
	if errors.As(err, &wrong) && !errors.As(err, &failed) {
		return f.wrong(wrong.Field, wrong.Problem)
	}
	return err
}

// run does what was asked for and prints what came of it.
func (f *runFlags) run(cmd *cobra.Command, o run.Options, format *choice) error {
	e, err := f.engine(o)
	if err != nil {
		return err
	}
	if f.dryRun {
		return f.placeOf(preview(cmd, e, &o, format))
	}
	client, err := f.sharing(cmd, e, &o)
	if err != nil {
		return err
	}
	if client != nil {
		job, err := handIn(cmd, client, e)
		if p := (*serve.Problem)(nil); errors.As(err, &p) && !p.Usage() { // no fault of the job's
			return besideIt(err)
		} else if err != nil {
			return err
		}
		return f.follow(cmd, client, job, format, true)
	}
	res, err := e.Run(cmd.Context())
	if res == nil {
		return f.placeOf(err)
	}
	if err := f.writeReport(cmd, e.Journal()); err != nil {
		return err
	}
	failed := f.conclude(cmd, res, err, format)
	if failed == nil && format.value == format.valid[0] {
		advise(cmd, e, res)
	}
	return failed
}

// preview prints what would run.
func preview(cmd *cobra.Command, e *run.Engine, o *run.Options, format *choice) error {
	p, err := e.Preview(cmd.Context())
	if err != nil {
		return err
	}
	if o.Job.Array == nil || format.value != "table" {
		return format.write(cmd.OutOrStdout(), p)
	}
	if err := e.WriteCommands(cmd.OutOrStdout()); err != nil {
		return err
	}
	return p.WriteText(cmd.ErrOrStderr())
}

// conclude prints what came of a job, and returns the error that it ends with.
func (f *runFlags) conclude(cmd *cobra.Command, res *run.Result, err error, format *choice) error {
	summary := cmd.OutOrStdout()
	if f.prints() { // that is for what the tasks write
		summary = cmd.ErrOrStderr()
	}
	if err := format.write(summary, res); err != nil {
		return failure{err}
	}
	if d := res.Deadline; f.strict && d != nil && !d.Met && d.Over > 0 && !d.Dropped {
		return failure{fmt.Errorf("the deadline was missed by %.2f s", d.Over)}
	}
	if err != nil && cmd.Context().Err() == err && f.output != run.Scratch {
		fmt.Fprintln(cmd.ErrOrStderr(), "Interrupted. Rerun the same command to resume.")
	}
	return err
}

// options are what a job file or the command line describes.
func (f *runFlags) options(cmd *cobra.Command, args []string) (o run.Options, err error) {
	var job *jobfile.Job
	if f.file != "" {
		job, o.Dir, err = f.fromFile(cmd.Flags(), args)
	} else {
		job, err = f.job(cmd, args)
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
	if job.Loss, err = f.loss(); err != nil {
		return o, err
	}
	if job.MapReduce != nil {
		f.shape(job.MapReduce)
	}
	o.Job = *job
	f.limits.into(&o)
	if f.maxLine > mapreduce.MaxLine {
		return o, f.wrong("max-line", fmt.Errorf("expected a size of at most 1GiB, not %v", &f.maxLine))
	}
	if f.strict && f.deadline == "" {
		return o, fmt.Errorf("--fail-on-deadline needs a --deadline")
	}
	if err = parseMaxAttempts(f.maxAttempts, &o.Limits); err != nil {
		return o, f.wrong("max-attempts", err)
	}
	if o.Limits.Clones, err = parseCloneBudget(f.cloneBudget); err != nil {
		return o, f.wrong("clone-budget", err)
	}
	o.Policy, o.Slot, o.Seed, o.Deadline, o.Law, o.History = f.policy, f.slot, f.seed, f.deadline, f.law, f.history
	o.Value, o.Late = f.value, f.late.Late
	if f.on != nil { // a server has one place
		o.On, o.Sites, o.Cluster, o.Data = f.on.value, f.sites, f.cluster, f.data
	}
	if f.inFile != nil {
		o.Whereabouts = f.inFile.Whereabouts
	}
	o.Pods = remote.Pods{Kubeconfig: f.kubeconfig, Namespace: f.namespace, Image: f.image, Template: f.podTemplate}
	o.ResumeChanged = f.resumeChanged
	if o.Output != run.Scratch && !f.inputs.piped { // else nothing is left, or a part of the command is missing
		o.Again = sameAgain()
	}
	o.Stdin = f.stdin
	o.MaxLine, o.Disturb = int64(f.maxLine), f.disturb
	return o, f.checkShape(job)
}
