package main

import "github.com/spf13/cobra"

// newPlan is the verb that turns durations into decisions.
func newPlan() *cobra.Command {
	cmd := &cobra.Command{
		Use: "plan", Short: "Find when to clone stragglers, from your own task durations", Args: unknownVerb,
		Long: "Finds when to clone the stragglers of a job, how many clones to start and what they cost, from the durations of its tasks.",
		Example: `  tailcut plan fork durations.txt
  tailcut plan explain application_1472176676028_407508_1.zstd
  tailcut plan slots application_1472176676028_407508_1.zstd
  tailcut plan deadline jobs.json --capacity 120`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPlanFork(), newPlanDeadline(), newPlanExplain(), newPlanSlots(), newPlanVerify())
	return cmd
}
