// Command tailcut-controller runs Kubernetes Jobs whose spec.managedBy is tailcut.dev/controller: ordinary Jobs, with
// clones of their stragglers.
//
// It is a program of its own because tailcut starts itself once per attempt, and what Kubernetes' libraries do when a
// program starts would be paid for each time (docs/decisions).
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/cloud/internal/kube"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/manual"
	"github.com/tailcut/tailcut/internal/outlook"
	"github.com/tailcut/tailcut/internal/version"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process: tests call it. The status is 0 when the controller was asked to stop, 2 for wrong
// usage, 1 for everything else.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	started := false
	cmd := newCommand(&started)
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "tailcut-controller: %v\n", err)
	if !started {
		return 2
	}
	return 1
}

func newCommand(started *bool) *cobra.Command {
	o := kube.Options{}
	part, image, boost := "", "", ""
	cmd := &cobra.Command{
		Use: "tailcut-controller", Short: "Run Kubernetes Jobs with clones of their stragglers", Args: cobra.NoArgs,
		Long: "Reconciles every batch/v1 Job whose spec.managedBy is " + kube.ManagedBy + ". Everything else about\n" +
			"the Job stays as it is; its annotation " + kube.PolicyAnnotation + " names the policy.",
		Example: "  tailcut-controller --kubeconfig ~/.kube/config --policy spark\n" +
			"  tailcut-controller --print-manifests --image registry.example.org/tailcut-controller:1 | kubectl apply -f -",
		SilenceUsage: true, SilenceErrors: true,
		Version: version.Line("tailcut-controller"),
	}
	cmd.SetVersionTemplate("{{.Version}}\n")
	cmd.AddCommand(manual.NewCommand(nil))
	cmd.SetHelpCommand(&cobra.Command{Use: "help", Hidden: true}) // --help is enough for one command
	cmd.CompletionOptions.HiddenDefaultCmd = true
	f := cmd.Flags()
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig file of the cluster (default: $KUBECONFIG, ~/.kube/config, or the cluster that the process runs in)")
	f.StringVar(&o.Namespace, "namespace", "", "reconcile the Jobs of this namespace only")
	f.Float32Var(&o.QPS, "kube-api-qps", 100, "requests per second to the API server")
	f.IntVar(&o.Burst, "kube-api-burst", 200, "burst of requests to the API server")
	f.StringVar(&o.Policy, "policy", policy.Default, "default policy, for Jobs that name none; see 'tailcut policies'")
	f.IntVar(&o.MaxClones, "max-clones", 100, "maximum number of concurrent clones of all Jobs")
	f.IntVar(&o.NamespaceClones, "max-clones-per-namespace", 0, "maximum number of concurrent clones in one namespace (default: half of --max-clones; all of them with --namespace)")
	f.Float64Var(&o.ClonesPerSecond, "clones-per-second", 10, "maximum rate of clone starts, over all Jobs")
	f.StringVar(&o.ClonePriority, "clone-priority-class", "", "priority class of clones (default: the Job's)")
	f.DurationVar(&o.LoserGrace, "loser-grace", time.Second, "maximum grace period of a losing attempt's pod; 0 keeps the pod's own")
	f.DurationVar(&o.NodeLost, "lost-node-after", 30*time.Second, "remove losing attempts from a node that has not been ready for this time; 0 for never")
	f.StringVar(&o.MetricsAddress, "metrics-address", "127.0.0.1:8080", "where Prometheus finds /metrics; beyond loopback it uses HTTPS and asks the API server who may get /metrics; 0 turns it off")
	f.StringVar(&o.ProbeAddress, "probe-address", "127.0.0.1:8081", "where the kubelet finds /healthz and /readyz; 0 turns it off")
	f.StringVar(&o.History, "history-namespace", "", "namespace for the history of pod durations, one ConfigMap per owner or name of Jobs (default: no history)")
	f.StringVar(&boost, "kueue-boost", "", "order the queues of Kueue, for Jobs of any controller; srpt admits those with the least work left first (default: Kueue's own order)")
	f.DurationVar(&o.BoostMaxWait, "kueue-max-wait", 24*time.Hour, "with --kueue-boost, put a Job that has waited this long in front; 0 for never")
	f.BoolVar(&o.Winners, "winners", true, "record which attempt won each task, in ConfigMaps JOB-winners")
	f.StringVar(&o.LeaderElection, "leader-election-namespace", "", "namespace of the leader's lease, for more than one controller")
	f.StringVar(&part, "print-manifests", "", "print the manifests that run the controller with the other flags, and exit; =controller, =pools and =admission print parts")
	f.Lookup("print-manifests").NoOptDefVal = partAll
	f.StringVar(&image, "image", "tailcut-controller:latest", "container image in the manifests")
	_ = cmd.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions(policy.Names(), cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if boost != "" && boost != "srpt" {
			return fmt.Errorf("--kueue-boost: %q is not srpt, the only order that there is", boost)
		}
		o.Boost = boost != ""
		if err := check(&o, f); err != nil {
			return err
		}
		if f.Changed("print-manifests") {
			return printManifests(cmd.OutOrStdout(), f, image, part)
		}
		o.NewPolicy, o.Chance, o.AtRisk = newPolicy, chance, plan.AtRisk
		o.Log = slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), nil))
		*started = true
		return kube.Run(cmd.Context(), o)
	}
	return cmd
}

