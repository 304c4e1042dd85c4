package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/run"
)

// failureFlags say what becomes of a job some of whose tasks fail for good.
type failureFlags struct {
	maxFailed, halt string
	keepGoing       bool
	resumeChanged   bool
}

// addFailures adds the flags that say what becomes of a job some of whose tasks fail for good.
func (f *runFlags) addFailures(cmd *cobra.Command) {
	group(cmd, "Failures", func(fl *pflag.FlagSet) {
		wholeVar(fl, &f.retries, "retries", 3, "retry a failed task this number of times")
		fl.BoolVar(&f.keepGoing, "keep-going", false, "run every task that can run even if others fail; exit with 1 if any did")
		fl.StringVar(&f.maxFailed, "max-failed", "0", "give the job up when more tasks than this have failed for good (`N|P%`)")
		fl.StringVar(&f.halt, "halt", "", "the same in GNU parallel's words: `never`, now,fail=N or soon,fail=N (or P%)")
		fl.BoolVar(&f.resumeChanged, "resume-changed", false, "resume with a changed command: it runs the tasks that are not done")
		rare(fl, "halt")
	})
}

// lossFlags are those that say how many tasks may fail: one of them at most.
var lossFlags = []string{"keep-going", "max-failed", "halt"}

// overruled tells whether a flag is one of those that a job file gives and the command line another of.
func (f *runFlags) overruled(flag string) bool {
	return slices.Contains(lossFlags, flag) && slices.ContainsFunc(lossFlags, f.given)
}

// loss is what they say; nil for nothing beside the default.
func (f *runFlags) loss() (*jobfile.Loss, error) {
	var set []string
	for _, name := range lossFlags {
		if _, inFile := f.placed[name]; inFile || f.given(name) {
			set = append(set, name)
		}
	}
	if len(set) > 1 {
		return nil, f.wrong(set[1], fmt.Errorf("says how many tasks may fail, and so does --%s; give one of them", set[0]))
	}
	var l jobfile.Loss
	var err error
	switch strings.Join(set, "") {
	case "keep-going":
		l.All = f.keepGoing
	case "max-failed":
		l, err = jobfile.ParseMaxFailed(f.maxFailed)
	case "halt":
		l, err = jobfile.ParseHalt(f.halt)
	}
	if err != nil {
		return nil, f.wrong(set[0], err)
	}
	if l == (jobfile.Loss{}) {
		return nil, nil
	}
	return &l, nil
}

// sameAgain returns the command line as it can be pasted into a shell.
func sameAgain() string { return "tailcut " + run.PasteWords(os.Args[1:]) }
