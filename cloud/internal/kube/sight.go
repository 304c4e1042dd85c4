package kube

import (
	"math"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
	"github.com/tailcut/tailcut/sched"
)

// phase is how an attempt stands, as far as its pod shows.
type phase uint8

const (
	waiting   phase = iota // its containers have not started: to be scheduled, an image to be pulled
	running                // its containers have started
	succeeded              // ended with a result
	failed                 // ended without result; the Job API counts a failure
	gone                   // ended without result, and nobody is to blame
)

// ref names an attempt of a Job.
type ref struct{ index, number int }

// sight is what a pod shows of an attempt. It depends on the pod alone, so it does not matter which of its changes were
// seen on the way.
type sight struct {
	ref
	pod      *corev1.Pod
	phase    phase
	verdict  verdict // on its failure, if it is one
	live     bool    // its containers run, or may come to run
	leaving  bool    // it is being deleted
	backsOff bool    // it ended without result, and not by the controller: its task's next attempt waits
	clone    bool
	part     string // that it was made for, of its pool; "" for none
	node     string
	made     time.Time // zero if that is not known
	begun    time.Time // likewise
	ended    time.Time // likewise
	progress float64   // in [0, 1]
	offset   int64     // that the progress can be gone on from; 0 if it cannot
	resumed  bool      // it went on from another's
}

// scene is what the pods of a Job show.
type scene struct {
	pods   []*corev1.Pod // all of them
	sights []sight       // of attempts
	strays []*corev1.Pod // that are none, such as those of tasks that the Job had before it was made smaller
}

func sceneOf(job *batchv1.Job, pods []*corev1.Pod) *scene {
	sc := &scene{pods: pods}
	for _, p := range pods {
		if s, ok := sightOf(job, p); ok {
			sc.sights = append(sc.sights, s)
		} else {
			sc.strays = append(sc.strays, p)
		}
	}
	return sc
}

// sightOf translates a pod. ok is false for a pod that no attempt of the Job can have.
func sightOf(job *batchv1.Job, pod *corev1.Pod) (s sight, ok bool) {
	task, ok := taskOf(job, pod)
	if !ok {
		return s, false
	}
	number, err := strconv.ParseUint(pod.Labels[podtemplate.AttemptLabel], 10, 31)
	if err != nil {
		return s, false
	}
	s = sight{
		ref: ref{task, int(number)}, pod: pod, clone: podtemplate.IsClone(pod.Labels), part: partOf(pod), node: pod.Spec.NodeName, live: !terminal(pod),
		leaving: pod.DeletionTimestamp != nil, resumed: pod.Annotations[resumeAnnotation] != "", made: pod.CreationTimestamp.Time,
	}
	s.progress, s.offset = progressOf(pod)
	s.begun, s.ended = lifetime(pod)
	switch {
	case pod.Labels[LostLabel] != "": // even if it then exits with 0, as some do when they are told to end
		s.phase = gone
	case pod.Status.Phase == corev1.PodSucceeded:
		s.phase = succeeded
	case podFailed(job, pod):
		s.phase, s.backsOff, s.verdict = failed, true, verdictOn(job, pod)
		if s.verdict.action == ignore && !s.clone || s.clone && disrupted(pod) {
			s.phase = gone
		}
	case pod.Status.Phase == corev1.PodRunning:
		s.phase = running
	}
	if s.clone && s.live && restartsOf(pod) > 0 && pod.Labels[LostLabel] == "" {
		s.phase = failed // and the kubelet would start it for ever
	}
	return s, true
}

// terminal tells whether no container of the pod runs or will. A pod that is deleted before it has a node never gets
// further.
func terminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || pod.DeletionTimestamp != nil && pod.Spec.NodeName == ""
}

