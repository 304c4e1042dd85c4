package kube

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
	"github.com/tailcut/tailcut/sched"
)

// tally is what a Job's pods and its status so far add up to.
//
// Nothing may be counted twice, nor be missed, whenever the controller dies. Pods have a finalizer, so that none goes
// before it is counted. The UID of a pod that failed goes into status.uncountedTerminatedPods; once that is written its
// finalizer is removed; and when it has none, its UID is taken off the list and status.failed grows, in one write. An
// index that succeeded is counted by status.completedIndexes itself; an interchangeable task as a failure is, up to
// spec.completions.
type tally struct {
	status    batchv1.JobStatus // what is to be written
	completed indexSet          // of interchangeable tasks: those of which a pod that succeeded is there
	failed    indexSet
	release   []*corev1.Pod // whose finalizers may go when the status is written
	ended     bool          // status holds why the Job ends, SuccessCriteriaMet or FailureTarget
	success   bool          // and it is the former
}

// reasonGivenUp is why a Job fails that its policy has given up, as some do with what cannot meet its deadline.
const reasonGivenUp = "GivenUpByPolicy"

// successes returns how many pods without index have succeeded.
func (t *tally) successes() int {
	return int(t.status.Succeeded) + len(t.status.UncountedTerminatedPods.Succeeded)
}

// tallyOf counts. unseen is the number of pods that were made and are not in the scene yet; gaveUp says that the policy
// has given up the Job.
func tallyOf(job *batchv1.Job, sc *scene, unseen int, gaveUp bool, now time.Time) (*tally, error) {
	t := &tally{status: *job.Status.DeepCopy()}
	st := &t.status
	var err error
	n := tasksOf(job)
	if t.completed, err = parseIndexes(st.CompletedIndexes, n); err != nil {
		return nil, err
	}
	if t.failed, err = parseIndexes(ptr.Deref(st.FailedIndexes, ""), n); err != nil {
		return nil, err
	}
	t.drain(sc.pods)
	failJobMessage := t.count(job, sc)
	if isIndexed(job) {
		st.CompletedIndexes, st.Succeeded = t.completed.String(), int32(t.completed.count())
	}
	if job.Spec.BackoffLimitPerIndex != nil {
		st.FailedIndexes = ptr.To(t.failed.String())
	}
	t.present(sc.pods)
	if st.StartTime == nil && !suspended(job) {
		st.StartTime = ptr.To(metav1.NewTime(now))
	}
	t.judge(job, sc.pods, failJobMessage, unseen, now)
	if !t.ended && gaveUp {
		t.fail(reasonGivenUp, "the policy sees no way to meet the deadline", now)
	}
	if !t.ended {
		t.suspension(job, now)
	} else if st.Active == 0 && *st.Terminating == 0 && unseen == 0 &&
		len(st.UncountedTerminatedPods.Failed) == 0 && len(st.UncountedTerminatedPods.Succeeded) == 0 {
		t.finish(now)
	}
	return t, nil
}

