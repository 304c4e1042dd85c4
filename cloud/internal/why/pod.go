package why

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/cloud/internal/kube"
	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
)

// why explains a pod of the Job.
func (f *facts) why(pod *corev1.Pod) []string {
	if manager := ptr.Deref(f.job.Spec.ManagedBy, ""); manager != kube.ManagedBy {
		return []string{fmt.Sprintf("Pod %s is of Job %s, which %s manages, not Tailcut.", pod.Name, f.job.Name, cmp.Or(manager, "Kubernetes' own controller"))}
	}
	kind := "its original"
	switch {
	case podtemplate.IsClone(pod.Labels):
		kind = "a clone"
	case pod.Labels[podtemplate.AttemptLabel] != "0":
		kind = "a new attempt after an earlier one"
	}
	lines := []string{fmt.Sprintf("Pod %s is attempt %s of %s of Job %s, %s.", pod.Name, pod.Labels[podtemplate.AttemptLabel], taskOf(pod), f.job.Name, kind)}
	lines = append(lines, f.stands(pod))
	for i := range f.events {
		if e := &f.events[i]; e.Related != nil && e.Related.Name == pod.Name {
			lines = append(lines, "  "+eventLine(e, f.now))
		}
	}
	if name := pod.Labels[kube.PoolLabel]; name != "" && live(pod) {
		lines = append(lines, fmt.Sprintf("It has a slot of pool %s.", name))
	}
	if text := pod.Annotations[kube.ProgressAnnotation]; text != "" {
		lines = append(lines, fmt.Sprintf("It reports the progress %s.", text))
	}
	if others := f.others(pod); len(others) > 0 {
		lines = append(lines, "Other attempts of the task, of which the first to succeed counts:")
		lines = append(lines, others...)
	}
	return lines
}

// stands says in one sentence how a pod stands.
func (f *facts) stands(pod *corev1.Pod) string {
	switch lost := pod.Labels[kube.LostLabel]; {
	case lost != "":
		return fmt.Sprintf("The controller has ended it: %s. It counts for nothing.", kube.LostBecause(lost))
	case pod.Status.Phase == corev1.PodSucceeded:
		return fmt.Sprintf("It has succeeded on %s.", pod.Spec.NodeName)
	case pod.Status.Phase == corev1.PodFailed:
		return fmt.Sprintf("It has failed on %s%s.", cmp.Or(pod.Spec.NodeName, "no node"), failure(pod))
	case pod.DeletionTimestamp != nil:
		return "Somebody has deleted it, not the controller. Its task gets another attempt."
	case pod.Status.Phase == corev1.PodRunning:
		return fmt.Sprintf("It runs on %s, for %s.", pod.Spec.NodeName, ago(f.now, begun(pod)))
	case pod.Spec.NodeName == "":
		return fmt.Sprintf("It waits for a node, for %s%s. As long as it waits its task gets no clone.", ago(f.now, pod.CreationTimestamp.Time), unschedulable(pod))
	default:
		return fmt.Sprintf("It has node %s, and its containers have not started%s. As long as they have not, its task gets no clone.", pod.Spec.NodeName, waiting(pod))
	}
}

// others are the other pods of the task.
func (f *facts) others(pod *corev1.Pod) (lines []string) {
	for i := range f.pods {
		p := &f.pods[i]
		if p.Name == pod.Name || taskOf(p) != taskOf(pod) {
			continue
		}
		kind := ""
		if podtemplate.IsClone(p.Labels) {
			kind = ", a clone"
		}
		lines = append(lines, fmt.Sprintf("  attempt %s, pod %s%s: %s", p.Labels[podtemplate.AttemptLabel], p.Name, kind, f.stands(p)))
	}
	return lines
}

// taskOf is what the task of a pod is called.
func taskOf(pod *corev1.Pod) string {
	if index, is := pod.Annotations[batchv1.JobCompletionIndexAnnotation]; is {
		return "index " + index
	}
	return "task " + pod.Labels[podtemplate.TaskLabel]
}

func live(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// begun is when the first container of a pod started.
func begun(pod *corev1.Pod) time.Time {
	at := pod.CreationTimestamp.Time
	for i := range pod.Status.ContainerStatuses {
		if r := pod.Status.ContainerStatuses[i].State.Running; r != nil {
			at = r.StartedAt.Time
		}
	}
	return at
}

func failure(pod *corev1.Pod) string {
	for _, s := range pod.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil && t.ExitCode != 0 {
			return fmt.Sprintf(": container %s with exit code %d", s.Name, t.ExitCode)
		}
	}
	if pod.Status.Reason != "" {
		return ": " + strings.TrimSuffix(pod.Status.Reason+" "+pod.Status.Message, ".")
	}
	return ""
}

func unschedulable(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message != "" {
			return ": " + strings.TrimSuffix(c.Message, ".")
		}
	}
	return ""
}

func waiting(pod *corev1.Pod) string {
	for _, s := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		if w := s.State.Waiting; w != nil && w.Reason != "" {
			return fmt.Sprintf(": container %s, %s", s.Name, strings.TrimSuffix(strings.TrimSpace(w.Reason+" "+w.Message), "."))
		}
	}
	return ""
}

func ago(now, then time.Time) string { return duration.HumanDuration(max(0, now.Sub(then))) }

func eventLine(e *corev1.Event, now time.Time) string {
	return fmt.Sprintf("%s ago, %s: %s", ago(now, eventTime(e)), e.Reason, e.Message)
}
