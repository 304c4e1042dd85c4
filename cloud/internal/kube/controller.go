package kube

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
	"github.com/tailcut/tailcut/sched"
)

// Place is what a policy has to divide.
type Place struct {
	Shared  bool // by several Jobs; else it is a Job alone
	Zones   bool // slots are in zones
	Classes int  // of slots, at least 1
}

// Options say how a controller works.
type Options struct {
	Kubeconfig string // file; "" for the environment's, or else the cluster that the process runs in
	Namespace  string // whose Jobs are reconciled; "" for all
	QPS        float32
	Burst      int

	Policy string // of Jobs without PolicyAnnotation
	// NewPolicy makes the policy of a Job or a pool; its error names the annotation that is wrong.
	NewPolicy func(spec, law string, resumable bool, at Place) (sched.Policy, error)
	// Chance is that of meeting a job's deadline; ok is false if it cannot be told.
	Chance          func(v *sched.View, job sched.JobID, law string) (p float64, ok bool)
	AtRisk          float64       // chance below which it is said so
	History         string        // namespace in which durations are kept for later Jobs; "" for none
	Winners         bool          // keep which attempts won in ConfigMaps beside each Job
	MaxClones       int           // at once, of all Jobs
	ClonesPerSecond float64       // of all Jobs
	NamespaceClones int           // at once, of the Jobs of one namespace
	ClonePriority   string        // priority class of clones; "" for that of the Job
	LoserGrace      time.Duration // for which losers may take to end; 0 for their own grace periods
	NodeLost        time.Duration // after which a node that is not ready is taken for gone, for losers; 0 for never
	Boost           bool          // order Kueue's queues by size
	BoostMaxWait    time.Duration // after which a Workload is first; 0 for never

	MetricsAddress string // host:port; "0" for none
	ProbeAddress   string // likewise
	LeaderElection string // namespace of the lease; "" for a controller that is alone
	Log            *slog.Logger
}

// workers is how many Jobs are reconciled at once.
const workers = 8

// Run reconciles Jobs until ctx is cancelled or the lease is lost. The error says what could not be reached.
func Run(ctx context.Context, o Options) error {
	ctrl.SetLogger(logr.FromSlogHandler(o.Log.Handler()))
	config, err := restConfig(&o)
	if err != nil {
		return err
	}
	ours, err := labels.NewRequirement(podtemplate.AttemptLabel, selection.Exists, nil)
	if err != nil {
		return err
	}
	scheme, err := Scheme()
	if err != nil {
		return err
	}
	caches := cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {
		// which nobody reads, and which are much of a pod
		Label: labels.NewSelector().Add(*ours), Transform: cache.TransformStripManagedFields(),
	}}}
	if o.Namespace != "" {
		caches.DefaultNamespaces = map[string]cache.Config{o.Namespace: {}}
	}
	m, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Cache: caches, Metrics: metricsOptions(o.MetricsAddress), HealthProbeBindAddress: o.ProbeAddress,
		LeaderElection: o.LeaderElection != "", LeaderElectionNamespace: o.LeaderElection, LeaderElectionID: "tailcut-controller",
		LeaderElectionReleaseOnCancel: true,
		// or it would list them
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.ConfigMap{}, &corev1.Node{}, &corev1.PersistentVolumeClaim{}}}},
	})
	if err != nil {
		return err
	}
	if err := m.AddHealthzCheck("alive", healthz.Ping); err != nil {
		return err
	}
	if err := m.AddReadyzCheck("alive", healthz.Ping); err != nil {
		return err
	}
	if err := m.GetFieldIndexer().IndexField(ctx, &corev1.Pod{}, ownerIndex, jobName); err != nil {
		return err
	}
	c := &reconciler{
		client: m.GetClient(), events: m.GetEventRecorder("tailcut-controller"), newPolicy: o.NewPolicy, chance: o.Chance, atRisk: o.AtRisk, past: o.History, winners: o.Winners,
		policy: o.Policy, class: o.ClonePriority, grace: o.LoserGrace, nodeLost: o.NodeLost,
		clones: newCloneGate(o.MaxClones, o.NamespaceClones, o.ClonesPerSecond), now: time.Now, jobs: map[types.NamespacedName]*state{}, late: map[types.NamespacedName][]*state{},
		pools: map[string]*pool{}, everyone: o.Namespace == "",
	}
	jobs := &door{}
	c.wake = func(name types.NamespacedName) { jobs.knock(name, 0) }
	err = ctrl.NewControllerManagedBy(m).For(&batchv1.Job{}).Owns(&corev1.Pod{}).
		WatchesRawSource(source.Func(jobs.open)).WithOptions(controller.Options{MaxConcurrentReconciles: workers}).Complete(c)
	if err != nil {
		return err
	}
	if err := m.Add(manager.RunnableFunc(c.keepNodes)); err != nil {
		return err
	}
	if c.everyone { // SlotPools are in no namespace, so a controller of one has none
		if err := await(m, poolVersion.WithKind("SlotPool"), o.Log, c.managePools); err != nil {
			return err
		}
	}
	if o.Boost {
		manage := func(m ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(m).For(&Workload{}).Complete(boosts{c, o.BoostMaxWait})
		}
		if err := await(m, workloadVersion.WithKind("Workload"), o.Log, manage); err != nil {
			return err
		}
	}
	return m.Start(ctx)
}

// definedEvery is how often a controller looks whether the cluster has got a resource.
const definedEvery = 5 * time.Second

// await reconciles objects of a kind as soon as there can be some: the resource may be installed after the controller.
func await(m ctrl.Manager, kind schema.GroupVersionKind, out *slog.Logger, manage func(ctrl.Manager) error) error {
	defined := func() (bool, error) {
		_, err := m.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		if meta.IsNoMatchError(err) {
			return false, nil
		}
		return err == nil, err
	}
	yes, err := defined()
	if err != nil {
		return err
	}
	if yes {
		return manage(m)
	}
	out.Info("the cluster has no resource " + kind.Kind + " as yet")
	return m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		return wait.PollUntilContextCancel(ctx, definedEvery, false, func(context.Context) (bool, error) {
			yes, err := defined()
			if !yes || err != nil { // which may pass
				return false, nil
			}
			out.Info("the cluster has the resource " + kind.Kind + " now")
			return true, manage(m)
		})
	}))
}

func (c *reconciler) managePools(m ctrl.Manager) error {
	pools := &door{}
	c.look.Store(pools)
	err := ctrl.NewControllerManagedBy(m).For(&SlotPool{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(source.Func(pools.open)).Complete(poolReconciler{c})
	if err == nil {
		c.pooling.Store(true)
	}
	return err
}

// door lets the program put names into the queue of a controller, once that has one.
type door struct {
	queue atomic.Pointer[workqueue.TypedRateLimitingInterface[reconcile.Request]]
}

func (d *door) open(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	d.queue.Store(&queue)
	return nil
}

func (d *door) knock(name types.NamespacedName, after time.Duration) {
	if q := d.queue.Load(); q != nil {
		(*q).AddAfter(reconcile.Request{NamespacedName: name}, after)
	}
}

// jobName is the cache's index of pods by the name of their Job.
func jobName(o client.Object) []string {
	if owner := metav1.GetControllerOf(o); owner != nil && owner.Kind == "Job" {
		return []string{owner.Name}
	}
	return nil
}

func restConfig(o *Options) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst, config.UserAgent = o.QPS, o.Burst, "tailcut-controller"
	return config, nil
}
