package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// addTrial adds the flags that try a run out.
func (f *runFlags) addTrial(cmd *cobra.Command) {
	group(cmd, "Trial", func(fl *pflag.FlagSet) {
		fl.BoolVar(&f.dryRun, "dry-run", false, "print the commands, or the stages of an operator, and run nothing")
		fl.StringVar(&f.disturb, "disturb", "", "slow and fail attempts on purpose: `slow=0.1,factor=8,fail=0.02`; pace=4e6 limits the bytes per second that a map attempt reads")
		rare(fl, "disturb")
	})
}
