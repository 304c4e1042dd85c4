package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/internal/serve"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/internal/version"
)

const submitLong = `Hands a job to the server ('tailcut serve') and prints its id. It takes what 'tailcut run' takes, but for slots and
policy, which the server decides, and printing. The job has your environment and working directory. Without
--output each job gets a folder of its own: tailcut-out, tailcut-out-2 and so on.

With --wait it shows the job as 'tailcut run' does, and ends with its exit status.

Exit status: 0 accepted, 1 no server answers, 2 wrong usage or bad input; with --wait as 'tailcut run'.`

const submitExample = `  tailcut submit --name nightly -f nightly.yaml --deadline 2h
  tailcut submit --output thumbs -- convert {} -resize 200 {/} ::: *.jpg
  tailcut submit --after nightly wordcount ~/logs --output counts --wait`

// serverFlags are the flags of a job among those of a server.
type serverFlags struct {
	server      *serverFlag
	alone, wait bool
	priority    int32
	weight      float64
	after       []string
}

// addShared adds the flags that place the job among others.
func (f *runFlags) addShared(cmd *cobra.Command) {
	s := &f.shared
	group(cmd, "On a server", func(fl *pflag.FlagSet) {
		if isSubmit(cmd) {
			fl.BoolVar(&s.wait, "wait", false, "show the job until it is over, and exit as 'tailcut run' does")
		} else {
			fl.BoolVar(&s.alone, "alone", false, "run on slots of its own although a server of yours is at work")
		}
		fl.Var((*rank)(&s.priority), "priority", "higher ones go first, under policies that look at it (`N`)")
		fl.Float64Var(&s.weight, "weight", 1, "share of the slots, under policies that share them (`X`)")
		fl.StringArrayVar(&s.after, "after", nil, "start when this `job` of the server has succeeded: an id or a name; repeatable")
		s.server = addServer(fl)
	})
}

// isSubmit tells the verb that hands jobs to a server from the one that runs them.
func isSubmit(cmd *cobra.Command) bool { return cmd.Name() == "submit" }

// checkWeight refuses a --weight that is no share.
func checkWeight(cmd *cobra.Command, w float64) error {
	if cmd.Flags().Changed("weight") && (math.IsNaN(w) || math.IsInf(w, 0) || w <= 0) {
		return wrongFlag("weight", fmt.Errorf("expected a number above 0, not %v", w))
	}
	return nil
}

// into adds them to the options of a run.
func (s *serverFlags) into(o *run.Options) {
	o.Priority, o.Weight, o.After = s.priority, s.weight, s.after
}

func newSubmit() *cobra.Command {
	f := runFlags{maxAttempts: "default", cloneBudget: "default"}
	cmd := &cobra.Command{
		Use: "submit [OPERATOR] [INPUT...] [-- CMD ARG...]", Short: "Hand a job to the server", Long: submitLong, Example: submitExample,
	}
	f.addWhat(cmd)
	f.addInputs(cmd)
	f.addLimits(cmd)
	f.addFailures(cmd)
	f.addDeadline(cmd)
	f.addShared(cmd)
	f.addOutput(cmd)
	format := addFormat(cmd)
	annotate(cmd.Flags().Lookup("format"), groupOf, "Output")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o, err := f.asked(cmd, args)
		if errors.Is(err, errNoTasks) {
			return nil
		}
		if err != nil {
			return err
		}
		if why := o.Alone(); why != "" {
			return fmt.Errorf("no server runs this, but 'tailcut run' does: %s", why)
		}
		client, err := f.shared.server.client()
		if err != nil {
			return err
		}
		if !f.named("output") && !o.Force && !o.ResumeChanged {
			if o.Output, err = freshFolder(o.Output); err != nil {
				return err
			}
			defer os.Remove(o.Output) // stays if anything is in it: if the job was taken in
			if o.Again != "" {
				o.Again = "tailcut submit --output " + run.PasteWords(append([]string{o.Output}, os.Args[2:]...))
			}
		}
		e, err := f.engine(o)
		if err != nil {
			return err
		}
		return f.submit(cmd, client, e, format)
	}
	return cmd
}

