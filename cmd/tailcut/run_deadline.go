package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/serve"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sched"
)

// addDeadline adds the flags that say by when the job should be done, and from what that is foretold.
func (f *runFlags) addDeadline(cmd *cobra.Command) {
	group(cmd, "Deadline", func(fl *pflag.FlagSet) {
		fl.StringVar(&f.deadline, "deadline", "", "finish by this `time`: 10m after the start, or an instant such as 2026-11-30T18:00:00Z")
		fl.Float64Var(&f.value, "value", 0, "what the job is worth by its deadline, under policies that look at it (`X`; default: its weight)")
		fl.Var(&f.late, "late", "after its deadline the job goes on, ends, or loses COST of its value per minute (`hard|drop|soft:COST`)")
		fl.BoolVar(&f.strict, "fail-on-deadline", false, "exit with 1 if the deadline is missed")
		name := "keep durations under this `name`, for later runs"
		if isSubmit(cmd) {
			name = "`name` for the other commands, such as 'tailcut show', and for its durations, for later jobs"
		}
		fl.StringVar(&f.name, "name", "", name)
		fl.StringVar(&f.history, "history", "", "`folder` for the durations of --name, or none (default: in the user's state folder)")
		fl.StringVar(&f.law, "law", "", "`law` of an attempt's duration in seconds, for the policy and --deadline (default: from earlier runs of the same --name)")
		rare(fl, "history", "law")
	})
}

// lateFlag is what becomes of a job after its deadline.
type lateFlag struct{ sched.Late }

// Set reads it.
func (l *lateFlag) Set(text string) error { return l.UnmarshalText([]byte(text)) }

// Type is what it is called in help texts.
func (*lateFlag) Type() string { return "late" }

// lateText says what a job is worth and what becomes of it after its deadline, as far as it says so.
func lateText(j *serve.Job) (text string) {
	if j.Chance != nil {
		text = ", " + show.Chance(*j.Chance) + " on time"
	}
	if j.Value != j.Weight {
		text += ", value " + show.Number(j.Value)
	}
	if j.Late != "" {
		text += ", late: " + j.Late
	}
	return text
}
