package kube

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// end ends attempts that are not to count. What says so is on the pod before it is deleted, and its finalizer is gone:
// if the controller dies in between, the next one sees what was meant.
func (c *reconciler) end(ctx context.Context, pods []*corev1.Pod, why string) error {
	patch := func(p *corev1.Pod) string {
		return fmt.Sprintf(`{"metadata":{"uid":%q,"labels":{%q:%q},"$deleteFromPrimitiveList/finalizers":[%q]}}`, p.UID, LostLabel, why, finalizer)
	}
	return each(ctx, pods, func(ctx context.Context, p *corev1.Pod) error {
		if err := c.patch(ctx, p, patch(p)); err != nil {
			return err
		}
		if p.Labels[LostLabel] == "" {
			observeLost(p, c.now())
		}
		return c.deleteOne(ctx, p)
	})
}

// delete ends attempts that count.
func (c *reconciler) delete(ctx context.Context, pods []*corev1.Pod) error {
	return each(ctx, pods, c.deleteOne)
}

// deleteOne lets the pod have its grace period. Another pod of the same name is not deleted.
func (c *reconciler) deleteOne(ctx context.Context, p *corev1.Pod) error {
	return forgive(c.client.Delete(ctx, p, client.Preconditions{UID: &p.UID}))
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