// freshFolder makes a folder for a job that has named none, so that one job does not stand in the way of the next:
// out, out-2, out-3 and so on. Of two that ask at the same time each gets its own.
func freshFolder(out string) (string, error) {
	for n, name := 2, out; ; n++ {
		switch err := os.Mkdir(name, 0o777); {
		case err == nil:
			return name, nil
		case !errors.Is(err, fs.ErrExist):
			return "", err
		}
		name = out + "-" + strconv.Itoa(n)
	}
}

// submit hands the job in, and tells its id or follows it.
func (f *runFlags) submit(cmd *cobra.Command, client *serve.Client, e *run.Engine, format *choice) error {
	if f.shared.wait {
		endsItself(cmd.Context())
	}
	job, err := handIn(cmd, client, e)
	switch {
	case err != nil:
		return err
	case f.shared.wait:
		return f.follow(cmd, client, job, format, false)
	case cmd.Context().Err() != nil:
		notice(cmd.ErrOrStderr(), "the server has taken the job in and runs it; to end it: tailcut cancel %d", job.ID)
		return cmd.Context().Err()
	case format.value == "json":
		return writeJSON(cmd.OutOrStdout(), job)
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), job.ID)
	return err
}

// handIn gives a server the job, with the environment of this process. Once it is on its way, an interrupt waits for
// the answer: nobody is to have a job without knowing.
func handIn(cmd *cobra.Command, client *serve.Client, e *run.Engine) (*serve.Job, error) {
	endsItself(cmd.Context())
	if err := e.Spool(cmd.Context()); err != nil {
		return nil, err
	}
	sub, left := e.Submission(os.Environ())
	for _, name := range left {
		notice(cmd.ErrOrStderr(), "warning: the environment variable %s is not valid UTF-8; the job runs without it", name)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(cmd.Context()))
	defer stop()
	defer context.AfterFunc(cmd.Context(), func() { time.AfterFunc(answerWithin, stop) })()
	job, err := client.Submit(ctx, serve.NewKey(), sub)
	if ctx.Err() != nil {
		notice(cmd.ErrOrStderr(), "the server has not answered within %v; whether it has the job, 'tailcut jobs' says", answerWithin)
		return nil, cmd.Context().Err()
	}
	return job, answered(err)
}

// answerWithin is how long an interrupt waits for the answer to a submission that is on its way.
const answerWithin = 5 * time.Second

// follow shows a job until it is over, and prints what came of it as a run does. An interrupt ends the job if the job
// is the caller's, who would have ended a run of its own as well. A terminal that closes does not: the server has the
// job, and its user may only have lost the connection.
func (f *runFlags) follow(cmd *cobra.Command, client *serve.Client, job *serve.Job, format *choice, own bool) error {
	id := strconv.FormatInt(job.ID, 10)
	notice(cmd.ErrOrStderr(), "job %s (%s) of the server at %s", id, job.Name, client.Server)
	screen := run.NewFollower(cmd.ErrOrStderr())
	var res *run.Result
	var bad error
	hear := func(w *serve.Watched) {
		switch {
		case w.Standing != nil:
			bad = errors.Join(bad, screen.Stands(w.Standing))
		case w.Line != "":
			screen.Says(w.Line)
		case w.Result != nil:
			if res, bad = run.ReadResult(w.Result); bad == nil {
				screen.Ends(res)
			}
		}
	}
	over, err := client.Watch(cmd.Context(), id, hear)
	own = own && !errors.Is(context.Cause(cmd.Context()), errHungUp)
	if own && cmd.Context().Err() != nil {
		over, err = cancelled(cmd.Context(), client, id, hear)
	}
	screen.Close()
	switch {
	case cmd.Context().Err() != nil && !own:
		notice(cmd.ErrOrStderr(), "the job goes on; see it with: tailcut wait %s", id)
		return cmd.Context().Err()
	case err != nil || bad != nil:
		return answered(errors.Join(err, bad))
	case over.State == serve.Succeeded:
	case cmd.Context().Err() != nil:
		err = cmd.Context().Err()
	case res != nil && res.Error != "":
		err = failure{errors.New(res.Error)}
	default:
		err = failure{fmt.Errorf("the job was %s%s", over.State, behind(over.Why))}
	}
	if res == nil {
		return err
	}
	return f.conclude(cmd, res, err, format)
}

