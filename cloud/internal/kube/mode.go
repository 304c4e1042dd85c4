package kube

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
)

// The tasks of an Indexed Job are its completion indexes. Those of a NonIndexed one are interchangeable: a task is then
// what holds attempts together, an original and its clones, and any success counts for one. If spec.completions is not
// set either, the pods share a queue of work that nobody but they knows, as many as spec.parallelism. One that
// straggles would gain nothing by a clone, which would take another piece of the queue, so there are none; and after
// the first success there are no new pods.

func isIndexed(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.IndexedCompletion
}

func isQueue(job *batchv1.Job) bool { return job.Spec.Completions == nil }

// tasksOf returns how many tasks a Job has.
func tasksOf(job *batchv1.Job) int {
	return int(ptr.Deref(job.Spec.Completions, ptr.Deref(job.Spec.Parallelism, 1)))
}

// taskOf returns the task that a pod belongs to. ok is false if there is no such task, or not any more.
func taskOf(job *batchv1.Job, pod *corev1.Pod) (task int, ok bool) {
	text := pod.Labels[podtemplate.TaskLabel]
	if isIndexed(job) {
		text = pod.Annotations[indexLabel]
	}
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err == nil && int(n) < tasksOf(job)
}

// nameOfTask is what a task is called in events.
func nameOfTask(job *batchv1.Job, task int) string {
	if isIndexed(job) {
		return "index " + strconv.Itoa(task)
	}
	return "task " + strconv.Itoa(task)
}

// spare notes which of n interchangeable tasks need no more attempts, and returns all of them: as many as there are
// successes, first those whose own pods succeeded, and for what else succeeded, such as both attempts of a task, the
// last ones. A task that is spared stays so, whichever pods are removed since.
func (s *state) spare(n int, t *tally) indexSet {
	if len(s.spared) != n {
		s.spared = make(indexSet, n)
	}
	left := t.successes() - s.spared.count()
	for i := range s.spared {
		if left > 0 && t.completed[i] && !s.spared[i] {
			s.spared[i] = true
			left--
		}
	}
	for i := len(s.spared) - 1; i >= 0 && left > 0; i-- {
		if !s.spared[i] {
			s.spared[i] = true
			left--
		}
	}
	return s.spared
}
