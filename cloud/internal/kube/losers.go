package kube

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// A Job is complete when its last pod has ended, so a loser can hold a Job that has succeeded: a shell that ignores
// SIGTERM for its grace period, and a pod on a node that is gone for as long as nobody says that the node will not come
// back. Nobody waits for what a loser still does. So losers have a short grace period, and a node that has not been
// ready for some time is not asked. That is for losers only: an only attempt may still do its work there.

// graceOf returns how long losers of a Job may take to end; 0 for the grace period of their pods.
func (c *reconciler) graceOf(job *batchv1.Job) time.Duration {
	if d, said, err := loserGrace(job); said && err == nil {
		return d
	}
	return c.grace
}

// lostTo tells whether another attempt of a pod's task has succeeded.
func lostTo(job *batchv1.Job, t *tally, p *corev1.Pod) bool {
	task, ok := taskOf(job, p)
	return ok && !isQueue(job) && (t.completed.has(task) || !isIndexed(job) && t.ended && t.success)
}

// endLosers ends what still runs of a Job that has succeeded. Tasks that spec.successPolicy does not need have no other
// attempt, and so their own grace periods.
func (c *reconciler) endLosers(ctx context.Context, job *batchv1.Job, t *tally, pods []*corev1.Pod) error {
	var losers, others []*corev1.Pod
	for _, p := range alive(pods) {
		if lostTo(job, t, p) {
			losers = append(losers, p)
		} else {
			others = append(others, p)
		}
	}
	if err := c.endFirst(ctx, job, losers); err != nil {
		return err
	}
	return c.end(ctx, others, lostSibling, 0)
}

// endFirst ends losers. A kubelet that has just looked at a pod, because it was changed, may take a second until it
// looks again. So the pods are deleted before they are marked, where a pod that is deleted counts for nothing once its
// index is complete. Pods without index have no such rule.
func (c *reconciler) endFirst(ctx context.Context, job *batchv1.Job, losers []*corev1.Pod) error {
	if !isIndexed(job) {
		return c.end(ctx, losers, lostSibling, c.graceOf(job))
	}
	return each(ctx, losers, func(ctx context.Context, p *corev1.Pod) error {
		if err := c.deleteOne(ctx, p, c.graceOf(job)); err != nil {
			return err
		}
		return c.disown(ctx, p, lostSibling)
	})
}

// lookAtNode is how often the node of a loser that should have ended is looked at.
const lookAtNode = 5 * time.Second

// removeLosers removes losers for which nobody has to wait: those whose containers have all stopped, and those whose
// nodes are gone. A kubelet ends a pod in steps of up to a second each; what it does after the last container is of no
// concern to the Job.
func (c *reconciler) removeLosers(ctx context.Context, job *batchv1.Job, s *state, t *tally, sc *scene, now time.Time) error {
	gone := map[string]bool{}
	for _, p := range sc.pods {
		if p.DeletionTimestamp == nil || terminal(p) || !lostTo(job, t, p) {
			continue
		}
		if !stopped(p) {
			if !c.outOfReach(ctx, s, p, gone, now) {
				continue
			}
			c.events.Eventf(job, nil, corev1.EventTypeNormal, "LoserRemoved", "Delete", "pod %s, a loser, is removed: node %s has not been ready for %v", p.Name, p.Spec.NodeName, c.nodeLost)
		}
		if p.Labels[LostLabel] == "" { // somebody else deleted it, as Kubernetes does with the pods of such a node
			if err := c.disown(ctx, p, lostSibling); err != nil {
				return err
			}
		}
		if err := forgive(c.client.Delete(ctx, p, client.Preconditions{UID: &p.UID}, client.GracePeriodSeconds(0))); err != nil {
			return err
		}
	}
	return nil
}

// stopped tells whether a pod's containers have all been seen to stop, for good.
func stopped(p *corev1.Pod) bool {
	for _, all := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses, p.Status.EphemeralContainerStatuses} {
		for i := range all {
			if all[i].State.Terminated == nil {
				return false
			}
		}
	}
	return p.Spec.RestartPolicy == corev1.RestartPolicyNever && len(p.Status.ContainerStatuses) == len(p.Spec.Containers)
}

// outOfReach tells whether a pod's grace period is over and its node is gone; gone keeps what has been asked about
// nodes.
func (c *reconciler) outOfReach(ctx context.Context, s *state, p *corev1.Pod, gone map[string]bool, now time.Time) bool {
	if c.nodeLost == 0 {
		return false
	}
	if due := p.DeletionTimestamp.Add(time.Second); due.After(now) {
		s.comeBack(due)
		return false
	}
	node := p.Spec.NodeName
	if _, asked := gone[node]; !asked {
		gone[node] = c.nodeGone(ctx, node, now)
	}
	if !gone[node] {
		s.comeBack(now.Add(lookAtNode))
	}
	return gone[node]
}

// nodeGone tells whether a node has not been ready for long. One that cannot be asked about is there.
func (c *reconciler) nodeGone(ctx context.Context, name string, now time.Time) bool {
	node := &corev1.Node{}
	err := c.client.Get(ctx, client.ObjectKey{Name: name}, node)
	if apierrors.IsNotFound(err) {
		return true
	}
	if err != nil {
		log.FromContext(ctx).Error(err, "a loser should have ended, and its node cannot be looked at", "node", name)
		return false
	}
	for _, k := range node.Status.Conditions {
		if k.Type == corev1.NodeReady {
			return k.Status != corev1.ConditionTrue && now.Sub(k.LastTransitionTime.Time) >= c.nodeLost
		}
	}
	return false
}
