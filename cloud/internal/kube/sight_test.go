package kube

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
)

// How pods that ended without result are taken, and how long the next attempt waits, counted from the first pod's creation. Where the containers do
// not tell, the end is what Kubernetes' own controller takes for it.
func TestFailures(t *testing.T) {
	after := func(s int) metav1.Time { return metav1.Time{Time: epoch.Add(time.Duration(s) * time.Second)} }
	terminated := func(s int) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 7, FinishedAt: after(s)}}}}
	}
	condition := func(kind corev1.PodConditionType, status corev1.ConditionStatus) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: after(40)})
		}
	}
	isClone := func(p *corev1.Pod) { p.Labels[podtemplate.KindLabel] = podtemplate.Clone }
	ignoring := func(j *batchv1.Job) {
		j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: batchv1.PodFailurePolicyActionIgnore, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{7}},
		}}}
	}
	for _, c := range []struct {
		name  string
		edit  func(*batchv1.Job)
		edits []func(*corev1.Pod)
		phase phase
		wait  int // seconds; 0 for none
	}{
		{"containers tell", nil, []func(*corev1.Pod){func(p *corev1.Pod) { p.Status.ContainerStatuses = terminated(100) }}, failed, 110},
		{"an init container failed", nil, []func(*corev1.Pod){func(p *corev1.Pod) { p.Status.InitContainerStatuses = terminated(30) }, condition(corev1.PodReady, corev1.ConditionFalse)}, failed, 40},
		{"status unknown", nil, []func(*corev1.Pod){exit(137), condition(corev1.PodReady, corev1.ConditionFalse)}, failed, 50},
		{"refused by the kubelet", nil, nil, failed, 10},
		{"deleted", nil, []func(*corev1.Pod){func(p *corev1.Pod) { at := after(20); p.DeletionTimestamp = &at }}, failed, 30},
		{"ignored", ignoring, []func(*corev1.Pod){func(p *corev1.Pod) { p.Status.ContainerStatuses = terminated(100) }}, gone, 110},
		{"ended by the controller", nil, []func(*corev1.Pod){ended}, gone, 0},
		{"an original is preempted", nil, []func(*corev1.Pod){condition(corev1.DisruptionTarget, corev1.ConditionTrue)}, failed, 10},
		{"a clone is preempted", nil, []func(*corev1.Pod){isClone, condition(corev1.DisruptionTarget, corev1.ConditionTrue)}, gone, 10},
		{"a clone's failure is not ignored", ignoring, []func(*corev1.Pod){isClone, func(p *corev1.Pod) { p.Status.ContainerStatuses = terminated(100) }}, failed, 110},
		{"a clone was not preempted", nil, []func(*corev1.Pod){isClone, condition(corev1.DisruptionTarget, corev1.ConditionFalse)}, failed, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := testJob(1)
			if c.edit != nil {
				c.edit(job)
			}
			p := testPod(0, 0, corev1.PodFailed, c.edits...)
			p.CreationTimestamp = after(0)
			s, ok := sightOf(job, p)
			if !ok || s.phase != c.phase {
				t.Errorf("phase %d, want %d", s.phase, c.phase)
			}
			at := notBefore([]sight{s}, 0, s.clone)
			if got := at.Sub(epoch); c.wait == 0 != at.IsZero() || c.wait > 0 && got != time.Duration(c.wait)*time.Second {
				t.Errorf("waits %v, want %d s", got, c.wait)
			}
		})
	}
}
