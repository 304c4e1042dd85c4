// Command kubectl-tailcut is the plugin that kubectl runs as kubectl tailcut: it says why the pods of Jobs that Tailcut
// runs run or wait, and shows pools in a browser.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/cloud/internal/why"
	"github.com/tailcut/tailcut/internal/manual"
	"github.com/tailcut/tailcut/internal/version"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process. The status is 2 for wrong usage, 1 for what the cluster does not have or say.
func run(args []string, stdout, stderr io.Writer) int {
	started := false
	cmd := newCommand(&started)
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(context.Background())
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "kubectl tailcut: %v\n", err)
	if !started {
		return 2
	}
	return 1
}

func newCommand(started *bool) *cobra.Command {
	var kubeconfig, at, namespace string
	root := &cobra.Command{
		Use: "kubectl-tailcut", Short: "Say why the pods of Jobs that Tailcut runs run or wait",
		Annotations:  map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl tailcut"},
		Example:      "  kubectl tailcut explain job report\n  kubectl tailcut why report-7-x2k9p\n  kubectl tailcut pool batch\n  kubectl tailcut page",
		SilenceUsage: true, SilenceErrors: true, Version: version.Line("kubectl-tailcut"),
	}
	root.SetVersionTemplate("{{.Version}}\n")
	f := root.PersistentFlags()
	f.StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig file of the cluster (default: $KUBECONFIG, or ~/.kube/config)")
	f.StringVar(&at, "context", "", "context of the kubeconfig file (default: its current one)")
	f.StringVarP(&namespace, "namespace", "n", "", "namespace of the Job or pod (default: the context's)")
	connect := func() (*why.Cluster, error) { return why.Connect(kubeconfig, at, namespace) }
	ask := func(what func(*why.Cluster, context.Context, []string) ([]string, error)) func(*cobra.Command, []string) error {
		return func(cmd *cobra.Command, args []string) error {
			*started = true
			c, err := connect()
			if err != nil {
				return err
			}
			lines, err := what(c, cmd.Context(), args)
			for _, line := range lines {
				fmt.Fprintln(cmd.OutOrStdout(), line)
			}
			return err
		}
	}
	root.AddCommand(&cobra.Command{
		Use: "why POD", Short: "Say why a pod runs, waits or has ended", Args: podArgs, Example: "  kubectl tailcut why report-7-x2k9p",
		RunE: ask(func(c *why.Cluster, ctx context.Context, args []string) ([]string, error) { return c.Pod(ctx, args[0]) }),
	}, &cobra.Command{
		Use: "explain job NAME", Short: "Say what a Job has and what it waits for", Args: jobArgs, Example: "  kubectl tailcut explain job report -n team\n  kubectl tailcut explain job/report",
		RunE: ask(func(c *why.Cluster, ctx context.Context, args []string) ([]string, error) {
			return c.Job(ctx, args[len(args)-1])
		}),
	}, &cobra.Command{
		Use: "pool [NAME]", Short: "List pools, or the Jobs of one with what they wait for", Args: cobra.MaximumNArgs(1), Example: "  kubectl tailcut pool\n  kubectl tailcut pool batch",
		RunE: ask(func(c *why.Cluster, ctx context.Context, args []string) ([]string, error) {
			rows, err := c.Pools(ctx, strings.Join(args, ""))
			return aligned(rows), err
		}),
	}, newPage(started, connect), manual.NewCommand(nil))
	root.CompletionOptions.HiddenDefaultCmd = true
	return root
}

// podArgs takes the name of a pod.
func podArgs(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("expected the name of a pod, as in: kubectl tailcut why report-7-x2k9p")
	}
	return nil
}

// jobArgs takes "job NAME" and "job/NAME".
func jobArgs(_ *cobra.Command, args []string) error {
	if len(args) == 2 && args[0] == "job" || len(args) == 1 && strings.HasPrefix(args[0], "job/") {
		return nil
	}
	return fmt.Errorf("expected job NAME, as in: kubectl tailcut explain job report")
}

// aligned writes a table.
func aligned(rows [][]string) []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.TrimRight(strings.Join(row, "\t"), "\t"))
	}
	_ = w.Flush() // of a string
	if len(rows) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}
