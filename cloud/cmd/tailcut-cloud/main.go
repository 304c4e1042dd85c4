// Command tailcut-cloud is what tailcut run uses when attempts are pods, or data are in an object store. It is started
// by tailcut, which keeps the journal and decides, and in pods. It is a program of its own because tailcut starts
// itself once per attempt, and what the libraries of clusters and stores do when a program starts would be paid for
// each time (docs/decisions).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/cloud/internal/store"
	"github.com/tailcut/tailcut/internal/live/remote"
	"github.com/tailcut/tailcut/internal/manual"
	"github.com/tailcut/tailcut/internal/version"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main without the process. The status is 2 for wrong usage, 1 for everything else that went wrong.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	started := false
	root := &cobra.Command{
		Use: "tailcut-cloud", Short: "Run attempts as pods, and between object stores",
		Long: "Started by 'tailcut run', which says what to do. See 'tailcut run --help', --on and --output.",
		Example: `  tailcut run wordcount s3://bucket/logs --output s3://bucket/counts
  tailcut run wordcount s3://bucket/logs --output s3://bucket/counts --on kubernetes --slots 20`,
		SilenceUsage: true, SilenceErrors: true,
		Version: version.Line("tailcut-cloud"),
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(newExecutor(&started), newAttempt(&started), manual.NewCommand(nil))
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.ExecuteContext(context.Background()); err != nil {
		fmt.Fprintf(stderr, "tailcut-cloud: %v\n", err)
		if started {
			return 1
		}
		return 2
	}
	return 0
}

// newExecutor is the verb with which tailcut starts the program.
func newExecutor(started *bool) *cobra.Command {
	return &cobra.Command{
		Use: "executor", Short: "Do what an engine says on standard input", Args: cobra.NoArgs,
		Example: "  tailcut run ... # starts it",
		RunE: func(cmd *cobra.Command, _ []string) error {
			*started = true
			signal.Ignore(os.Interrupt, syscall.SIGHUP) // of the terminal: the engine has still things to say
			p := &program{log: cmd.ErrOrStderr()}
			defer p.buckets.Close()
			return remote.Serve(cmd.Context(), p, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

// newAttempt is the verb with which an executor starts an attempt, here or in a pod.
func newAttempt(started *bool) *cobra.Command {
	attended := false
	cmd := &cobra.Command{
		Use: "attempt URL RUN STAGE TASK NUMBER [STAGE=NUMBER...]", Short: "Do the work of an attempt of the run whose output is at URL", Args: cobra.MinimumNArgs(5),
		Example: "  tailcut-cloud attempt s3://bucket/counts 83c71f6c5b2a9d10 0 17 0",
		RunE: func(cmd *cobra.Command, args []string) error {
			task, err := store.ParseTask(args[1:])
			if err != nil {
				return err
			}
			var buckets store.Buckets
			defer buckets.Close()
			out, err := store.OpenOutput(&buckets, args[0])
			if err != nil {
				return err
			}
			*started = true
			if attended {
				go dieWith(cmd.InOrStdin())
			}
			scratch, err := os.MkdirTemp("", "tailcut-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(scratch)
			a := &store.Worker{
				Assignment: task, Buckets: &buckets, Output: out, Scratch: scratch, Stderr: cmd.ErrOrStderr(),
				Progress: func(x float64) { fmt.Fprintf(cmd.OutOrStdout(), "%.4f\n", x) },
			}
			return untilTerminated(cmd.Context(), a.Run)
		},
	}
	cmd.Flags().BoolVar(&attended, "attended", false, "end, with the process group, when standard input does")
	return cmd
}

// untilTerminated does an attempt's work. When a pod is deleted, Kubernetes sends SIGTERM: the work ends, and has a
// moment to remove what nobody will read.
func untilTerminated(ctx context.Context, work func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(moment): // processes that a command has left may hold what the work waits for
		return errors.New("terminated")
	}
}

const moment = 5 * time.Second

// dieWith ends the process group when the engine, which holds the other end, has ended.
func dieWith(stdin io.Reader) {
	_, _ = io.Copy(io.Discard, stdin)
	_ = syscall.Kill(0, syscall.SIGKILL)
}
