package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// controllerProgram is the controller of Kubernetes Jobs.
const controllerProgram = "tailcut-controller"

// newController is the verb that runs Kubernetes Jobs.
func newController() *cobra.Command {
	return &cobra.Command{
		Use: "controller [FLAG...]", Short: "Clone the stragglers of Kubernetes Jobs (runs tailcut-controller)",
		Long: "Runs " + controllerProgram + "; flags are passed through. The program must be in tailcut's folder or on PATH.\n" +
			"It controls the Kubernetes Jobs whose spec.managedBy is tailcut.dev/controller.",
		Example: "  tailcut controller --kubeconfig ~/.kube/config --policy spark\n" +
			"  tailcut controller --print-manifests --image registry.example.org/tailcut-controller:1 | kubectl apply -f -",
		DisableFlagParsing: true,
		ValidArgsFunction: func(_ *cobra.Command, args []string, last string) ([]string, cobra.ShellCompDirective) {
			return completeSibling(controllerProgram, append(args, last)...)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			err := becomeSibling(controllerProgram, args...)
			// The program is not there to give help of its own.
			if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
				return cmd.Help()
			}
			return err
		},
	}
}
