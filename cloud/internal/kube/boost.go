package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tailcut/tailcut/internal/live"
)

// Kueue's queues order by priority and arrival. It adds the number in the annotation BoostAnnotation to a Workload's
// priority, where its feature gate PriorityBoost is on. The controller sets it by how much work is left. So of a
// queue's Jobs with the same priority the one with least work is admitted first, whoever runs it.

// Annotations of Workloads.
const (
	BoostAnnotation = "kueue.x-k8s.io/priority-boost"
	SizeAnnotation  = "tailcut.dev/pod-seconds" // work left; the controller boosts what has it
	keptAnnotation  = "tailcut.dev/kept"        // "true": how long it took is in the history
)

// Boosts. That of a Workload that waits is from 1 to mostBoost. As long as it has none, it is last.
const (
	mostBoost     = 99  // of a Workload that waits
	admittedBoost = 100 // so that nothing of the same priority preempts what runs
	boostSteps    = 4   // for each doubling of the work
)

// unknownTime is how long a pod is taken to run of which nothing is known.
const unknownTime = 10 * time.Minute

// boostOf turns work, in pod-seconds, into a boost from 1 to mostBoost: one less for each factor of 2^(1/4).
// Twenty-three million pod-seconds and more have 1.
func boostOf(work float64) int {
	return max(1, mostBoost-int(math.Round(boostSteps*math.Log2(1+max(work, 0)))))
}

// boosts reconciles Workloads.
type boosts struct {
	*reconciler
	maxWait time.Duration // after which a Workload is first; 0 for never
}

// Reconcile sets the boost of one Workload, or keeps how long it took.
func (c boosts) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	w := &Workload{}
	if err := c.client.Get(ctx, req.NamespacedName, w); err != nil || w.DeletionTimestamp != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if meta.IsStatusConditionTrue(w.Status.Conditions, workloadEnded) {
		return reconcile.Result{}, c.keep(ctx, w)
	}
	if w.Annotations[BoostAnnotation] != "" && w.Annotations[SizeAnnotation] == "" {
		return reconcile.Result{}, nil // somebody else's
	}
	if meta.IsStatusConditionTrue(w.Status.Conditions, quotaReserved) {
		if w.Annotations[SizeAnnotation] == "" { // there was room for it when it came
			return reconcile.Result{}, c.annotate(ctx, w, BoostAnnotation, strconv.Itoa(admittedBoost), SizeAnnotation, "0")
		}
		return reconcile.Result{}, c.annotate(ctx, w, BoostAnnotation, strconv.Itoa(admittedBoost))
	}
	work, err := c.workOf(ctx, w)
	if err != nil {
		return reconcile.Result{}, err
	}
	boost, again := boostOf(work), time.Duration(0)
	if c.maxWait > 0 {
		if again = max(0, c.maxWait-c.now().Sub(waitsSince(w))); again == 0 {
			boost = mostBoost
		}
	}
	return reconcile.Result{RequeueAfter: again}, c.annotate(ctx, w, BoostAnnotation, strconv.Itoa(boost), SizeAnnotation, strconv.FormatFloat(work, 'f', 0, 64))
}

