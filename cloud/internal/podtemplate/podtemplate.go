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

// InZone requires nodes of a zone, beside what the spec requires already.
func InZone(spec *corev1.PodSpec, zone string) {
	there := corev1.NodeSelectorRequirement{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}
	nodes := nodeAffinity(spec)
	if nodes.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		one := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{there}}
		nodes.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{one}}
		return
	}
	terms := nodes.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms // one of which has to hold
	for i := range terms {
		if t := &terms[i]; len(t.MatchExpressions)+len(t.MatchFields) > 0 { // an empty one matches no node
			t.MatchExpressions = append(t.MatchExpressions, there)
		}
	}
}

// MayBeIn tells whether what the spec requires of the zone of its node holds for a zone.
func MayBeIn(spec *corev1.PodSpec, zone string) bool {
	if own, said := spec.NodeSelector[corev1.LabelTopologyZone]; said && own != zone {
		return false
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	terms := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	return slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool {
		return !slices.ContainsFunc(t.MatchExpressions, func(x corev1.NodeSelectorRequirement) bool {
			return x.Key == corev1.LabelTopologyZone && !holds(&x, zone)
		})
	})
}

// holds tells whether a requirement of the zone holds for a node in one.
func holds(x *corev1.NodeSelectorRequirement, zone string) bool {
	switch x.Operator {
	case corev1.NodeSelectorOpIn:
		return slices.Contains(x.Values, zone)
	case corev1.NodeSelectorOpNotIn:
		return !slices.Contains(x.Values, zone)
	}
	return x.Operator == corev1.NodeSelectorOpExists // names of zones are no numbers
}

func prefer(spec *corev1.PodSpec, weight int32, nodes corev1.NodeSelectorTerm) {
	preferred := &nodeAffinity(spec).PreferredDuringSchedulingIgnoredDuringExecution
	*preferred = append(*preferred, corev1.PreferredSchedulingTerm{Weight: weight, Preference: nodes})
}

func nodeAffinity(spec *corev1.PodSpec) *corev1.NodeAffinity {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	return spec.Affinity.NodeAffinity
}
