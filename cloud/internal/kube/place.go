package kube

import (
	"context"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tailcut/tailcut/sched"
)

// poolNameOf returns the SlotPool that a Job names, or else its namespace; "" if neither does.
func (c *reconciler) poolNameOf(ctx context.Context, job *batchv1.Job) (string, error) {
	if name, said := job.Labels[PoolLabel]; said {
		return name, nil
	}
	if !c.pooling {
		return "", nil
	}
	ns, err := c.namespace(ctx, job.Namespace)
	if err != nil {
		return "", err
	}
	return ns.Labels[PoolLabel], nil
}

// namespace returns a namespace's labels; none if it is gone.
func (c *reconciler) namespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	ns := &corev1.Namespace{}
	return ns, client.IgnoreNotFound(c.client.Get(ctx, client.ObjectKey{Name: name}, ns))
}

// unusable is why a Job cannot be in the pool that it names. It waits then: what runs of it runs on, and no more is
// started.
type unusable struct{ error }

// place returns the pool of a Job, its rules and slots; nil rules for a Job alone, whose rules are its own. An error is
// unusable if it is the user's.
func (c *reconciler) place(ctx context.Context, job *batchv1.Job, s *state) (p *pool, how *rules, slots int, err error) {
	name, err := c.poolNameOf(ctx, job)
	if err != nil {
		return nil, nil, 0, err
	}
	if s.pool != nil && s.pool.name != name {
		c.leave(s, 0)
	}
	if name == "" {
		if s.pool == nil {
			s.pool = newPool("")
		}
		return s.pool, nil, 0, nil
	}
	sp, err := c.slotPool(ctx, job, name)
	if err != nil {
		return nil, nil, 0, err
	}
	r, err := c.rulesOf(sp)
	if err != nil {
		return nil, nil, 0, unusable{fmt.Errorf("SlotPool %s: %w", name, err)}
	}
	if s.pool, err = c.poolOf(ctx, name); err != nil {
		return nil, nil, 0, err
	}
	return s.pool, &r, int(sp.Spec.Slots), nil
}

// slotPool returns the SlotPool that a Job may be in.
func (c *reconciler) slotPool(ctx context.Context, job *batchv1.Job, name string) (*SlotPool, error) {
	if !c.pooling {
		return nil, unusable{fmt.Errorf("SlotPool %s: this controller has no pools, because it is for one namespace or started before the resource was installed", name)}
	}
	sp := &SlotPool{}
	if err := c.client.Get(ctx, client.ObjectKey{Name: name}, sp); apierrors.IsNotFound(err) {
		return nil, unusable{fmt.Errorf("there is no SlotPool %s", name)}
	} else if err != nil {
		return nil, err
	}
	if sp.Spec.NamespaceSelector == nil {
		return sp, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(sp.Spec.NamespaceSelector)
	if err != nil {
		return nil, unusable{fmt.Errorf("SlotPool %s: namespaceSelector: %w", name, err)}
	}
	ns, err := c.namespace(ctx, job.Namespace)
	if err != nil {
		return nil, err
	}
	if !selector.Matches(labels.Set(ns.Labels)) {
		return nil, unusable{fmt.Errorf("SlotPool %s does not select namespace %s", name, job.Namespace)}
	}
	return sp, nil
}

// rulesOf translates a SlotPool. The error says what is wrong with it.
func (c *reconciler) rulesOf(sp *SlotPool) (rules, error) {
	r := rules{policy: sp.Spec.Policy, shared: true, limits: sched.DefaultLimits()}
	if r.policy == "" {
		r.policy = defaultPoolPolicy
	}
	if sp.Spec.Slots < 1 || sp.Spec.Slots > mostSlots {
		return r, fmt.Errorf("slots: %d is not between 1 and %d", sp.Spec.Slots, mostSlots)
	}
	if n := sp.Spec.CloneBudget; n != nil {
		if *n < 0 {
			return r, fmt.Errorf("cloneBudget: %d is negative", *n)
		}
		r.limits.Clones = sched.CloneBudget{Floor: int(*n)}
	}
	if d := sp.Spec.MaxWait; d != nil {
		if d.Duration < 0 {
			return r, fmt.Errorf("maxWait: %v is negative", d.Duration)
		}
		r.limits.MaxWait = sched.Time(d.Duration)
	}
	switch sp.Spec.Preemption {
	case "", PreemptWhatIsKept:
		r.limits.Gentle = true
	case PreemptAny:
	default:
		return r, fmt.Errorf("preemption: %q is neither %s nor %s", sp.Spec.Preemption, PreemptWhatIsKept, PreemptAny)
	}
	if _, err := c.newPolicy(r.policy, "", false); err != nil {
		return r, fmt.Errorf("policy: %s", strings.TrimPrefix(err.Error(), PolicyAnnotation+": "))
	}
	return r, nil
}

// poolOf returns the pool of a name. A new one expects all Jobs that are in it: the controller may just have started.
func (c *reconciler) poolOf(ctx context.Context, name string) (*pool, error) {
	c.mu.Lock()
	p := c.pools[name]
	c.mu.Unlock()
	if p != nil {
		return p, nil
	}
	expected, err := c.expected(ctx, name)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pools[name] == nil {
		c.pools[name] = newPool(name)
		c.pools[name].expected, c.pools[name].latest = expected, c.now()
	}
	return c.pools[name], nil
}

// expected returns the Jobs that are going to come to a pool.
func (c *reconciler) expected(ctx context.Context, name string) (sets.Set[types.UID], error) {
	list, all := &batchv1.JobList{}, sets.New[types.UID]()
	if err := c.client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	for i := range list.Items {
		job := &list.Items[i]
		ending := finished(job) || conditionOf(&job.Status, batchv1.JobFailureTarget) != nil || conditionOf(&job.Status, batchv1.JobSuccessCriteriaMet) != nil
		if ptr.Deref(job.Spec.ManagedBy, "") != ManagedBy || job.DeletionTimestamp != nil || ending || suspended(job) ||
			isQueue(job) && job.Status.Succeeded > 0 || ptr.Deref(job.Spec.Parallelism, 1) == 0 || tasksOf(job) > mostTasks {
			continue
		}
		if its, err := c.poolNameOf(ctx, job); err != nil {
			return nil, err
		} else if its == name {
			all.Insert(job.UID)
		}
	}
	return all, nil
}

// leave takes a Job out of its pool, of which so many pods may still run.
func (c *reconciler) leave(s *state, pods int) {
	if s.pool != nil {
		c.wakeAll(s.pool.leave(s.uid, pods))
		c.wakePool(s.pool.name)
	}
	s.pool, s.member = nil, nil
}

// wakeAll has Jobs looked at.
func (c *reconciler) wakeAll(names []types.NamespacedName) {
	if c.wake == nil {
		return
	}
	for _, name := range names {
		c.wake(name)
	}
}
