// Command tailcut-history keeps what became of jobs in a SQLite database. It is started by tailcut, which speaks to it
// through pipes. It is a program of its own because tailcut starts itself once per attempt, and nobody who builds
// tailcut should have to compile SQLite (docs/decisions).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/history/internal/database"
	"github.com/tailcut/tailcut/internal/manual"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/internal/version"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main without the process. The status is 2 for wrong usage, 1 for everything else that went wrong.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	started := false
	root := &cobra.Command{
		Use: "tailcut-history", Short: "Keep what became of jobs",
		Long: "Keeps jobs, stages, attempts and promised end times in a SQLite database. tailcut starts it where it needs it.\n" +
			"The database may be read with sqlite3 at any time.",
		Example:      "  sqlite3 ~/.local/state/tailcut/history/history.db 'SELECT name, state, (ended - submitted) / 1e6 AS seconds FROM jobs'",
		SilenceUsage: true, SilenceErrors: true,
		Version: version.Line("tailcut-history"),
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(newKeep(&started), manual.NewCommand(nil))
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.ExecuteContext(context.Background()); err != nil {
		fmt.Fprintf(stderr, "tailcut-history: %v\n", err)
		if started {
			return 1
		}
		return 2
	}
	return 0
}

// newKeep is the verb with which tailcut starts the program.
func newKeep(started *bool) *cobra.Command {
	limits := database.DefaultLimits
	cmd := &cobra.Command{
		Use: "keep FOLDER", Short: "Keep and tell what standard input says, a JSON value a line", Args: cobra.ExactArgs(1),
		Example: "  tailcut serve ... # starts it",
	}
	days := int(limits.Age / (24 * time.Hour))
	cmd.Flags().IntVar(&days, "days", days, "remove jobs that ended more than `N` days ago; 0 keeps all")
	cmd.Flags().Int64Var(&limits.Size, "bytes", limits.Size, "`size` of the database above which the oldest attempts go, and then the oldest jobs; 0 keeps all")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if days < 0 || days > 100_000 {
			return fmt.Errorf("--days: expected a number from 0 to 100000, not %d", days)
		}
		if limits.Size < 0 {
			return fmt.Errorf("--bytes: expected a number of at least 0, not %d", limits.Size)
		}
		limits.Age = time.Duration(days) * 24 * time.Hour
		*started = true
		signal.Ignore(os.Interrupt, syscall.SIGHUP) // of the terminal: whoever started it has still things to say

		// as long as a caller that lives would wait
		afterCaller(cmd.InOrStdin(), past.Late, func() { os.Exit(1) })
		tell := func(err error) { fmt.Fprintf(cmd.ErrOrStderr(), "tailcut-history: warning: %v\n", err) }
		return keep(cmd.Context(), args[0], limits, tell, cmd.InOrStdin(), cmd.OutOrStdout())
	}
	return cmd
}

// keep answers calls until there are no more. What is wrong with the database is an answer, too.
func keep(ctx context.Context, folder string, limits database.Limits, tell func(error), in io.Reader, out io.Writer) error {
	d, err := database.Open(ctx, filepath.Join(folder, past.DatabaseName), limits)
	if err != nil {
		return past.Serve(ctx, nil, err, in, out)
	}
	if err := d.Import(ctx, past.Files{Folder: folder}, tell); err != nil {
		tell(err)
	}
	return errors.Join(past.Serve(ctx, d, nil, in, out), d.Close())
}
