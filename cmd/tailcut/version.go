package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version names the build.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionOf(info)
}

// versionOf returns the module's version, or where the build has none, the revision of the source that it was made of.
func versionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	vcs := map[string]string{}
	for _, s := range info.Settings {
		vcs[s.Key] = s.Value
	}
	v := cmp.Or(vcs["vcs.revision"], "(devel)")
	if vcs["vcs.modified"] == "true" {
		v += "+dirty"
	}
	return v
}

// newVersion is the verb that says what --version says.
func newVersion() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print which version of Tailcut this is", Example: "  tailcut version", Args: cobra.NoArgs,
		Long: "Print the version of Tailcut, as the journal of a run keeps it: of the module, or the revision of the source.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine())
			return err
		},
	}
}

func versionLine() string {
	return fmt.Sprintf("tailcut %s %s %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
