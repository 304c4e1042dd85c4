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

// A zone is required beside what the template requires, in each of its alternatives, and none of that is lost.
func TestInZone(t *testing.T) {
	need := func(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
	}
	zone := func(op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
		return need("topology.kubernetes.io/zone", op, values...)
	}
	term := func(all ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: all}
	}
	fields := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{need("metadata.name", "In", "n")}}
	both := *fields.DeepCopy()
	both.MatchExpressions = []corev1.NodeSelectorRequirement{zone("In", "b")}
	disk := need("disk", "In", "ssd")
	for _, c := range []struct {
		name       string
		terms      []corev1.NodeSelectorTerm
		want       []corev1.NodeSelectorTerm
		may, mayNo string // zones, "" for all and for none
	}{
		{name: "nothing", want: []corev1.NodeSelectorTerm{term(zone("In", "b"))}},
		{name: "a disk", terms: []corev1.NodeSelectorTerm{term(disk)}, want: []corev1.NodeSelectorTerm{term(disk, zone("In", "b"))}},
		{"a disk or a node", []corev1.NodeSelectorTerm{term(disk), fields}, []corev1.NodeSelectorTerm{term(disk, zone("In", "b")), both}, "", ""},
		{"what no node has", []corev1.NodeSelectorTerm{{}}, []corev1.NodeSelectorTerm{{}}, "", ""},
		{"in", []corev1.NodeSelectorTerm{term(zone("In", "a", "b"))}, []corev1.NodeSelectorTerm{term(zone("In", "a", "b"), zone("In", "b"))}, "ab", "c"},
		{"not in", []corev1.NodeSelectorTerm{term(disk, zone("NotIn", "a"))}, []corev1.NodeSelectorTerm{term(disk, zone("NotIn", "a"), zone("In", "b"))}, "bc", "a"},
		{"either", []corev1.NodeSelectorTerm{term(zone("In", "a"), zone("In", "b")), term(zone("In", "c"))}, []corev1.NodeSelectorTerm{term(zone("In", "a"), zone("In", "b"), zone("In", "b")), term(zone("In", "c"), zone("In", "b"))}, "c", "ab"},
		{"some zone", []corev1.NodeSelectorTerm{term(zone("Exists"))}, []corev1.NodeSelectorTerm{term(zone("Exists"), zone("In", "b"))}, "abc", ""},
		{"no zone", []corev1.NodeSelectorTerm{term(zone("DoesNotExist"))}, []corev1.NodeSelectorTerm{term(zone("DoesNotExist"), zone("In", "b"))}, "", "abc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var spec corev1.PodSpec
			if c.terms != nil {
				spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: c.terms}}}
			}
			for _, z := range c.may {
				if !MayBeIn(&spec, string(z)) {
					t.Errorf("not in %c", z)
				}
			}
			for _, z := range c.mayNo {
				if MayBeIn(&spec, string(z)) {
					t.Errorf("in %c", z)
				}
			}
			pod := New(&metav1.ObjectMeta{}, &spec, 0, false)
			InZone(&pod.Spec, "b")
			if diff := cmp.Diff(c.want, pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	spec := corev1.PodSpec{NodeSelector: map[string]string{"topology.kubernetes.io/zone": "a"}}
	if !MayBeIn(&spec, "a") || MayBeIn(&spec, "b") {
		t.Error("a nodeSelector")
	}
}