// podFailed tells whether the Job API takes the pod as failed. Unless spec.podReplacementPolicy says to wait for its
// end, one that is being deleted is.
func podFailed(job *batchv1.Job, pod *corev1.Pod) bool {
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		return false
	case terminal(pod):
		return true
	default:
		return pod.DeletionTimestamp != nil && !replacesFailedOnly(job)
	}
}

// disrupted tells whether the pod was preempted, evicted, or lost with its node. That happens to clones first, whose
// priority is below all others, and the user, who did not ask for them, does not lose retries by it.
func disrupted(pod *corev1.Pod) bool {
	return podCondition(pod, corev1.DisruptionTarget, corev1.ConditionTrue) != nil
}

// replacesFailedOnly tells whether an index gets a new pod only when the old one has ended.
func replacesFailedOnly(job *batchv1.Job) bool {
	p := job.Spec.PodReplacementPolicy
	return p != nil && *p == batchv1.Failed || job.Spec.PodFailurePolicy != nil
}

// lifetime returns when the first container started and the last one ended, to the second; the pod's own marks stand in
// for what the kubelet did not tell. Of a pod that is over or being deleted the end is always known.
func lifetime(pod *corev1.Pod) (begun, ended time.Time) {
	for i := range pod.Status.ContainerStatuses {
		state := &pod.Status.ContainerStatuses[i].State
		switch {
		case state.Running != nil:
			begun = earlier(begun, state.Running.StartedAt)
		case state.Terminated != nil:
			begun = earlier(begun, state.Terminated.StartedAt)
		}
	}
	if begun.IsZero() && pod.Status.StartTime != nil && pod.Status.Phase != corev1.PodPending {
		begun = pod.Status.StartTime.Time
	}
	ended = lastFinish(pod.Status.ContainerStatuses)
	if ended.IsZero() && (terminal(pod) || pod.DeletionTimestamp != nil) {
		ended = endWithoutContainers(pod)
	}
	return begun, ended
}

func lastFinish(statuses []corev1.ContainerStatus) (last time.Time) {
	for i := range statuses {
		if t := statuses[i].State.Terminated; t != nil && t.FinishedAt.After(last) {
			last = t.FinishedAt.Time
		}
	}
	return last
}

// endWithoutContainers is when a pod ended whose containers do not tell: an init container failed, the kubelet refused
// the pod, or its node was lost. After the init containers the order is that of Kubernetes' own controller.
func endWithoutContainers(pod *corev1.Pod) time.Time {
	if last := lastFinish(pod.Status.InitContainerStatuses); !last.IsZero() {
		return last
	}
	if c := podCondition(pod, corev1.PodReady, corev1.ConditionFalse); c != nil && !c.LastTransitionTime.IsZero() {
		return c.LastTransitionTime.Time
	}
	if pod.DeletionTimestamp != nil { // which is when its grace period is over
		return pod.DeletionTimestamp.Add(-time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second)
	}
	return pod.CreationTimestamp.Time
}

func podCondition(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == kind && c.Status == status {
			return c
		}
	}
	return nil
}

func earlier(t time.Time, u metav1.Time) time.Time {
	if t.IsZero() || u.Time.Before(t) {
		return u.Time
	}
	return t
}

// progressOf reads the task's own report. What is no fraction or offset says nothing: a task must not be able to stop
// the controller.
func progressOf(pod *corev1.Pod) (progress float64, offset int64) {
	fraction, rest, _ := strings.Cut(strings.TrimSpace(pod.Annotations[ProgressAnnotation]), " ")
	x, err := strconv.ParseFloat(fraction, 64)
	if err != nil || math.IsNaN(x) {
		return 0, 0
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64); err == nil && x > 0 && x < 1 {
		offset = max(n, 0)
	}
	return min(max(x, 0), 1), offset
}

// span is what an attempt took before its work, 0 if that is not known: from the creation of its pod until its
// containers started.
func (s *sight) span() sched.Time {
	if s.made.IsZero() || s.begun.IsZero() {
		return 0
	}
	return max(0, sched.Time(s.begun.Sub(s.made)))
}
