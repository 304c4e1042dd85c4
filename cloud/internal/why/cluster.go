package why

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tailcut/tailcut/cloud/internal/kube"
)

// Cluster is where to look.
type Cluster struct {
	api       client.Reader
	namespace string
	context   string // of the kubeconfig file
}

// Connect finds the cluster as kubectl does: by the file, or else by the environment, and by a context and a namespace
// in place of the file's.
func Connect(kubeconfig, at, namespace string) (*Cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: at})
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, err
	}
	if namespace == "" {
		if namespace, _, err = loader.Namespace(); err != nil {
			return nil, err
		}
	}
	config.UserAgent = "kubectl-tailcut"
	scheme, err := kube.Scheme()
	if err != nil {
		return nil, err
	}
	api, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	if at == "" {
		raw, err := loader.RawConfig()
		if err != nil {
			return nil, err
		}
		at = raw.CurrentContext
	}
	return &Cluster{api, namespace, at}, nil
}

// facts are what there is of a Job.
type facts struct {
	now    time.Time
	job    *batchv1.Job
	pods   []corev1.Pod // by name
	pool   *kube.SlotPool
	named  string         // the pool that the Job or its namespace names
	events []corev1.Event // about the Job, the latest last
}

// Pod says why a pod runs, waits or has ended.
func (c *Cluster) Pod(ctx context.Context, name string) ([]string, error) {
	name = strings.TrimPrefix(name, "pod/")
	pod := &corev1.Pod{}
	err := c.api.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: name}, pod)
	if apierrors.IsNotFound(err) {
		return c.past(ctx, name, err)
	} else if err != nil {
		return nil, err
	}
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind != "Job" {
		return nil, fmt.Errorf("pod %s is of no Job", name)
	}
	f, err := c.facts(ctx, owner.Name)
	if err != nil {
		return nil, err
	}
	return f.why(pod), nil
}

// past is for a pod that is gone, of which events may tell.
func (c *Cluster) past(ctx context.Context, name string, gone error) ([]string, error) {
	list := &corev1.EventList{}
	if err := c.api.List(ctx, list, client.InNamespace(c.namespace)); err != nil {
		return nil, err
	}
	lines := []string{fmt.Sprintf("Pod %s is gone.", name)}
	sortEvents(list.Items)
	for i := range list.Items {
		if e := &list.Items[i]; e.Related != nil && e.Related.Name == name || e.InvolvedObject.Kind == "Pod" && e.InvolvedObject.Name == name {
			lines = append(lines, "  "+eventLine(e, time.Now()))
		}
	}
	if len(lines) == 1 {
		return nil, gone
	}
	return lines, nil
}

// Job says what a Job has and what it waits for.
func (c *Cluster) Job(ctx context.Context, name string) ([]string, error) {
	f, err := c.facts(ctx, strings.TrimPrefix(name, "job/"))
	if err != nil {
		return nil, err
	}
	return f.explain(), nil
}

func (c *Cluster) facts(ctx context.Context, name string) (*facts, error) {
	f := &facts{now: time.Now(), job: &batchv1.Job{}}
	if err := c.api.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: name}, f.job); err != nil {
		return nil, err
	}
	pods := &corev1.PodList{}
	if err := c.api.List(ctx, pods, client.InNamespace(c.namespace), client.MatchingLabels{batchv1.ControllerUidLabel: string(f.job.UID)}); err != nil {
		return nil, err
	}
	f.pods = pods.Items
	slices.SortFunc(f.pods, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	events := &corev1.EventList{}
	if err := c.api.List(ctx, events, client.InNamespace(c.namespace), client.MatchingFields{"involvedObject.uid": string(f.job.UID)}); err != nil {
		return nil, err
	}
	f.events = events.Items
	sortEvents(f.events)
	return f, c.findPool(ctx, f)
}

// findPool finds the pool of the Job, as the controller does. Who may not look at namespaces or pools is not told.
func (c *Cluster) findPool(ctx context.Context, f *facts) error {
	said := false
	if f.named, said = f.job.Labels[kube.PoolLabel]; !said {
		ns := &corev1.Namespace{}
		if err := c.api.Get(ctx, client.ObjectKey{Name: c.namespace}, ns); err != nil && !apierrors.IsForbidden(err) {
			return err
		}
		f.named = ns.Labels[kube.PoolLabel]
	}
	if f.named == "" {
		return nil
	}
	sp := &kube.SlotPool{}
	switch err := c.api.Get(ctx, client.ObjectKey{Name: f.named}, sp); {
	case err == nil:
		f.pool = sp
	case !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) && !meta.IsNoMatchError(err):
		return err
	}
	return nil
}

// Pools lists all pools, or who has what of one.
func (c *Cluster) Pools(ctx context.Context, name string) ([][]string, error) {
	if name != "" {
		sp := &kube.SlotPool{}
		if err := c.api.Get(ctx, client.ObjectKey{Name: strings.TrimPrefix(name, "slotpool/")}, sp); err != nil {
			return nil, err
		}
		return members(sp), nil
	}
	list := &kube.SlotPoolList{}
	if err := c.api.List(ctx, list); err != nil {
		return nil, err
	}
	return pools(list.Items), nil
}

func sortEvents(all []corev1.Event) {
	slices.SortStableFunc(all, func(a, b corev1.Event) int { return eventTime(&a).Compare(eventTime(&b)) })
}

// eventTime is when an event happened last.
func eventTime(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	}
	return e.CreationTimestamp.Time
}
