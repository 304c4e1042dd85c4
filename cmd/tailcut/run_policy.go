package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/policy"
)

// addPolicy adds the flags that say when to start clones.
func (f *runFlags) addPolicy(cmd *cobra.Command) {
	group(cmd, "Policy", func(fl *pflag.FlagSet) {
		fl.StringVar(&f.policy, "policy", policy.Default, "scheduling `policy`, see 'tailcut policies'")
		fl.StringVar(&f.maxAttempts, "max-attempts", "default", "maximum number of concurrent attempts of a task (`N`, none, or default: 4, or more if the policy bounds them itself)")
		fl.StringVar(&f.cloneBudget, "clone-budget", "default",
			"maximum number of concurrent clones (`N`, none, or default: 10, 1 % of unfinished tasks, 10 % of running tasks or what the policy allows itself, whichever is most; auto allows itself 10 % of the slots)")
		fl.StringVar(&f.slot, "slot", "0s", "time between decisions, for policies that decide at intervals; 0s decides at every event")
		fl.Uint64Var(&f.seed, "seed", 1, "random seed, for the policy and --disturb")
		rare(fl, "slot", "seed")
	})
}
