package kube

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var workloadVersion = schema.GroupVersion{Group: "kueue.x-k8s.io", Version: "v1beta2"}

// Conditions of a Workload, and the reason of a good end.
const (
	quotaReserved   = "QuotaReserved"
	admitted        = "Admitted"
	workloadEnded   = "Finished"
	workloadEvicted = "Evicted"
	reasonSucceeded = "Succeeded"
)

// Workload is what is read of a Workload, by which Kueue knows a Job of any kind. It is patched and never written,
// since most of it is not here.
type Workload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		PodSets []struct {
			Count int32 `json:"count"`
		} `json:"podSets"`
		MaximumExecutionTimeSeconds int32 `json:"maximumExecutionTimeSeconds,omitempty"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status,omitempty"`
}

// WorkloadList is a list of them.
type WorkloadList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Workload `json:"items"`
}

func addWorkloadTypes(s *runtime.Scheme) error {
	s.AddKnownTypes(workloadVersion, &Workload{}, &WorkloadList{})
	metav1.AddToGroupVersion(s, workloadVersion)
	return nil
}

// DeepCopyObject is for runtime.Object.
func (w *Workload) DeepCopyObject() runtime.Object {
	x := *w
	x.ObjectMeta = *w.ObjectMeta.DeepCopy()
	x.Spec.PodSets = append(x.Spec.PodSets[:0:0], w.Spec.PodSets...)
	x.Status.Conditions = append([]metav1.Condition(nil), w.Status.Conditions...)
	return &x
}

// DeepCopyObject is for runtime.Object.
func (l *WorkloadList) DeepCopyObject() runtime.Object {
	m := *l
	m.Items = make([]Workload, len(l.Items))
	for i := range l.Items {
		m.Items[i] = *l.Items[i].DeepCopyObject().(*Workload)
	}
	return &m
}
