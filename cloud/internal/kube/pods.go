package kube

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
	"github.com/tailcut/tailcut/sched"
)

// podName is a function of the Job and the attempt, so that an attempt cannot be made twice: the second time its name
// exists. It looks like the names of Kubernetes' own controller: the Job's, the index and five characters. Without an
// index there are ten, as the pods of the whole Job must differ by them.
func podName(job *batchv1.Job, r ref) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d/%d", job.UID, r.index, r.number)
	const letters = "bcdfghjklmnpqrstvwxz2456789" // those of Kubernetes: no words
	sum, end, characters := h.Sum64(), "-", 10
	if isIndexed(job) {
		end, characters = fmt.Sprintf("-%d-", r.index), 5
	}
	for range characters {
		end += string(letters[sum%uint64(len(letters))])
		sum /= uint64(len(letters))
	}
	return job.Name[:min(len(job.Name), 63-len(end))] + end
}

// podFor makes the pod of an attempt as Kubernetes' own controller would, and adds what says which attempt it is. It
// keeps away from the nodes of earlier attempts of the index, and from slow ones, if the scheduler finds another.
func podFor(job *batchv1.Job, a *attempt, earlier []sight, slow []string, failures int, cloneClass string) *corev1.Pod {
	pod := podtemplate.New(&job.Spec.Template.ObjectMeta, &job.Spec.Template.Spec, a.number, a.clone)
	pod.Name, pod.Namespace = podName(job, a.ref), job.Namespace
	pod.Finalizers = slices.Clone(job.Spec.Template.Finalizers)
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	if !slices.Contains(pod.Finalizers, finalizer) {
		pod.Finalizers = append(pod.Finalizers, finalizer)
	}
	if a.clone && cloneClass != "" {
		// what follows from the class must not be said, or be the same
		pod.Spec.PriorityClassName, pod.Spec.Priority, pod.Spec.PreemptionPolicy = cloneClass, nil, nil
	}
	task := strconv.Itoa(a.index)
	if isIndexed(job) {
		pod.Labels[indexLabel] = task
		pod.Annotations = with(pod.Annotations, indexLabel, task)
		pod.Spec.Hostname = fmt.Sprintf("%s-%d", job.Name, a.index)
	} else {
		pod.Labels[podtemplate.TaskLabel] = task
	}
	if job.Spec.BackoffLimitPerIndex != nil {
		pod.Annotations[failsKey] = strconv.Itoa(failures)
	}
	if a.offset > 0 {
		pod.Annotations = with(pod.Annotations, resumeAnnotation, strconv.FormatInt(a.offset, 10))
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			setEnv(&containers[i], job, a)
		}
	}
	var tried []string
	for i := range earlier {
		tried = append(tried, earlier[i].node)
	}
	podtemplate.Avoid(&pod.Spec, tried)
	podtemplate.Avoid(&pod.Spec, slow)
	return pod
}

func with(m map[string]string, pairs ...string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// setEnv tells a container which task it is. What the user has set himself stands.
func setEnv(c *corev1.Container, job *batchv1.Job, a *attempt) {
	var vars []corev1.EnvVar
	if isIndexed(job) {
		vars = append(vars, corev1.EnvVar{Name: "JOB_COMPLETION_INDEX", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
			FieldPath: "metadata.labels['" + indexLabel + "']",
		}}})
	}
	vars = append(vars, corev1.EnvVar{Name: "TAILCUT_TASK", Value: strconv.Itoa(a.index)},
		corev1.EnvVar{Name: "TAILCUT_ATTEMPT", Value: strconv.Itoa(a.number)}, corev1.EnvVar{Name: "TAILCUT_POD", Value: podName(job, a.ref)})
	if job.Annotations[ResumableAnnotation] == "true" {
		vars = append(vars, corev1.EnvVar{Name: "TAILCUT_RESUME_OFFSET", Value: strconv.FormatInt(a.offset, 10)})
	}
	for _, v := range vars {
		if !slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == v.Name }) {
			c.Env = append(c.Env, v)
		}
	}
}

// failuresOf returns how often the index of a pod had failed before it.
func failuresOf(p *corev1.Pod) int {
	n, _ := strconv.ParseUint(p.Annotations[failsKey], 10, 31) // without, none
	return int(n)
}

// inherited returns how often an index has failed, as its pods remember.
func inherited(sights []sight, index int) int {
	n := 0
	for i := range sights {
		if s := &sights[i]; s.index == index {
			failures := failuresOf(s.pod)
			if s.phase == failed && sched.FailureCounts(s.clone) {
				failures++
			}
			n = max(n, failures)
		}
	}
	return n
}

// Bounds of the wait after a failure, those of Kubernetes' own controller.
const (
	firstBackoff = 10 * time.Second
	lastBackoff  = 10 * time.Minute
)

// notBefore returns when an index that has failed may have its next attempt: 10 s after the first failure, and twice as
// long after each other. Failures that count for nothing count here: who fails at once is not made again at once. But
// no original waits for what befell a clone.
func notBefore(sights []sight, index int, isClone bool) time.Time {
	var last *time.Time
	failures := 0
	for i := range sights {
		s := &sights[i]
		if s.index != index || !s.backsOff || s.clone && !isClone {
			continue
		}
		failures++
		if last == nil || s.ended.After(*last) {
			last = ptr.To(s.ended)
		}
	}
	if last == nil {
		return time.Time{}
	}
	return last.Add(min(firstBackoff<<min(failures-1, 10), lastBackoff))
}