// check checks the flags, and sets what follows from others.
func check(o *kube.Options, f *pflag.FlagSet) error {
	if _, err := policyOf(o.Policy, true, kube.Place{}); err != nil {
		return fmt.Errorf("--policy: %w", err)
	}
	if o.MaxClones < 0 || o.NamespaceClones < 0 || !(o.ClonesPerSecond > 0) {
		return fmt.Errorf("--max-clones and --max-clones-per-namespace must not be negative, and --clones-per-second must be above 0")
	}
	if !f.Changed("max-clones-per-namespace") {
		if o.NamespaceClones = o.MaxClones; o.Namespace == "" {
			o.NamespaceClones = (o.MaxClones + 1) / 2
		}
	}
	if o.LoserGrace < 0 || o.NodeLost < 0 || o.BoostMaxWait < 0 {
		return fmt.Errorf("--loser-grace, --lost-node-after and --kueue-max-wait must not be negative")
	}
	return nil
}

// policyOf makes the policy of one Job or of a pool. As in run and serve, a policy with slots of time decides at every
// event unless it names a slot, so that no pod waits for a boundary. To plan anew for a deadline is to begin clones
// anew: pods take seconds for that, and lose what they have done unless they can go on where another is.
func policyOf(spec string, resumable bool, in kube.Place) (sched.Policy, error) {
	at, interval := policy.Place{Name: "a Job's pods"}, ""
	if in.Shared {
		at = policy.Place{Name: "a pool", Jobs: true, Classes: in.Classes > 1, Sites: in.Zones}
	}
	if resumable {
		interval = "30s"
	}
	parts := strings.Split(spec, "/") // one for each class of slots, if there are several
	for i := range parts {
		var err error
		if parts[i], err = policy.AtEvents(parts[i]); err != nil {
			return nil, err
		}
		if parts[i], err = policy.ForDeadlines(parts[i], interval); err != nil {
			return nil, err
		}
		if _, err = policy.Fit(parts[i], at); err != nil {
			return nil, err
		}
	}
	p, err := policy.NewPerClass(strings.Join(parts, "/"), 0, in.Classes)
	if err != nil {
		return nil, err
	}
	if sched.Paces(p) {
		return nil, live.ErrPaces
	}
	return p, nil
}

// newPolicy is kube.Options.NewPolicy.
func newPolicy(spec, law string, resumable bool, at kube.Place) (sched.Policy, error) {
	if _, err := policyOf(spec, resumable, at); err != nil {
		return nil, fmt.Errorf("%s: %w", kube.PolicyAnnotation, err)
	}
	spec, err := policy.WithLaw(spec, law)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kube.LawAnnotation, err)
	}
	return policyOf(spec, resumable, at)
}

// chance is kube.Options.Chance.
func chance(v *sched.View, job sched.JobID, law string) (float64, bool) {
	out, err := outlook.New(law)
	if err != nil {
		return 0, false
	}
	return out.PoCD(v, job)
}