// drain counts the pods on the list whose finalizers are gone.
func (t *tally) drain(pods []*corev1.Pod) {
	st := &t.status
	if st.UncountedTerminatedPods == nil {
		st.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
	held := sets.New[types.UID]()
	for _, p := range pods {
		if hasFinalizer(p) {
			held.Insert(p.UID)
		}
	}
	list := st.UncountedTerminatedPods
	for _, l := range []struct {
		uids  *[]types.UID
		count *int32
	}{{&list.Failed, &st.Failed}, {&list.Succeeded, &st.Succeeded}} {
		before := len(*l.uids)
		*l.uids = slices.DeleteFunc(*l.uids, func(uid types.UID) bool { return !held.Has(uid) })
		*l.count += int32(before - len(*l.uids))
	}
}

// count puts on the list what has ended since, and returns why the Job has failed if a pod says so.
func (t *tally) count(job *batchv1.Job, sc *scene) (failJobMessage string) {
	if isIndexed(job) {
		t.countIndexes(sc.sights) // first, because a pod that fails when its index is done is no failure
	} else {
		t.countSuccesses(job, sc.pods)
	}
	known := map[int]int{} // failures that some pod of an index remembers were before it
	for i := range sc.sights {
		s := &sc.sights[i]
		known[s.index] = max(known[s.index], failuresOf(s.pod))
	}
	// then failures say nothing of their indexes, and nobody will succeed them
	decided := conditionOf(&t.status, batchv1.JobFailureTarget) != nil || conditionOf(&t.status, batchv1.JobSuccessCriteriaMet) != nil
	for i := range sc.sights {
		s := &sc.sights[i]
		if !hasFinalizer(s.pod) || s.phase != failed && s.phase != gone {
			continue // released before, not over, or a success
		}
		if t.countsAsFailure(s) {
			if s.verdict.action == failJob && failJobMessage == "" {
				failJobMessage = s.verdict.message
			}
			t.listFailure(s.pod.UID)
			switch {
			case decided || job.Spec.BackoffLimitPerIndex == nil:
			case s.verdict.action == failIndex || failuresOf(s.pod) >= int(*job.Spec.BackoffLimitPerIndex):
				t.failed[s.index] = true
			case known[s.index] <= failuresOf(s.pod):
				continue // its successor inherits the number of failures
			}
		}
		t.release = append(t.release, s.pod)
	}
	for _, p := range sc.strays {
		if hasFinalizer(p) && (isIndexed(job) || p.Status.Phase != corev1.PodSucceeded) { // else it has been counted
			t.release = append(t.release, p)
		}
	}
	return failJobMessage
}

// countsAsFailure tells whether an attempt has failed that was no clone, when the fate of its task was open.
func (t *tally) countsAsFailure(s *sight) bool {
	return s.phase == failed && sched.FailureCounts(s.clone) && !t.completed[s.index] && !t.failed[s.index]
}

func (t *tally) listFailure(uid types.UID) {
	if list := &t.status.UncountedTerminatedPods.Failed; !slices.Contains(*list, uid) {
		*list = append(*list, uid)
	}
}

func (t *tally) countIndexes(sights []sight) {
	for i := range sights {
		if s := &sights[i]; s.phase == succeeded && hasFinalizer(s.pod) {
			t.completed[s.index] = true
			t.failed[s.index] = false
			t.release = append(t.release, s.pod)
		}
	}
}

// countSuccesses puts pods without index that have succeeded on the list. What is beyond spec.completions counts for
// nothing.
func (t *tally) countSuccesses(job *batchv1.Job, pods []*corev1.Pod) {
	list := &t.status.UncountedTerminatedPods.Succeeded
	for _, p := range pods {
		if p.Status.Phase != corev1.PodSucceeded || p.Labels[LostLabel] != "" {
			continue
		}
		if task, ok := taskOf(job, p); ok {
			t.completed[task] = true
		}
		if !hasFinalizer(p) {
			continue
		}
		if !slices.Contains(*list, p.UID) && (isQueue(job) || t.successes() < tasksOf(job)) {
			*list = append(*list, p.UID)
		}
		t.release = append(t.release, p)
	}
}

// done tells whether enough has succeeded. Who shares a queue is done when all have ended and one has found it empty.
func (t *tally) done(job *batchv1.Job, unseen int) bool {
	switch {
	case isIndexed(job):
		return t.completed.count() >= tasksOf(job)
	case isQueue(job):
		return t.successes() > 0 && t.status.Active == 0 && unseen == 0
	default:
		return t.successes() >= tasksOf(job)
	}
}

// present counts the pods that run.
func (t *tally) present(pods []*corev1.Pod) {
	st := &t.status
	st.Active, st.Ready, st.Terminating = 0, ptr.To[int32](0), ptr.To[int32](0)
	for _, p := range pods {
		switch {
		case terminal(p):
		case p.DeletionTimestamp != nil:
			*st.Terminating++
		default:
			st.Active++
			if podCondition(p, corev1.PodReady, corev1.ConditionTrue) != nil {
				*st.Ready++
			}
		}
	}
}

// judge decides whether the Job ends, in the order in which Kubernetes' own controller does.
func (t *tally) judge(job *batchv1.Job, pods []*corev1.Pod, failJobMessage string, unseen int, now time.Time) {
	st := &t.status
	failures := int(st.Failed) + len(st.UncountedTerminatedPods.Failed)
	failedIndexes, n := t.failed.count(), tasksOf(job)
	successMessage, success := successMatch(job, t.completed)
	switch {
	case conditionOf(st, batchv1.JobSuccessCriteriaMet) != nil:
		t.ended, t.success = true, true
	case conditionOf(st, batchv1.JobFailureTarget) != nil:
		t.ended = true
	case failJobMessage != "":
		t.fail(batchv1.JobReasonPodFailurePolicy, failJobMessage, now)
	case failures > int(*job.Spec.BackoffLimit) || restartedTooOften(job, pods):
		t.fail(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit", now)
	case deadlineOf(job, st) != nil && !now.Before(*deadlineOf(job, st)):
		t.fail(batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline", now)
	case job.Spec.MaxFailedIndexes != nil && failedIndexes > int(*job.Spec.MaxFailedIndexes):
		t.fail(batchv1.JobReasonMaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes", now)
	case failedIndexes > 0 && failedIndexes+t.completed.count() >= n:
		t.fail(batchv1.JobReasonFailedIndexes, "Job has failed indexes", now)
	case success:
		t.succeed(batchv1.JobReasonSuccessPolicy, successMessage, now)
	case t.done(job, unseen):
		t.succeed(batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods", now)
	}
}

func (t *tally) fail(reason, message string, now time.Time) {
	t.ended = true
	setCondition(&t.status, batchv1.JobFailureTarget, corev1.ConditionTrue, reason, message, now)
}

func (t *tally) succeed(reason, message string, now time.Time) {
	t.ended, t.success = true, true
	setCondition(&t.status, batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, reason, message, now)
}

// finish says that the Job has ended, for the reason for which it had to.
func (t *tally) finish(now time.Time) {
	st := &t.status
	if st.StartTime == nil { // while it was suspended; without, the API server refuses the end
		st.StartTime = ptr.To(metav1.NewTime(now))
	}
	if !t.success {
		c := conditionOf(st, batchv1.JobFailureTarget)
		setCondition(st, batchv1.JobFailed, corev1.ConditionTrue, c.Reason, c.Message, now)
		return
	}
	c := conditionOf(st, batchv1.JobSuccessCriteriaMet)
	setCondition(st, batchv1.JobComplete, corev1.ConditionTrue, c.Reason, c.Message, now)
	if st.CompletionTime == nil {
		st.CompletionTime = ptr.To(metav1.NewTime(now))
	}
}

// suspension keeps the condition Suspended true to the spec. A Job that goes on starts anew as far as its deadlines are
// concerned.
func (t *tally) suspension(job *batchv1.Job, now time.Time) {
	st := &t.status
	was := conditionOf(st, batchv1.JobSuspended) != nil
	switch {
	case suspended(job) && !was:
		setCondition(st, batchv1.JobSuspended, corev1.ConditionTrue, "JobSuspended", "Job suspended", now)
	case !suspended(job) && was:
		setCondition(st, batchv1.JobSuspended, corev1.ConditionFalse, "JobResumed", "Job resumed", now)
		st.StartTime = ptr.To(metav1.NewTime(now))
	}
}

func suspended(job *batchv1.Job) bool { return ptr.Deref(job.Spec.Suspend, false) }

// deadlineOf returns the instant of spec.activeDeadlineSeconds, nil without.
func deadlineOf(job *batchv1.Job, st *batchv1.JobStatus) *time.Time {
	if job.Spec.ActiveDeadlineSeconds == nil || st.StartTime == nil || suspended(job) {
		return nil
	}
	return ptr.To(st.StartTime.Add(time.Duration(*job.Spec.ActiveDeadlineSeconds) * time.Second))
}

// restartedTooOften tells whether the kubelet has started containers again so often that the Job has failed. That is
// stricter than with pods, as Kubernetes' own controller has it: as many as spec.backoffLimit are too many. Those of
// clones do not count.
func restartedTooOften(job *batchv1.Job, pods []*corev1.Pod) bool {
	if job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return false
	}
	n := 0
	for _, p := range pods {
		if p.Labels[LostLabel] == "" && sched.FailureCounts(podtemplate.IsClone(p.Labels)) && (p.Status.Phase == corev1.PodRunning || p.Status.Phase == corev1.PodPending) {
			n += restartsOf(p)
		}
	}
	return n >= max(1, int(*job.Spec.BackoffLimit))
}

// restartsOf returns how often the kubelet has started containers of a pod again.
func restartsOf(p *corev1.Pod) (n int) {
	for _, statuses := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range statuses {
			n += int(statuses[i].RestartCount)
		}
	}
	return n
}

func hasFinalizer(p *corev1.Pod) bool { return slices.Contains(p.Finalizers, finalizer) }

// conditionOf returns a condition that holds, or nil.
func conditionOf(st *batchv1.JobStatus, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range st.Conditions {
		if c := &st.Conditions[i]; c.Type == kind && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

func setCondition(st *batchv1.JobStatus, kind batchv1.JobConditionType, value corev1.ConditionStatus, reason, message string, now time.Time) {
	at := metav1.NewTime(now)
	c := batchv1.JobCondition{Type: kind, Status: value, Reason: reason, Message: message, LastProbeTime: at, LastTransitionTime: at}
	for i := range st.Conditions {
		if st.Conditions[i].Type == kind {
			st.Conditions[i] = c
			return
		}
	}
	st.Conditions = append(st.Conditions, c)
}
