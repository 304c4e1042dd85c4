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
		Use: "controller [FLAG...]", Short: "Run Kubernetes Jobs with clones of their stragglers (tailcut-controller)",
		Long: "Become the program " + controllerProgram + ", which is in the folder of tailcut or on PATH: the controller of the Kubernetes Jobs whose\n" +
			"spec.managedBy is tailcut.dev/controller. It takes all flags; 'tailcut controller --help' tells of them.",
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
