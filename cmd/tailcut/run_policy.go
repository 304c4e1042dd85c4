package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// addPolicy adds the flags that say when to start clones.
func (f *runFlags) addPolicy(cmd *cobra.Command) {
	group(cmd, "Policy", func(fl *pflag.FlagSet) {
		fl.StringVar(&f.policy, "policy", "spark", "scheduling `policy`, see 'tailcut policies'")
		fl.StringVar(&f.maxAttempts, "max-attempts", "4", "attempts of one task that may run at once (`N` or none)")
		fl.StringVar(&f.cloneBudget, "clone-budget", "default",
			"clones at once (`N`, none, or default: the most of 10, 1 % of unfinished tasks, 10 % of running tasks)")
		fl.StringVar(&f.slot, "slot", "0s", "length of a slot, for policies that decide by slots; 0s decides whenever something has happened")
		fl.Uint64Var(&f.seed, "seed", 1, "random seed of the policy and of --disturb")
		rare(fl, "slot", "seed")
	})
}
