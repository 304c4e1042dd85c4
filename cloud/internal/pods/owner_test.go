package pods

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/internal/live"
)

// The pods of an engine in a cluster belong to the Job of the engine's pod, so that they go with it and outlive the
// pod; without a Job they belong to the pod. Nothing of this makes that Job count them as its own.
func TestOwner(t *testing.T) {
	in := func(name string, owners ...metav1.OwnerReference) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: "uid-of-pod", OwnerReferences: owners}}
	}
	client := fake.NewClientset(in("alone"),
		in("engine-x7k2p", metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", Name: "engine", UID: "uid-of-job", Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}))
	for name, want := range map[string]metav1.OwnerReference{
		"alone":        {APIVersion: "v1", Kind: "Pod", Name: "alone", UID: "uid-of-pod"},
		"engine-x7k2p": {APIVersion: "batch/v1", Kind: "Job", Name: "engine", UID: "uid-of-job"},
	} {
		owner, err := ownerOf(t.Context(), client, "team", name)
		if err != nil || *owner != want {
			t.Errorf("%s: %+v, %v; want %+v", name, owner, err, want)
			continue
		}
		e := &Executor{cfg: Config{Run: "r", Namespace: "team", Template: &corev1.Pod{}, Owner: owner}}
		if pod := e.podFor(live.Attempt{}, nil, nil); len(pod.OwnerReferences) != 1 || pod.OwnerReferences[0] != want {
			t.Errorf("%s: %+v", name, pod.OwnerReferences)
		}
	}
	if _, err := ownerOf(t.Context(), client, "team", "node-7"); err == nil || !strings.Contains(err.Error(), `cannot read its pod node-7 (pods "node-7" not found)`) {
		t.Error(err)
	}
}
