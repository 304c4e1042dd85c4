package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/catalogue"
	"github.com/tailcut/tailcut/policy"
)

func newPolicies() *cobra.Command {
	cmd := &cobra.Command{
		Use: "policies [NAME]", Short: "List the scheduling policies, or describe one and its parameters", Args: cobra.MaximumNArgs(1),
		Long: "Lists the policies and presets that --policy takes, or describes one: its source, and its parameters with their\n" +
			"defaults and ranges. Parameters follow the name after a colon: NAME:param=value,param=value.",
		Example: "  tailcut policies\n  tailcut policies srew\n  tailcut run --policy srew:beta=0.5 wordcount src/",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return policy.Names(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	format := addFormatOf(cmd, "table", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		list := catalogue.All()
		if len(args) > 0 {
			var err error
			if list, err = catalogue.One(args[0]); err != nil {
				return err
			}
		}
		w := cmd.OutOrStdout()
		if format.value == "json" {
			return list.WriteJSON(w)
		}
		err := list.WriteText(w)
		if len(args) == 0 {
			_, err = fmt.Fprintln(w, "\n'tailcut policies NAME' shows a policy's source and parameters.")
		}
		return err
	}
	return cmd
}
