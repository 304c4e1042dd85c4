package pods

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// Labels of pods, beside those of podtemplate.
const (
	RunLabel   = "tailcut.dev/run"
	StageLabel = "tailcut.dev/stage" // position in the job
)

// container is the name of the container of attempts in pods without a template.
const container = "attempt"

// DefaultImage is the image of attempts if neither the user nor the template names one.
const DefaultImage = "tailcut-cloud:latest"

// podName is a function of run and attempt, so that an attempt cannot be made twice: the second time its name exists.
func podName(run string, a live.Attempt) string {
	return fmt.Sprintf("tailcut-%s-%d-%d-%d", run, a.Stage, a.Index, a.Number)
}

// podFor makes the pod of an attempt from the template. Its first container is the attempt's; args are for the image's
// entry point. It keeps away from nodes where the task has been before, if the scheduler finds another.
func (e *Executor) podFor(a live.Attempt, args []string, before []string) *corev1.Pod {
	pod := podtemplate.New(&e.cfg.Template.ObjectMeta, &e.cfg.Template.Spec, a.Number, a.Clone)
	pod.Name, pod.Namespace = podName(e.cfg.Run, a), e.cfg.Namespace
	if e.cfg.Owner != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*e.cfg.Owner}
	}
	for name, value := range map[string]string{
		"app.kubernetes.io/managed-by": "tailcut", RunLabel: e.cfg.Run, StageLabel: strconv.Itoa(a.Stage), podtemplate.TaskLabel: strconv.Itoa(a.Index),
	} {
		pod.Labels[name] = value
	}
	spec := &pod.Spec
	spec.RestartPolicy = corev1.RestartPolicyNever
	limits := jobfile.LimitsOf(e.cfg.Limits, a.Stage)
	if d := limits.Timeout.After; d > 0 {
		spec.ActiveDeadlineSeconds = ptr.To(int64(math.Ceil(d.Seconds())))
	}
	if len(spec.Containers) == 0 {
		spec.Containers = []corev1.Container{{Name: container}}
	}
	c := &spec.Containers[0]
	if e.cfg.Image != "" {
		c.Image = e.cfg.Image
	} else if c.Image == "" {
		c.Image = DefaultImage
	}
	if limits.Memory > 0 { // what the template says of other resources stays
		size := *resource.NewQuantity(limits.Memory, resource.BinarySI)
		c.Resources.Requests, c.Resources.Limits = withMemory(c.Resources.Requests, size), withMemory(c.Resources.Limits, size)
	}
	c.Args = args
	c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError // where an attempt says why
	scratch(spec, c)
	podtemplate.Avoid(spec, before)
	return pod
}

// withMemory returns a list of resources with so much memory. The list itself is the template's.
func withMemory(list corev1.ResourceList, size resource.Quantity) corev1.ResourceList {
	all := corev1.ResourceList{corev1.ResourceMemory: size}
	for name, x := range list {
		if name != corev1.ResourceMemory {
			all[name] = x
		}
	}
	return all
}

// scratch gives the container a folder for temporary files, unless the template does.
func scratch(spec *corev1.PodSpec, c *corev1.Container) {
	const name, path = "tailcut-scratch", "/tmp"
	if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == path }) {
		return
	}
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path})
}

// patience is how long a pod may be without its image, or the means to make its container.
const patience = 30 * time.Second

// endOf returns what a pod shows of its attempt's end: AttemptDone, if its result is in the store; AttemptFailed; or
// MachineLost, if it is gone and not to blame. over is false while it runs, or waits to.
func endOf(pod *corev1.Pod, now time.Time) (end live.Report, over bool) {
	switch pod.Status.Phase {
	case corev1.PodSucceeded:
		return live.Report{Kind: sched.AttemptDone}, true
	case corev1.PodFailed:
		return failureOf(pod), true
	}
	if pod.DeletionTimestamp != nil {
		return live.Report{Kind: sched.MachineLost}, true
	}
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			w := list[i].State.Waiting
			if w == nil {
				continue
			}
			since := pod.CreationTimestamp.Time
			if pod.Status.StartTime != nil {
				since = pod.Status.StartTime.Time
			}
			switch w.Reason {
			case "InvalidImageName", "ErrImageNeverPull":
			case "ErrImagePull", "ImagePullBackOff", "RegistryUnavailable", "ImageInspectError", "CreateContainerConfigError", "CreateContainerError":
				if now.Sub(since) < patience {
					continue
				}
			default:
				continue
			}
			// its image cannot be had, or its container not be made
			return failed(1, fmt.Sprintf("%s: image %s: %s", w.Reason, list[i].Image, oneLine(w.Message))), true
		}
	}
	return live.Report{}, false
}

func failed(exit int, note string) live.Report {
	return live.Report{Kind: sched.AttemptFailed, Exit: exit, Note: note}
}

// begunAt returns when the attempt's container has started, by the clock of its node, to the second; zero if it has
// not. Until then the pod may wait for a node, a volume or an image.
func begunAt(pod *corev1.Pod) time.Time {
	for i := range pod.Status.ContainerStatuses {
		c := &pod.Status.ContainerStatuses[i]
		switch {
		case len(pod.Spec.Containers) > 0 && c.Name != pod.Spec.Containers[0].Name: // a sidecar
		case c.State.Running != nil:
			return c.State.Running.StartedAt.Time
		case c.State.Terminated != nil:
			return c.State.Terminated.StartedAt.Time
		}
	}
	return time.Time{}
}

// failureOf judges a pod whose phase is Failed.
func failureOf(pod *corev1.Pod) live.Report {
	if pod.Status.Reason == "DeadlineExceeded" {
		return failed(137, "timed out after "+(time.Duration(ptr.Deref(pod.Spec.ActiveDeadlineSeconds, 0))*time.Second).String())
	}
	if pod.DeletionTimestamp != nil || slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	}) {
		return live.Report{Kind: sched.MachineLost}
	}
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			if t := list[i].State.Terminated; t != nil && t.ExitCode != 0 {
				note := lastLine(t.Message)
				if t.Reason != "" && t.Reason != "Error" {
					note = t.Reason + ": " + note // OOMKilled
				}
				return failed(int(t.ExitCode), note)
			}
		}
	}
	return live.Report{Kind: sched.MachineLost} // evicted, or turned away by its node: no container has ended badly
}

// unschedulable returns why a pod has no node, "" if it has one or nobody has tried.
func unschedulable(pod *corev1.Pod) string {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return oneLine(c.Message)
		}
	}
	return ""
}
