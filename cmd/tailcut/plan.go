package main

import "github.com/spf13/cobra"

// newPlan is the verb that turns durations into decisions.
func newPlan() *cobra.Command {
	cmd := &cobra.Command{
		Use: "plan", Short: "Say when to replicate stragglers, from your own task durations", Args: unknownVerb,
		Long: "Say when to replicate the stragglers of a job, how often, and what it costs, from the durations of its tasks.",
		Example: `  tailcut plan fork durations.txt
  tailcut plan explain application_1472176676028_407508_1.zstd
  tailcut plan deadline jobs.json --capacity 120`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPlanFork(), newPlanDeadline(), newPlanExplain())
	return cmd
}
