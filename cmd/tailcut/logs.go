package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/results"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/internal/serve"
	"github.com/tailcut/tailcut/trace"
)

func newLogs() *cobra.Command {
	cmd := &cobra.Command{
		Use: "logs OUT|JOB TASK", Short: "Print what a task writes, while it runs and afterwards", Args: cobra.ExactArgs(2),
		Long: "Print the last lines of a task's standard output and standard error: to standard output and standard error. " +
			"OUT is the output folder of a run, JOB a job of the server by its name or id, TASK an index such as 3, or map/3 in a run of several stages.\n" +
			"Of a running task with clones the attempt that began first is shown.\n\n" +
			"Exit status: 0 printed, 1 what is kept cannot be read, 2 wrong usage or no such run or task.",
		Example: "  tailcut logs out 3 -f\n  tailcut logs nightly 3 -f\n  tailcut logs out map/3 -n all\n  tailcut logs out 3 --attempt 1 2>/dev/null",
	}
	l := results.Logs{Lines: 10}
	attempt, lines := -1, lineCount(10)
	var server *serverFlag
	group(cmd, "Flags", func(fl *pflag.FlagSet) {
		fl.BoolVarP(&l.Follow, "follow", "f", false, "go on until the task is done")
		fl.VarP(&lines, "lines", "n", "last lines of what is there already (`N` or all)")
		fl.Var((*attemptNumber)(&attempt), "attempt", "an attempt by its number, from 0")
		server = addServer(fl)
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if run.IsURL(args[0]) {
			return fmt.Errorf("%s: expected a folder of this machine; what pods write is with kubectl logs", args[0])
		}
		l.Out, l.Err, l.Lines, l.Attempt = rawOut(cmd), cmd.ErrOrStderr(), int(lines), attempt
		l.Say = func(line string) { notice(cmd.ErrOrStderr(), "%s", line) }
		if ref, place, ok := server.jobOf(args[0]); ok {
			return logsOf(cmd.Context(), &l, place, ref, args[1])
		}
		err := l.Print(cmd.Context(), args[0], args[1])
		if errors.Is(err, trace.ErrCorrupt) {
			return failure{err}
		}
		return err
	}
	return cmd
}

// jobOf returns the job that an argument names, and where its server is: that of a folder that a server works in, or
// whatever is no folder.
func (f *serverFlag) jobOf(arg string) (ref, place string, ok bool) {
	if c, err := run.ReadClaimed(filepath.Join(arg, mapreduce.PrivateName)); err == nil && c != nil {
		return c.Run, c.Place, true
	}
	_, err := os.Stat(arg)
	return arg, f.place, err != nil && !strings.ContainsRune(arg, filepath.Separator)
}

// logsOf prints what a task of a server's job writes.
func logsOf(ctx context.Context, l *results.Logs, place, ref, task string) error {
	client, err := serve.NewClient(place)
	if err != nil {
		return err
	}
	err = client.Logs(ctx, ref, serve.LogQuery{Task: task, Attempt: l.Attempt, Lines: l.Lines, Follow: l.Follow}, func(p *serve.LogPiece) {
		_, _ = l.Out.Write(p.Out) // the verb's standard output keeps its error
		_, _ = l.Err.Write(p.Err)
		if p.Said != "" {
			l.Say(p.Said)
		}
	})
	return answered(err)
}

// lineCount is a flag that is a number of lines, or all of them.
type lineCount int

func (n *lineCount) Type() string { return "N" }
func (n *lineCount) String() string {
	if *n < 0 {
		return "all"
	}
	return strconv.Itoa(int(*n))
}

func (n *lineCount) Set(text string) error {
	if text == "all" {
		*n = -1
		return nil
	}
	value, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return fmt.Errorf("expected a number of lines, or all, not %q", text)
	}
	*n = lineCount(value)
	return nil
}

// attemptNumber is a flag that is the number of an attempt; -1 if it is not given.
type attemptNumber int

func (n *attemptNumber) Type() string { return "N" }
func (n *attemptNumber) String() string {
	if *n < 0 {
		return ""
	}
	return strconv.Itoa(int(*n))
}

func (n *attemptNumber) Set(text string) error {
	value, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return fmt.Errorf("expected the number of an attempt, from 0, not %q", text)
	}
	*n = attemptNumber(value)
	return nil
}
