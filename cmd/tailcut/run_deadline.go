package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// addDeadline adds the flags that say by when the job should be done, and from what that is foretold.
func (f *runFlags) addDeadline(cmd *cobra.Command) {
	group(cmd, "Deadline", func(fl *pflag.FlagSet) {
		fl.StringVar(&f.deadline, "deadline", "", "finish by this `time`: 10m after the start, or an instant such as 2026-11-30T18:00:00Z")
		fl.BoolVar(&f.strict, "fail-on-deadline", false, "exit with 1 if the deadline is missed")
		name := "keep durations under this `name`, for later deadlines"
		if isSubmit(cmd) {
			name = "`name` for the other commands, such as 'tailcut show', and for its durations, for later deadlines"
		}
		fl.StringVar(&f.name, "name", "", name)
		fl.StringVar(&f.history, "history", "", "`folder` for the durations of --name, or none (default: in the user's state folder)")
		fl.StringVar(&f.law, "law", "", "`law` of an attempt's duration in seconds, for --deadline (default: from earlier runs of the same --name)")
		rare(fl, "history", "law")
	})
}
