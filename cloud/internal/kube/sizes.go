package kube

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"github.com/tailcut/tailcut/sched"
)

// A slot of the core is a seat for one pod, whatever its size. Where pods have sizes, as in a pool of cores, a seat is
// for the largest pod that waits: there are as many free seats as such pods fit. So whichever Job the policy chooses,
// its pod fits, and none waits for ever behind smaller ones. What is free meanwhile is less than the largest pod that
// waits. See decision 0057.

// sizeOf returns how much of what a pool counts a pod of a Job takes: 1 where it counts pods, thousandths of the
// resource's unit where it counts that.
func sizeOf(job *batchv1.Job, unit corev1.ResourceName) int64 {
	return sizeOfPod(&job.Spec.Template.Spec, unit)
}

// sizeOfPod is sizeOf for one pod.
func sizeOfPod(pod *corev1.PodSpec, unit corev1.ResourceName) int64 {
	if unit == "" {
		return 1
	}
	q := resource.PodRequests(&corev1.Pod{Spec: *pod}, resource.PodResourcesOptions{})[unit]
	return q.MilliValue()
}

// need returns the size of the largest pod that waits; without any, of the largest of all Jobs, which may want clones.
func (r *run) need() int64 {
	if r.unit == "" {
		return 1
	}
	for _, m := range r.bySize {
		if r.core.View().Job(m.job).Pending > 0 {
			return m.size
		}
	}
	if len(r.bySize) == 0 {
		return 1
	}
	return r.bySize[0].size
}

// enlist keeps the Jobs in order of size, the largest first.
func (r *run) enlist(m *member) {
	if r.unit == "" {
		return
	}
	at, _ := slices.BinarySearchFunc(r.bySize, m.size, func(x *member, size int64) int { return cmp.Compare(size, x.size) })
	r.bySize = slices.Insert(r.bySize, at, m)
}

func (r *run) strike(m *member) {
	r.bySize = slices.DeleteFunc(r.bySize, func(x *member) bool { return x == m })
}

// press is for pods of a Job that come to wait: the free seats are too small if it is larger than those that did.
func (r *run) press(m *member, at sched.Time) {
	if r.unit == "" || m.size <= r.fits {
		return
	}
	r.fits = m.size
	v := r.core.View()
	for free, any := v.FreeMachine(0); any; free, any = v.FreeMachine(free + 1) {
		r.withdraw(free, at)
	}
}
