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
	t := job.Spec.Template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: t.ObjectMeta, Spec: t.Spec}
	pod.Name, pod.GenerateName, pod.Namespace = podName(job, a.ref), "", job.Namespace
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	if !slices.Contains(pod.Finalizers, finalizer) {
		pod.Finalizers = append(pod.Finalizers, finalizer)
	}
	task, kind := strconv.Itoa(a.index), original
	if a.clone {
		kind = clone
		if cloneClass != "" {
			// what follows from the class must not be said, or be the same
			pod.Spec.PriorityClassName, pod.Spec.Priority, pod.Spec.PreemptionPolicy = cloneClass, nil, nil
		}
	}
	pod.Labels = with(pod.Labels, AttemptLabel, strconv.Itoa(a.number), KindLabel, kind)
	if isIndexed(job) {
		pod.Labels[indexLabel] = task
		pod.Annotations = with(pod.Annotations, indexLabel, task)
		pod.Spec.Hostname = fmt.Sprintf("%s-%d", job.Name, a.index)
	} else {
		pod.Labels[TaskLabel] = task
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
	avoid(&pod.Spec, tried)
	avoid(&pod.Spec, slow)
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

// avoid prefers other nodes. It never requires: a cluster of one node has clones too.
func avoid(spec *corev1.PodSpec, nodes []string) {
	var elsewhere []corev1.NodeSelectorRequirement
	for _, node := range nodes {
		r := corev1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpNotIn, Values: []string{node}}
		if node != "" && !slices.ContainsFunc(elsewhere, func(o corev1.NodeSelectorRequirement) bool { return o.Values[0] == node }) {
			elsewhere = append(elsewhere, r)
		}
	}
	if len(elsewhere) == 0 {
		return
	}
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	preferred := &spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	*preferred = append(*preferred, corev1.PreferredSchedulingTerm{Weight: 100, Preference: corev1.NodeSelectorTerm{MatchFields: elsewhere}})
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
