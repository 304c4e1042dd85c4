// Command tailcut finishes data-parallel batch jobs on time although some of their tasks straggle.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/manual"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/internal/version"
)

// Exit statuses of every verb.
const (
	exitOK          = 0
	exitFailed      = 1 // the job failed, or a check did not hold
	exitUsage       = 2 // wrong usage or bad input
	exitInterrupted = 130
	exitClosed      = 141 // nobody reads standard output any more: what a shell says of those whom SIGPIPE ends
)

// errFailed ends the process with status 1 after a verb has said itself what failed.
var errFailed = errors.New("failed")

// failure is an error that ends the process with status 1: the input was good, the work did not succeed.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

func main() {
	if os.Getpid() == 1 {
		os.Exit(beFirst(os.Args, os.Stderr))
	}
	os.Exit(tailcut(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// noRoom tells whether a disk was full, or had an error of its own: no usage is wrong then.
func noRoom(err error) bool {
	return run.Full(err) || errors.Is(err, syscall.EIO)
}

// tailcut is main without the process: tests call it. Errors other than failures are the user's, one line and status 2.
func tailcut(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, end := context.WithCancelCause(context.Background())
	defer hearHangup(end)()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // whoever asks twice does not want to wait
	root := newRoot()
	root.SetArgs(args)
	hearCommand(root, args)
	root.SetIn(stdin)
	out := &printed{w: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	err := interruptible(ctx, root.ExecuteContext)
	if out.err != nil {
		err = failure{out.err}
	}
	var failed failure
	var answer run.Failure
	var mistakes *jobfile.Mistakes
	var request wrongRequest
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, run.ErrClosed):
		return exitClosed
	case errors.As(err, &failed), errors.As(err, &answer), noRoom(err): // whether it was interrupted or not
		notice(stderr, "%s", show.InWords(err))
		return exitFailed
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "tailcut: interrupted")
		return exitInterrupted
	case errors.Is(err, errFailed):
		return exitFailed
	case errors.As(err, &request):
		for _, line := range request.Lines() {
			notice(stderr, "%s", line)
		}
		return exitUsage
	case errors.As(err, &mistakes):
		for _, line := range mistakes.Lines() {
			notice(stderr, "%s", line)
		}
		return exitUsage
	default:
		notice(stderr, "%s", show.InWords(err))
		return exitUsage
	}
}

// printed is standard output as all verbs share it: it keeps the first error, so that a table that was cut short is a
// failure although nobody who prints lines of it looks.
type printed struct {
	w   io.Writer
	err error
}

func (p *printed) Write(text []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	if _, err := p.w.Write(harmless(text)); err != nil {
		p.err = fmt.Errorf("standard output: %w", err)
		return 0, p.err
	}
	return len(text), nil
}

// rawPrinted is standard output for what tasks have written: whatever that is, not a byte of it changes.
type rawPrinted struct{ *printed }

func (p rawPrinted) Write(text []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	n, err := p.w.Write(text)
	if err != nil {
		p.err = fmt.Errorf("standard output: %w", err)
	}
	return n, p.err
}

// harmless shows the control characters that a verb has let through. None prints any but tabs and the ends of lines.
func harmless(text []byte) []byte {
	control := func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }
	if bytes.IndexFunc(text, control) < 0 {
		return text
	}
	var b bytes.Buffer
	for _, c := range text {
		if control(rune(c)) {
			fmt.Fprintf(&b, `\x%02x`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.Bytes()
}

// newRoot assembles the verbs.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "tailcut",
		Short: "Finish batch jobs on time even when a few tasks run far too long",
		Long:  "Tailcut runs extra attempts of the right tasks, in the right place, at the right moment,\nand keeps exactly one result of each.",
		Example: `  tailcut run wordcount src/ --output counts
  tailcut plan fork durations.txt
  tailcut simulate 'synth:jobs=50;tasks=100' --machines 500 --policy fifo,spark,srew`,
		Args:          unknownVerb,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Version:       version.Line("tailcut"),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newRun(), newSimulate(), newPlan(), newReplay(), newTimeline(), newReport(), newCompare(), newVerify(), newTrace(), newOverlap(),
		newReproduce(), newPolicies(), newController(), newVersion(), manual.NewCommand(headingOf))
	root.AddCommand(newResults(), newLogs())
	root.AddCommand(newServe(), newSubmit(), newJobs(), newShow(), newWait(), newCancel(), newPause(), newResume(), newPriority(), newPolicy(), newDrain())
	addCompletions(root)
	tellUsage(root)
	fitHelp(root)
	return root
}
