package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tailcut/tailcut/internal/portfolio"
	"github.com/tailcut/tailcut/sched"
)

// statusEvery is how often at most the status of a pool is written.
const statusEvery = time.Second

// mostMembers bounds the Jobs that a status lists, so that it stays a small object.
const mostMembers = 100

// readyCondition holds while a pool starts pods.
const readyCondition = "Ready"

// poolReconciler writes the status of SlotPools, and has their Jobs looked at when they change.
type poolReconciler struct{ *reconciler }

// Reconcile is for one SlotPool.
func (c poolReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	sp := &SlotPool{}
	err := c.client.Get(ctx, req.NamespacedName, sp)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, err
	}
	status := c.statusOf(sp, c.now())
	if observePool(req.Name, status); err != nil {
		observePool(req.Name, nil)
	}
	ready := apimeta.FindStatusCondition(sp.Status.Conditions, readyCondition)
	if err != nil || ready == nil || ready.ObservedGeneration != sp.Generation { // it is new, other, or gone
		if err := c.wakeJobsOf(ctx, req.Name); err != nil {
			return reconcile.Result{}, err
		}
	}
	if err != nil || equality.Semantic.DeepEqual(&sp.Status, status) {
		return reconcile.Result{}, nil
	}
	sp = sp.DeepCopy()
	sp.Status = *status
	return reconcile.Result{}, c.client.Status().Update(ctx, sp)
}

// wakeJobsOf has the Jobs looked at that name a pool.
func (c *reconciler) wakeJobsOf(ctx context.Context, name string) error {
	list := &batchv1.JobList{}
	if err := c.client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	var all []types.NamespacedName
	for i := range list.Items {
		job := &list.Items[i]
		if ptr.Deref(job.Spec.ManagedBy, "") != ManagedBy || finished(job) {
			continue
		}
		if its, err := c.poolNameOf(ctx, job); err != nil {
			return err
		} else if its == name {
			all = append(all, client.ObjectKeyFromObject(job))
		}
	}
	c.wakeAll(all)
	return nil
}

// statusOf returns what the status of a pool should be.
func (c *reconciler) statusOf(sp *SlotPool, now time.Time) *SlotPoolStatus {
	st := &SlotPoolStatus{Conditions: slices.Clone(sp.Status.Conditions)}
	st.Zones, st.Classes = unused(sp.Spec.Zones), unused(sp.Spec.Classes)
	st.Slots = int32(sp.Spec.TotalSlots())
	ready := metav1.Condition{Type: readyCondition, Status: metav1.ConditionTrue, Reason: "Valid", ObservedGeneration: sp.Generation, LastTransitionTime: metav1.NewTime(now)}
	if _, err := c.rulesOf(sp); err != nil {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "Invalid", err.Error()
	}
	c.mu.Lock()
	p := c.pools[sp.Name]
	c.mu.Unlock()
	if p != nil {
		p.tell(st, &ready)
	} else if len(portfolio.Split(sp.Spec.Policy)) > 1 {
		st.Turns = slices.Clone(sp.Status.Turns)
	}
	apimeta.SetStatusCondition(&st.Conditions, ready)
	return st
}

// tell adds up who has slots of a pool, and who waits for some and why.
func (p *pool) tell(st *SlotPoolStatus, ready *metav1.Condition) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st.Jobs, st.Turns = int32(len(p.entries)), slices.Clone(p.turns)
	if p.contest != nil {
		st.Portfolio = p.contest.Regrets()
	}
	if p.run == nil {
		if len(p.entries) > 0 && ready.Status == metav1.ConditionTrue {
			ready.Status, ready.Reason = metav1.ConditionFalse, "Starting"
			ready.Message = fmt.Sprintf("waiting for %d more Jobs whose past belongs to the pool's", p.expected.Len())
		}
		return
	}
	v := p.run.core.View()
	for _, parts := range [][]PartStatus{st.Zones, st.Classes} {
		for i := range parts {
			if k := slices.Index(p.run.names, parts[i].Name); k >= 0 {
				parts[i].Used = int32(p.run.seats[k].used)
			}
		}
	}
	if p.kind.unit != "" {
		st.Requested = corev1.ResourceList{p.kind.unit: *resource.NewMilliQuantity(p.run.seats[0].used, resource.DecimalSI)}
	}
	for _, e := range p.entries {
		if e.m == nil || e.m.run != p.run {
			continue
		}
		job := v.Job(e.m.job)
		x := PoolMember{Namespace: e.name.Namespace, Name: e.name.Name, Pods: int32(job.Live), Unfinished: int32(job.Unfinished)}
		for _, a := range e.m.tied {
			if a.clone {
				x.Clones++
			}
		}
		st.Used += x.Pods
		st.Clones += x.Clones
		if x.Waits = p.why(v, &job, e); job.Live == 0 && job.Pending > 0 {
			st.Waiting++
		}
		st.Members = append(st.Members, x)
	}
	slices.SortFunc(st.Members, func(a, b PoolMember) int {
		return cmp.Or(cmp.Compare(b.Pods, a.Pods), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	st.Members = st.Members[:min(len(st.Members), mostMembers)]
}

// why says what a Job's tasks wait for that have no pod, "" if none wait.
func (p *pool) why(v *sched.View, job *sched.Job, e *entry) string {
	switch {
	case job.MaxLive > 0 && job.Live >= job.MaxLive && int(job.Unfinished) > int(job.Live):
		return fmt.Sprintf("it has as many pods as its parallelism, %d", job.MaxLive)
	case job.Pending == 0:
		return ""
	case p.kind.unit != "" && v.FreeSlots() == 0:
		free := max(0, p.run.seats[0].capacity-p.run.seats[0].used)
		return fmt.Sprintf("its pods request %s %s, %s is free, and the next seat is for %s", quantity(e.size()), p.kind.unit, quantity(free), quantity(p.run.fits))
	case v.FreeSlots() == 0:
		return fmt.Sprintf("all %d slots are taken, and %s has given them to others", v.Slots(), p.run.decides)
	case p.kind.classes != "" && !p.run.free(p.run.names[e.want.class:e.want.class+1]):
		return fmt.Sprintf("all %d slots of class %s are taken", p.run.seats[e.want.class].up, p.run.names[e.want.class])
	case e.want.within != "" && !p.run.free(strings.Split(e.want.within, ",")):
		return fmt.Sprintf("its pod template allows only zones %s, and their slots are taken", e.want.within)
	default:
		return fmt.Sprintf("%s gives it no slot now", p.run.decides)
	}
}

// unused is the status of parts of which nobody has anything.
func unused(parts []PoolPart) (all []PartStatus) {
	for _, x := range parts {
		all = append(all, PartStatus{Name: x.Name, Slots: x.Slots})
	}
	return all
}

// free tells whether there is a free seat in some parts of the pool.
func (r *run) free(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		z := slices.Index(r.names, name)
		return z >= 0 && r.seats[z].up > r.seats[z].taken
	})
}

// quantity writes thousandths as Kubernetes does.
func quantity(milli int64) string {
	return resource.NewMilliQuantity(milli, resource.DecimalSI).String()
}
