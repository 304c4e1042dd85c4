package proc

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/show"
)

// A program that runs jobs starts itself: as the guard, and for every attempt of map/reduce work. It is told by its own
// name, and does so before its main begins. So any program that links this package can run jobs, with nothing to call
// first and nothing to forget: one that forgot would run its jobs again in place of their attempts. Commands that an
// attempt starts have names of their own.
const (
	guardName   = "tailcut: guard"
	attemptName = "tailcut: attempt"
)

func init() {
	switch {
	case len(os.Args) == 2 && os.Args[0] == guardName:
		runGuard(os.Args[1])
		os.Exit(0)
	case len(os.Args) == 1 && os.Args[0] == attemptName:
		os.Exit(runAttempt(os.Stdin, os.Stderr))
	}
}

// runAttempt does an attempt of map/reduce work and returns its exit status. The specification comes on standard input,
// progress goes to descriptor 3.
func runAttempt(stdin io.Reader, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	data, err := io.ReadAll(stdin)
	if err == nil {
		var spec *mapreduce.AttemptSpec
		if spec, err = mapreduce.DecodeSpec(data); err == nil {
			progress := os.NewFile(3, "progress")
			spec.Progress = func(x float64) { fmt.Fprintf(progress, "%.4f\n", x) }
			spec.Saved = func(offset int64, x float64) { fmt.Fprintln(progress, strconv.FormatFloat(x, 'g', -1, 64), offset) }
			spec.Stderr = stderr
			_, err = mapreduce.Run(ctx, spec)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s%s\n", saysItself, show.OneLine(show.InWords(err)))
	}
	return mapreduce.ExitStatus(err)
}

// saysItself begins what an attempt of map/reduce work says of its failure, as opposed to what its commands say.
const saysItself = "tailcut: "
