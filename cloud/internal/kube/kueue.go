package kube

import (
	"math"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// Kueue reserves quota for as many pods of a Job as run at once. As soon as fewer tasks are left than that, it gives
// places to other Jobs: all but one for each task that status.succeeded does not count. Stragglers show at that time,
// so their clones would have no quota. Hence a Job keeps some places for clones until its end, by counting as many
// successes late, and counts none whose place another of its pods still takes. Kueue's quota holds at each instant.

// QueueLabel is Kueue's: the queue that has to admit a Job before it may start.
const QueueLabel = "kueue.x-k8s.io/queue-name"

// clonePlaces is the share of its places that a Job of Kueue's keeps for clones, if it has no budget for them.
const clonePlaces = 0.1

// placesFor returns how many places a Job keeps for clones, of the n that it may have at once.
func placesFor(job *batchv1.Job, n int, cloneable bool) int {
	switch text := job.Annotations[CloneBudgetAnnotation]; {
	case !cloneable || isQueue(job) || job.Annotations[ClonesAnnotation] == clonesNever || job.Annotations[DryRunAnnotation] == "true":
		return 0
	case text == "none":
		return n
	case text != "":
		budget, _ := strconv.ParseUint(text, 10, 31) // else the Job waits for a budget that is a number
		return int(budget)
	}
	return int(math.Ceil(clonePlaces * float64(n)))
}

// keepQuota lets the status of a Job that Kueue has admitted count no more successes than leave places for the pods
// that there are and for clones, and notes how many pods may be made.
func (s *state) keepQuota(job *batchv1.Job, t *tally, sc *scene) {
	s.room = math.MaxInt
	if job.Labels[QueueLabel] == "" || isQueue(job) {
		return
	}
	n, done := tasksOf(job), t.completed.count()
	atOnce := int(ptr.Deref(job.Spec.Parallelism, 1))
	places, beyond := min(n, atOnce), max(0, atOnce-n) // Kueue takes back the latter, too, which it has not reserved
	told := int(job.Status.Succeeded)
	if !isIndexed(job) {
		done, told = t.successes(), int(t.status.Succeeded)
	}
	s.told = max(s.told, told)
	left := max(0, n-done)
	pods := int(t.status.Active) + int(*t.status.Terminating) + len(s.unseen)
	more := pods - min(left, t.begunOf(sc)) // than one for each task that is left
	if !t.ended && !suspended(job) {
		more = max(more, min(left, placesFor(job, places, s.clones.why == "")))
	}
	if keep := min(places, left+more); keep == 0 {
		s.told = done
	} else {
		s.told = min(done, max(s.told, n-keep-beyond))
	}
	t.countOnly(job, s.told)
	if s.told > 0 {
		places = min(places, n-s.told-beyond)
	}
	s.room = max(0, places-pods)
}

// begunOf returns how many tasks have a pod and are not over.
func (t *tally) begunOf(sc *scene) (n int) {
	seen := make(indexSet, len(t.completed))
	for i := range sc.sights {
		if x := &sc.sights[i]; x.live && !seen[x.index] && !t.completed[x.index] {
			seen[x.index] = true
			n++
		}
	}
	return n
}

// countOnly keeps successes above a number out of the status, and their pods in place, so that they are counted later.
func (t *tally) countOnly(job *batchv1.Job, most int) {
	st := &t.status
	if !isIndexed(job) { // whose pods are on the list until their finalizers go
		late := st.UncountedTerminatedPods.Succeeded
		late = late[min(len(late), max(0, most-int(st.Succeeded))):]
		t.release = slices.DeleteFunc(t.release, func(p *corev1.Pod) bool { return slices.Contains(late, p.UID) })
		return
	}
	counted, _ := parseIndexes(job.Status.CompletedIndexes, len(t.completed)) // it was read before
	n := counted.count()
	for i, done := range t.completed {
		if done && !counted[i] && n < most {
			counted[i] = true
			n++
		}
	}
	st.CompletedIndexes, st.Succeeded = counted.String(), int32(n)
	t.release = slices.DeleteFunc(t.release, func(p *corev1.Pod) bool {
		task, ok := taskOf(job, p)
		return ok && p.Status.Phase == corev1.PodSucceeded && t.completed.has(task) && !counted[task]
	})
}
