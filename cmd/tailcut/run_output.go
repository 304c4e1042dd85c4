package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// addOutput adds the flags that say what is left of a run.
func (f *runFlags) addOutput(cmd *cobra.Command) {
	group(cmd, "Output", func(fl *pflag.FlagSet) {
		fl.StringVarP(&f.output, "output", "o", "tailcut-out", "`folder` for the results, or a URL such as s3://bucket/prefix")
		fl.BoolVar(&f.force, "force", false, "replace what the output folder holds of an earlier run")
		fl.StringVar(&f.joblog, "joblog", "", "append a line per attempt to `file`, in GNU parallel's columns")
	})
}
