package kube

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// action is what the failure of a pod entails.
type action uint8

const (
	count     action = iota // towards the limits
	ignore                  // nothing
	failIndex               // the index has failed
	failJob                 // the Job has failed
)

// verdict is what spec.podFailurePolicy says about a failed pod.
type verdict struct {
	action  action
	message string // of failJob
}

// verdictOn applies the first rule that matches.
func verdictOn(job *batchv1.Job, pod *corev1.Pod) verdict {
	if job.Spec.PodFailurePolicy == nil {
		return verdict{}
	}
	for i := range job.Spec.PodFailurePolicy.Rules {
		rule := &job.Spec.PodFailurePolicy.Rules[i]
		why := ""
		if rule.OnExitCodes != nil {
			if c := exitMatch(pod, rule.OnExitCodes); c != nil {
				why = fmt.Sprintf("Container %s for pod %s/%s failed with exit code %d", c.Name, pod.Namespace, pod.Name, c.State.Terminated.ExitCode)
			}
		} else if c := conditionMatch(pod, rule.OnPodConditions); c != nil {
			why = fmt.Sprintf("Pod %s/%s has condition %v", pod.Namespace, pod.Name, c.Type)
		}
		if why == "" {
			continue
		}
		switch rule.Action {
		case batchv1.PodFailurePolicyActionIgnore:
			return verdict{action: ignore}
		case batchv1.PodFailurePolicyActionFailIndex:
			return verdict{action: failIndex}
		case batchv1.PodFailurePolicyActionFailJob:
			return verdict{failJob, fmt.Sprintf("%s matching %v rule at index %d", why, rule.Action, i)}
		default:
			return verdict{}
		}
	}
	return verdict{}
}

// exitMatch returns the first container that ended as the rule says; containers come before init containers, and
// success matches nothing.
func exitMatch(pod *corev1.Pod, rule *batchv1.PodFailurePolicyOnExitCodesRequirement) *corev1.ContainerStatus {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for i := range statuses {
			c := &statuses[i]
			if c.State.Terminated == nil || c.State.Terminated.ExitCode == 0 || rule.ContainerName != nil && *rule.ContainerName != c.Name {
				continue
			}
			if slices.Contains(rule.Values, c.State.Terminated.ExitCode) == (rule.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn) {
				return c
			}
		}
	}
	return nil
}

func conditionMatch(pod *corev1.Pod, patterns []batchv1.PodFailurePolicyOnPodConditionsPattern) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		for _, p := range patterns {
			if p.Type == c.Type && p.Status == c.Status {
				return c
			}
		}
	}
	return nil
}

// successMatch tells whether the indexes that have succeeded fulfil spec.successPolicy, and by which rule.
func successMatch(job *batchv1.Job, completed indexSet) (message string, met bool) {
	if job.Spec.SuccessPolicy == nil {
		return "", false
	}
	for i, rule := range job.Spec.SuccessPolicy.Rules {
		wanted, have := len(completed), completed.count()
		if rule.SucceededIndexes != nil {
			among, err := parseIndexes(*rule.SucceededIndexes, len(completed))
			if err != nil || among.count() == 0 {
				continue
			}
			wanted, have = among.count(), 0
			for k := range among {
				if among[k] && completed[k] {
					have++
				}
			}
		}
		if rule.SucceededCount != nil {
			wanted = min(wanted, int(*rule.SucceededCount))
		}
		if have > 0 && have >= wanted {
			return fmt.Sprintf("Matched rules at index %d", i), true
		}
	}
	return "", false
}