// besideIt says what else can be done to whom a server does not serve.
func besideIt(err error) error {
	return fmt.Errorf("%w; to run it beside the server: tailcut run --alone", err)
}

func behind(why string) string {
	if why == "" {
		return ""
	}
	return ": " + show.OneLine(why)
}

// endWithin is how long an interrupted job may take to end.
const endWithin = 20 * time.Second

// cancelled ends a job and waits for its end.
func cancelled(ctx context.Context, client *serve.Client, id string, hear func(*serve.Watched)) (*serve.Job, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer stop()
	if _, err := client.Cancel(ctx, id); err != nil {
		var answer *serve.Problem
		if !errors.As(err, &answer) || answer.Status != 409 { // it may just have ended
			return nil, err
		}
	}
	return client.Watch(ctx, id, hear)
}

// sharing returns the server that a run goes through; nil if it runs alone, as it does where there is none and nobody
// has named one.
func (f *runFlags) sharing(cmd *cobra.Command, e *run.Engine, o *run.Options) (*serve.Client, error) {
	s := &f.shared
	if s.alone {
		return nil, nil
	}
	client, err := s.server.client()
	if err != nil {
		return nil, err
	}
	why := f.aloneFor(o)
	if e.Finished() { // nothing is left to run
		return nil, nil
	}
	switch there, err := client.Running(cmd.Context()); {
	case !there && f.given("server"):
		return nil, failure{&serve.NoServer{Place: client.Server}}
	case !there && len(o.After) > 0:
		return nil, failure{fmt.Errorf("--after is about jobs of a server: %w", &serve.NoServer{Place: client.Server})}
	case !there && why == "" && os.Getenv(serve.ServerVariable) != "": // it may be about to listen again
		return nil, failure{fmt.Errorf("no server answers on %s, which $%s names; start it with 'tailcut serve', or run without it: tailcut run --alone", client.Server, serve.ServerVariable)}
	case !there:
		return nil, nil
	case why != "":
		notice(cmd.ErrOrStderr(), "runs beside the server at %s, not through it: %s", client.Server, why)
		return nil, nil
	case err != nil:
		return nil, besideIt(answered(err))
	}
	return client, nil
}

// aloneFor says why a run cannot go through a server; "" if it can.
func (f *runFlags) aloneFor(o *run.Options) string {
	if why := o.Alone(); why != "" {
		return why
	}
	for _, name := range []string{"policy", "slots", "slot", "max-attempts", "clone-budget"} {
		if f.named(name) {
			return "--" + name + " is the server's to decide"
		}
	}
	if f.report.path != "" {
		return "--report draws the slots of one run"
	}
	return ""
}

// named tells whether the command line or the job file sets a flag.
func (f *runFlags) named(flag string) bool {
	_, inFile := f.placed[flag]
	return inFile || f.given(flag)
}

// asked are the options of the command line.
func (f *runFlags) asked(cmd *cobra.Command, args []string) (o run.Options, err error) {
	f.dash = cmd.ArgsLenAtDash()
	f.given = func(name string) bool {
		flag := cmd.Flags().Lookup(name)
		return flag != nil && flag.Changed
	}
	if o, err = f.options(cmd, args); err != nil {
		return o, err
	}
	if len(f.unused) > 0 {
		notice(cmd.ErrOrStderr(), "warning: the server decides about %s, not the job file", strings.Join(f.unused, ", "))
	}
	if err := checkWeight(cmd, f.shared.weight); err != nil {
		return o, err
	}
	o.Version, o.Log = version.String(), cmd.ErrOrStderr()
	f.shared.into(&o)
	return o, f.outputOptions(cmd, &o)
}
