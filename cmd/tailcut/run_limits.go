package main

import (
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// addLimits adds the flags that say how much may run, and how often.
func (f *runFlags) addLimits(cmd *cobra.Command) {
	group(cmd, "Limits", func(fl *pflag.FlagSet) {
		f.slots = runtime.NumCPU()
		fl.VarP((*whole)(&f.slots), "slots", "j", "attempts that run at once (default: one per CPU; 10 with --on kubernetes)")
		fl.Lookup("slots").DefValue = "0" // which is not printed: help and manual are the same on every machine
		fl.DurationVar(&f.timeout, "timeout", 0, "an attempt that runs longer fails (0: no limit)")
	})
}
