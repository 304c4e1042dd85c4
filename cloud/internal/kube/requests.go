package kube

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// end ends attempts that are not to count. What says so is on the pod before it is deleted, and its finalizer is gone:
// if the controller dies in between, the next one sees what was meant. A pod has its own grace period, but no more than
// grace if that is not 0.
func (c *reconciler) end(ctx context.Context, pods []*corev1.Pod, why string, grace time.Duration) error {
	return each(ctx, pods, func(ctx context.Context, p *corev1.Pod) error {
		if err := c.disown(ctx, p, why); err != nil {
			return err
		}
		return c.deleteOne(ctx, p, grace)
	})
}

// disown marks a pod as one whose end does not count.
func (c *reconciler) disown(ctx context.Context, p *corev1.Pod, why string) error {
	patch := fmt.Sprintf(`{"metadata":{"uid":%q,"labels":{%q:%q},"$deleteFromPrimitiveList/finalizers":[%q]}}`, p.UID, LostLabel, why, finalizer)
	if err := c.patch(ctx, p, patch); err != nil {
		return err
	}
	if p.Labels[LostLabel] == "" {
		observeLost(p, c.now())
	}
	return nil
}

// delete ends attempts that count.
func (c *reconciler) delete(ctx context.Context, pods []*corev1.Pod) error {
	return each(ctx, pods, func(ctx context.Context, p *corev1.Pod) error { return c.deleteOne(ctx, p, 0) })
}

// deleteOne lets the pod have its grace period, or a shorter one, in whole seconds and at least one: 0 would mean not
// to wait for its node. Another pod of the same name is not deleted.
func (c *reconciler) deleteOne(ctx context.Context, p *corev1.Pod, grace time.Duration) error {
	options := []client.DeleteOption{client.Preconditions{UID: &p.UID}}
	if seconds := int64(max(1, (grace+time.Second-1)/time.Second)); grace > 0 && seconds < ptr.Deref(p.Spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds) {
		options = append(options, client.GracePeriodSeconds(seconds))
	}
	return forgive(c.client.Delete(ctx, p, options...))
}

// release removes the finalizers of pods that have been counted, once.
func (c *reconciler) release(ctx context.Context, s *state, counted []*corev1.Pod) error {
	still := sets.New[types.UID]()
	var bound []*corev1.Pod
	for _, p := range counted {
		if still.Insert(p.UID); !s.free.Has(p.UID) {
			bound = append(bound, p)
		}
	}
	s.free = s.free.Intersection(still)
	if err := c.releaseAll(ctx, bound); err != nil {
		return err
	}
	for _, p := range bound {
		s.free.Insert(p.UID)
		observePod(p)
	}
	return nil
}

// releaseAll removes finalizers.
func (c *reconciler) releaseAll(ctx context.Context, pods []*corev1.Pod) error {
	return each(ctx, pods, func(ctx context.Context, p *corev1.Pod) error {
		if !hasFinalizer(p) {
			return nil
		}
		return c.patch(ctx, p, fmt.Sprintf(`{"metadata":{"uid":%q,"$deleteFromPrimitiveList/finalizers":[%q]}}`, p.UID, finalizer))
	})
}

func (c *reconciler) patch(ctx context.Context, p *corev1.Pod, patch string) error {
	return forgive(c.client.Patch(ctx, p.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, []byte(patch))))
}

// forgive takes a pod that is gone, or that another has taken the name of, for done.
func forgive(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// each does something to pods, some at a time, until one fails.
func each(ctx context.Context, pods []*corev1.Pod, do func(context.Context, *corev1.Pod) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelRequests)
	for _, p := range pods {
		group.Go(func() error { return do(ctx, p) })
	}
	return group.Wait()
}
