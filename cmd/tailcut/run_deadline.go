package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// addDeadline adds the flags that say by when the job should be done, and from what that is foretold.
func (f *runFlags) addDeadline(cmd *cobra.Command) {
	group(cmd, "Deadline", func(fl *pflag.FlagSet) {
		fl.StringVar(&f.deadline, "deadline", "", "`time` by which the job should be done: 10m after the start, or an instant such as 2026-11-30T18:00:00Z")
		fl.BoolVar(&f.strict, "fail-on-deadline", false, "exit with 1 if the deadline is missed")
		fl.StringVar(&f.name, "name", "", "`name` under which durations are kept for later deadlines")
		fl.StringVar(&f.history, "history", "", "`folder` where durations are kept under --name, or none (without: in the user's state folder)")
		fl.StringVar(&f.law, "law", "", "`law` of an attempt's duration in seconds, to reckon with for --deadline (without: durations of earlier runs of the same --name)")
		rare(fl, "history", "law")
	})
}
