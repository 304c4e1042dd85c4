package kube

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
	"github.com/tailcut/tailcut/internal/portfolio"
	"github.com/tailcut/tailcut/sched"
)

// poolNameOf returns the SlotPool that a Job names, or else its namespace; "" if neither does. It does so before it is
// known that there are pools, too: until then the Job waits.
func (c *reconciler) poolNameOf(ctx context.Context, job *batchv1.Job) (string, error) {
	if name, said := job.Labels[PoolLabel]; said {
		return name, nil
	}
	if !c.everyone {
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

// place returns the pool of a Job, its rules and the slots of each part; nil rules for a Job alone, whose rules are its
// own. An error is unusable if it is the user's.
func (c *reconciler) place(ctx context.Context, job *batchv1.Job, s *state) (p *pool, how *rules, slots taken, err error) {
	name, err := c.poolNameOf(ctx, job)
	if err != nil {
		return nil, nil, nil, err
	}
	if was := cmp.Or(s.pool, s.guestOf); was != nil && was.name != name {
		c.leave(s, nil)
	}
	if name == "" {
		if s.pool == nil {
			s.pool = newPool("")
		}
		return s.pool, nil, nil, nil
	}
	sp, err := c.slotPool(ctx, job, name)
	if err != nil {
		return nil, nil, nil, err
	}
	r, err := c.rulesOf(sp)
	if err != nil {
		return nil, nil, nil, unusable{fmt.Errorf("SlotPool %s: %w", name, err)}
	}
	kind, slots := sp.Spec.capacity()
	if s.pool, err = c.poolOf(ctx, sp, kind); err != nil {
		return nil, nil, nil, err
	}
	s.pool.setKind(kind, c.now())
	if size := sizeOf(job, kind.unit); size == 0 {
		return nil, nil, nil, unusable{fmt.Errorf("SlotPool %s has slots by %s, and the pods of the Job request none", name, kind.unit)}
	} else if kind.unit != "" && size > slots[0] {
		return nil, nil, nil, unusable{fmt.Errorf("SlotPool %s has less %s than a pod of the Job requests", name, kind.unit)}
	}
	return s.pool, &r, slots, nil
}

// setKind notes what the slots of a pool are. Where that changes, the pool waits until all of its Jobs have come again:
// what their pods take is counted otherwise.
func (p *pool) setKind(k poolKind, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kind != k {
		p.expected, p.latest = sets.KeySet(p.entries).Union(p.expected), now
		p.become(k)
	}
}

// slotPool returns the SlotPool that a Job may be in.
func (c *reconciler) slotPool(ctx context.Context, job *batchv1.Job, name string) (*SlotPool, error) {
	if !c.pooling.Load() {
		return nil, unusable{fmt.Errorf("SlotPool %s: this controller has no pools, because it is for one namespace, or the resource is not installed", name)}
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
		r.policy = DefaultPoolPolicy
	}
	if err := sp.Spec.validateSlots(); err != nil {
		return r, err
	}
	r.poolKind, _ = sp.Spec.capacity()
	if sp.Spec.Bandwidth != nil {
		r.bandwidth = sp.Spec.Bandwidth.Value()
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
	r.confines = true
	for _, spec := range portfolio.Split(r.policy) {
		one, err := c.newPolicy(spec, "", false, r.place())
		if err != nil {
			return r, fmt.Errorf("policy: %s", strings.TrimPrefix(err.Error(), PolicyAnnotation+": "))
		}
		r.confines = r.confines && sched.Confines(one)
	}
	return r, nil
}

// poolOf returns the pool of a name. A new one expects all Jobs that are in it, and has the pods of those that are
// gone: the controller may just have started.
func (c *reconciler) poolOf(ctx context.Context, sp *SlotPool, kind poolKind) (*pool, error) {
	name := sp.Name
	c.mu.Lock()
	p := c.pools[name]
	c.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p = newPool(name)
	p.become(kind)
	p.latest, p.turns = c.now(), slices.Clone(sp.Status.Turns)
	var err error
	if p.expected, err = c.expected(ctx, name); err != nil {
		return nil, err
	}
	late, err := c.lateOf(ctx, p)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pools[name] == nil {
		c.pools[name] = p
		for owner, all := range late {
			c.late[owner] = append(c.late[owner], all...)
		}
	}
	return c.pools[name], nil
}

// lateOf finds the pods that have slots of a new pool and whose Jobs are gone, and counts them.
func (c *reconciler) lateOf(ctx context.Context, p *pool) (map[types.NamespacedName][]*state, error) {
	list := &corev1.PodList{}
	if err := c.client.List(ctx, list, client.MatchingLabels{PoolLabel: p.name}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	late := map[types.NamespacedName][]*state{}
	for i := range list.Items {
		x := &list.Items[i]
		owner := metav1.GetControllerOf(x)
		if owner == nil || len(alive([]*corev1.Pod{x})) == 0 {
			continue
		}
		job, name := &batchv1.Job{}, types.NamespacedName{Namespace: x.Namespace, Name: owner.Name}
		if err := c.client.Get(ctx, name, job); client.IgnoreNotFound(err) != nil {
			return nil, err
		} else if job.UID == owner.UID {
			continue
		}
		if _, known := p.guests[owner.UID]; !known {
			late[name] = append(late[name], &state{uid: owner.UID, guestOf: p})
		}
		has := p.taken([]*corev1.Pod{x}, 0)
		p.active.add(has, 1)
		has.add(p.guests[owner.UID], 1)
		p.guests[owner.UID] = has
	}
	return late, nil
}

// expected returns the Jobs that are going to come to a pool, and those whose pods have slots of it until somebody has
// looked at them.
func (c *reconciler) expected(ctx context.Context, name string) (sets.Set[types.UID], error) {
	list, all := &batchv1.JobList{}, sets.New[types.UID]()
	if err := c.client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	for i := range list.Items {
		job := &list.Items[i]
		if ptr.Deref(job.Spec.ManagedBy, "") != ManagedBy {
			continue
		}
		if its, err := c.poolNameOf(ctx, job); err != nil {
			return nil, err
		} else if its != name {
			continue
		}
		if !comes(job) {
			if pods, _, err := c.podsOf(ctx, client.ObjectKeyFromObject(job), job.UID); err != nil {
				return nil, err
			} else if len(alive(pods)) == 0 {
				continue
			}
		}
		all.Insert(job.UID)
	}
	return all, nil
}

// comes tells whether a Job asks for slots.
func comes(job *batchv1.Job) bool {
	ending := finished(job) || conditionOf(&job.Status, batchv1.JobFailureTarget) != nil || conditionOf(&job.Status, batchv1.JobSuccessCriteriaMet) != nil
	return job.DeletionTimestamp == nil && !ending && !suspended(job) && !(isQueue(job) && job.Status.Succeeded > 0) && ptr.Deref(job.Spec.Parallelism, 1) != 0 && tasksOf(job) <= mostTasks
}

// hostOf returns the pool that a Job is in, has slots of, or is expected in; nil for none.
func (c *reconciler) hostOf(s *state) *pool {
	if p := cmp.Or(s.pool, s.guestOf); p != nil {
		return p
	}
	c.mu.Lock()
	all := slices.Collect(maps.Values(c.pools))
	c.mu.Unlock() // a pool's lock comes before this one
	for _, p := range all {
		if p.expects(s.uid) {
			return p
		}
	}
	return nil
}

// leave takes a Job out of its pool, whose pods may still take so much of it.
func (c *reconciler) leave(s *state, still taken) {
	p := c.hostOf(s)
	if p != nil {
		c.wakeAll(p.leave(s.uid, still))
		c.wakePool(p.name)
	}
	s.pool, s.member, s.guestOf = nil, nil, nil
	if still.any() {
		s.guestOf = p
	}
}

// depart takes a Job out of its pool whose pods keep their slots as long as they run.
func (c *reconciler) depart(job *batchv1.Job, s *state, pods []*corev1.Pod) {
	var still taken
	if p := c.hostOf(s); p != nil {
		p.mu.Lock()
		still = p.taken(alive(pods), sizeOf(job, p.kind.unit))
		still.add(s.made(p.kind.names()), 1)
		p.mu.Unlock()
	}
	c.leave(s, still)
}

// finish lets a Job go that is over, and whose pods that have been seen are being deleted. Those that were made and
// have not been seen keep their slots until they are.
func (c *reconciler) finish(name types.NamespacedName, uid types.UID, pods []*corev1.Pod) (next time.Time) {
	c.mu.Lock()
	s := c.jobs[name]
	c.mu.Unlock()
	if s != nil && s.uid == uid {
		s.next = time.Time{}
		if s.meet(refsOf(pods), c.now()); len(s.unseen) > 0 {
			c.leave(s, c.madeBy(s))
			return s.next
		}
	}
	c.forget(name, uid)
	return next
}

// madeBy returns what pods of a Job take of its pool that were made and have not been seen.
func (c *reconciler) madeBy(s *state) taken {
	p := c.hostOf(s)
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.made(p.kind.names())
}

// taken returns what pods take of the pool: so much each, or what they request for 0.
func (p *pool) taken(pods []*corev1.Pod, each int64) taken {
	names := p.kind.names()
	sum := make(taken, len(names))
	for _, x := range pods {
		if z := partIn(names, partOf(x)); z >= 0 {
			sum[z] += cmp.Or(each, sizeOfPod(&x.Spec, p.kind.unit))
		}
	}
	return sum
}

// mourn is for a name whose Job is uid now, "" for none, and for the pods of others that had it. A Job may be gone
// before Kubernetes' garbage collection deletes its pods: until then they have their slots. It returns when to come
// back, the zero time for when something happens.
func (c *reconciler) mourn(name types.NamespacedName, uid types.UID, left []*corev1.Pod, now time.Time) (next time.Time) {
	c.mu.Lock()
	all := c.late[name]
	delete(c.late, name)
	if s := c.jobs[name]; s != nil && s.uid != uid {
		delete(c.jobs, name)
		all = append(all, s)
	}
	c.mu.Unlock()
	var still []*state
	for _, s := range all {
		c.clones.drop(s.uid)
		s.next = time.Time{}
		if still := c.takenBy(s, left, now); !still.any() || s.guestOf == nil || !slices.Equal(s.guestOf.guest(s.uid), still) {
			c.leave(s, still)
		}
		if s.guestOf == nil {
			continue
		}
		if still = append(still, s); next.IsZero() || !s.next.IsZero() && s.next.Before(next) {
			next = s.next
		}
	}
	if len(still) > 0 {
		c.mu.Lock()
		c.late[name] = still
		c.mu.Unlock()
	}
	return next
}

// takenBy returns what the pods of a Job take that is deleted: those among some, and those that were made and have not
// been seen.
func (c *reconciler) takenBy(s *state, pods []*corev1.Pod, now time.Time) taken {
	p := c.hostOf(s)
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var own []*corev1.Pod
	for _, x := range pods {
		if owner := metav1.GetControllerOf(x); owner != nil && owner.UID == s.uid {
			own = append(own, x)
		}
	}
	still := p.taken(alive(own), 0)
	s.meet(refsOf(own), now)
	still.add(s.made(p.kind.names()), 1)
	return still
}

// refsOf returns which attempts pods are of, by their labels.
func refsOf(pods []*corev1.Pod) (all []sight) {
	for _, p := range pods {
		task, err := strconv.Atoi(cmp.Or(p.Labels[indexLabel], p.Labels[podtemplate.TaskLabel]))
		number, err2 := strconv.Atoi(p.Labels[podtemplate.AttemptLabel])
		if err == nil && err2 == nil {
			all = append(all, sight{ref: ref{task, number}})
		}
	}
	return all
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
