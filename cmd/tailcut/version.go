package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/version"
)

// newVersion is the verb that says what --version says.
func newVersion() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of Tailcut", Example: "  tailcut version", Args: cobra.NoArgs,
		Long: "Prints the version of Tailcut: of the release or the module, or else the revision of the source. Every journal\n" +
			"records it.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version.Line("tailcut"))
			return err
		},
	}
}
