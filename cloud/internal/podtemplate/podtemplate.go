// Package podtemplate makes the pods of attempts from a user's template: what says which attempt a pod is, and on which
// nodes it would rather not be. The controller and the runs of pods have the rest, such as names, to themselves. It
// speaks to no cluster.
package podtemplate

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Labels of pods.
const (
	AttemptLabel = "tailcut.dev/attempt" // attempts of the task made before this one
	TaskLabel    = "tailcut.dev/task"    // the task's number; a pod with a completion index has that instead
	KindLabel    = "tailcut.dev/kind"    // Original or Clone
)

// Values of KindLabel.
const (
	Original = "original"
	Clone    = "clone"
)

// Kind returns the value of KindLabel.
func Kind(clone bool) string {
	if clone {
		return Clone
	}
	return Original
}

// IsClone tells whether a pod, by its labels, is a clone.
func IsClone(labels map[string]string) bool { return labels[KindLabel] == Clone }

// New makes the pod of an attempt, which has labels, annotations and spec of a template and shares nothing with it.
// It has no name yet. Its labels, which say what number the attempt has and whether it is a clone, are not nil.
func New(meta *metav1.ObjectMeta, spec *corev1.PodSpec, number int, clone bool) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(meta.Labels), Annotations: maps.Clone(meta.Annotations)}}
	spec.DeepCopyInto(&pod.Spec)
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[AttemptLabel], pod.Labels[KindLabel] = strconv.Itoa(number), Kind(clone)
	return pod
}

// Avoid prefers other nodes than those named; "" is none. It never requires: a cluster of one node has clones too.
func Avoid(spec *corev1.PodSpec, nodes []string) {
	var elsewhere []corev1.NodeSelectorRequirement
	for i, node := range nodes {
		if node != "" && !slices.Contains(nodes[:i], node) {
			elsewhere = append(elsewhere, corev1.NodeSelectorRequirement{
				Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpNotIn, Values: []string{node},
			})
		}
	}
	if len(elsewhere) > 0 {
		prefer(spec, 100, corev1.NodeSelectorTerm{MatchFields: elsewhere})
	}
}

// AvoidZones prefers nodes of other zones than those named, if nothing that Avoid says speaks against it.
func AvoidZones(spec *corev1.PodSpec, zones []string) {
	if len(zones) > 0 {
		prefer(spec, 50, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{
			Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpNotIn, Values: zones,
		}}})
	}
}

func prefer(spec *corev1.PodSpec, weight int32, nodes corev1.NodeSelectorTerm) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	preferred := &spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	*preferred = append(*preferred, corev1.PreferredSchedulingTerm{Weight: weight, Preference: nodes})
}