// annotate sets annotations that are others.
func (c boosts) annotate(ctx context.Context, w *Workload, pairs ...string) error {
	fresh := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		if w.Annotations[pairs[i]] != pairs[i+1] {
			fresh[pairs[i]] = pairs[i+1]
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": fresh}})
	if err != nil {
		return err
	}
	return client.IgnoreNotFound(c.client.Patch(ctx, w, client.RawPatch("application/merge-patch+json", patch)))
}

// waitsSince returns since when a Workload waits: its creation, or its last eviction.
func waitsSince(w *Workload) time.Time {
	at := w.CreationTimestamp.Time
	if x := meta.FindStatusCondition(w.Status.Conditions, workloadEvicted); x != nil && x.LastTransitionTime.After(at) {
		at = x.LastTransitionTime.Time
	}
	return at
}

// pods returns how many pods run at once.
func (w *Workload) pods() (n int) {
	for _, set := range w.Spec.PodSets {
		n += int(set.Count)
	}
	return n
}

// workOf returns the pod-seconds that a Workload still needs: its tasks times the mean time of a task in earlier runs,
// or else the median of what earlier runs took of the quota, less what is done. Of a Job of which nothing is known,
// pods take as long as it may at most, or else unknownTime.
func (c boosts) workOf(ctx context.Context, w *Workload) (float64, error) {
	job, err := c.jobOf(ctx, w)
	if err != nil {
		return 0, err
	}
	tasks, left := float64(w.pods()), 1.0
	if job != nil && !isQueue(job) {
		tasks = float64(tasksOf(job))
		left = max(0, tasks-float64(job.Status.Succeeded)) / max(1, tasks)
	}
	past, _, err := c.readPast(ctx, pastOwner(w, job))
	if err != nil {
		return 0, err
	}
	if mean, _ := past.Estimate(pastStage); mean > 0 {
		return left * tasks * mean.Seconds(), nil
	}
	var held []float64
	for _, r := range past.Runs {
		if r.Seconds > 0 {
			held = append(held, r.Seconds*float64(r.Slots))
		}
	}
	if len(held) > 0 {
		slices.Sort(held)
		return left * held[len(held)/2], nil
	}
	each := cmp.Or(time.Duration(w.Spec.MaximumExecutionTimeSeconds)*time.Second, unknownTime)
	return left * tasks * each.Seconds(), nil
}

// jobOf returns the Job that a Workload is of, nil if it is of something else.
func (c boosts) jobOf(ctx context.Context, w *Workload) (*batchv1.Job, error) {
	owner := metav1.GetControllerOf(w)
	if owner == nil || owner.Kind != "Job" || owner.APIVersion != batchv1.SchemeGroupVersion.String() {
		return nil, nil
	}
	job := &batchv1.Job{}
	err := c.client.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: owner.Name}, job)
	if err != nil || job.UID != owner.UID {
		return nil, client.IgnoreNotFound(err)
	}
	return job, nil
}

// pastOwner returns whose past counts for a Workload: the Job, or else what the Workload is of, as if that was a Job.
func pastOwner(w *Workload, job *batchv1.Job) *batchv1.Job {
	if job != nil {
		return job
	}
	job = &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name}}
	if owner := metav1.GetControllerOf(w); owner != nil {
		job.Name = owner.Name
	}
	return job
}

// keep notes once how long a Workload had its quota, if it succeeded and the controller does not know more of it: what
// it runs itself has its history from its pods.
func (c boosts) keep(ctx context.Context, w *Workload) error {
	end := meta.FindStatusCondition(w.Status.Conditions, workloadEnded)
	begun := meta.FindStatusCondition(w.Status.Conditions, admitted)
	if c.past == "" || w.Annotations[keptAnnotation] != "" || end.Reason != reasonSucceeded || begun == nil || !begun.LastTransitionTime.Before(&end.LastTransitionTime) {
		return nil
	}
	job, err := c.jobOf(ctx, w)
	if err != nil || job != nil && job.Spec.ManagedBy != nil && *job.Spec.ManagedBy == ManagedBy {
		return err
	}
	past, m, err := c.readPast(ctx, pastOwner(w, job))
	if err != nil {
		return err
	}
	past.AddRun(pastOwner(w, job).Name, live.PastRun{
		ID: string(w.UID), Seconds: end.LastTransitionTime.Sub(begun.LastTransitionTime.Time).Seconds(), Slots: w.pods(),
	})
	if err := c.savePast(ctx, m, past); err != nil {
		return fmt.Errorf("the history of %s: %w", w.Name, err)
	}
	return c.annotate(ctx, w, keptAnnotation, "true")
}
