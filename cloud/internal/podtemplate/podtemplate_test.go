package podtemplate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A pod has what the template has, and writes nothing into it.
func TestNew(t *testing.T) {
	template := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Name: "one", Labels: map[string]string{"team": "a", KindLabel: "x"}, Annotations: map[string]string{"note": "b"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}},
	}
	before := template.DeepCopy()
	pod := New(&template.ObjectMeta, &template.Spec, 3, true)
	if diff := cmp.Diff(map[string]string{"team": "a", KindLabel: Clone, AttemptLabel: "3"}, pod.Labels); diff != "" || !IsClone(pod.Labels) {
		t.Errorf("labels: -want +got:\n%s", diff)
	}
	if pod.Name != "" || pod.Annotations["note"] != "b" || pod.Spec.Containers[0].Name != "c" {
		t.Errorf("%+v", pod)
	}
	pod.Labels["team"], pod.Annotations["note"], pod.Spec.Containers[0].Name = "x", "y", "z"
	Avoid(&pod.Spec, []string{"n"})
	if diff := cmp.Diff(before, template); diff != "" {
		t.Errorf("the template has changed: -want +got:\n%s", diff)
	}
	if bare := New(&metav1.ObjectMeta{}, &corev1.PodSpec{}, 0, false); bare.Labels[KindLabel] != Original || bare.Annotations != nil || IsClone(bare.Labels) {
		t.Errorf("%+v", bare)
	}
}

// Each list of nodes is one wish beside those of the template; twice the same node, and what has no node, is passed over.
func TestAvoid(t *testing.T) {
	own := corev1.PreferredSchedulingTerm{Weight: 1, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk"}}}}
	required := &corev1.NodeSelector{}
	spec := corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: required, PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{own},
	}}}
	Avoid(&spec, []string{"", "a", "b", "a"})
	Avoid(&spec, []string{"c"})
	Avoid(&spec, []string{""})
	Avoid(&spec, nil)
	not := func(node string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn, Values: []string{node}}
	}
	want := []corev1.PreferredSchedulingTerm{
		own,
		{Weight: 100, Preference: corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{not("a"), not("b")}}},
		{Weight: 100, Preference: corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{not("c")}}},
	}
	got := spec.Affinity.NodeAffinity
	if diff := cmp.Diff(want, got.PreferredDuringSchedulingIgnoredDuringExecution); diff != "" || got.RequiredDuringSchedulingIgnoredDuringExecution != required {
		t.Errorf("-want +got:\n%s", diff)
	}
	var empty corev1.PodSpec
	if Avoid(&empty, []string{""}); empty.Affinity != nil {
		t.Errorf("%+v", empty.Affinity)
	}
}
