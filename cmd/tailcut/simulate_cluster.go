package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/sim"
)

// addClusterFlag adds --cluster, and what is at odds with it.
func addClusterFlag(cmd *cobra.Command, f *simulateFlags) {
	cmd.Flags().StringVar(&f.clusterText, "cluster", "", "sites, their machines and the links between them: a YAML `file`, or a generator")
	_ = cmd.RegisterFlagCompletionFunc("cluster", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		if typed == "" || !strings.HasPrefix("synth:waxman", typed) {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return []string{"synth:waxman"}, cobra.ShellCompDirectiveNoSpace
	})
	f.serviceGiven = func() bool { return cmd.Flags().Changed("service") }
}

// settleCluster reads the cluster, if one is given. Its machines are those of the run; a task takes as long as recorded
// unless --service says otherwise.
func (f *simulateFlags) settleCluster() error {
	if f.clusterText == "" {
		return nil
	}
	var err error
	if f.cluster, err = sim.LoadCluster(f.clusterText, f.seed); err != nil {
		return wrongFlag("cluster", err)
	}
	if f.machines = f.cluster.Machines(); f.machines > 1<<24 {
		return wrongFlag("cluster", errors.New("expected at most 2^24 machines"))
	}
	f.options.Cluster = f.cluster
	return nil
}

// totalSlots returns the slots of all machines together.
func (f *simulateFlags) totalSlots() int {
	if f.cluster != nil {
		return f.cluster.Slots()
	}
	return f.machines * f.slots.all()
}
