package kube

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
)

// PoolLabel on a Job names its SlotPool; on a namespace that of the Jobs in it that have no such label; on a pod the
// one whose slot it was made for.
const PoolLabel = "tailcut.dev/pool"

// Values of SlotPoolSpec.Preemption.
const (
	PreemptWhatIsKept = "WhatIsKept"
	PreemptAny        = "Any"
)

// DefaultPoolPolicy is that of pools that name none: as everywhere, the Job with the least work left first, and clones.
const DefaultPoolPolicy = "auto"

// mostSlots bounds the memory that a pool can take.
const mostSlots = 100_000

var poolVersion = schema.GroupVersion{Group: "tailcut.dev", Version: "v1alpha1"}

// SlotPool is slots for pods that several Jobs share, under one policy. Its definition is in cloud/chart.
type SlotPool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SlotPoolSpec   `json:"spec"`
	Status SlotPoolStatus `json:"status,omitempty"`
}

// SlotPoolSpec is what there is to share and how.
type SlotPoolSpec struct {
	Slots             int32                 `json:"slots,omitempty"`     // pods at once of all Jobs together
	Resources         corev1.ResourceList   `json:"resources,omitempty"` // instead: what they may request
	Zones             []PoolPart            `json:"zones,omitempty"`     // instead: pods at once in each zone
	Classes           []PoolPart            `json:"classes,omitempty"`   // instead: pods at once of each class
	Bandwidth         *resource.Quantity    `json:"bandwidth,omitempty"` // bytes per second between zones; 0: no bound
	Policy            string                `json:"policy,omitempty"`
	CloneBudget       *int32                `json:"cloneBudget,omitempty"`
	MaxWait           *metav1.Duration      `json:"maxWait,omitempty"`
	Preemption        string                `json:"preemption,omitempty"`
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
}

// PoolPart is how many pods of all Jobs together there may be at once in a zone or of a class.
type PoolPart struct {
	Name  string `json:"name"`
	Slots int32  `json:"slots"`
}

// SlotPoolStatus is who has the slots and who waits for some.
type SlotPoolStatus struct {
	Jobs       int32               `json:"jobs"`                // that are not over
	Slots      int32               `json:"slots,omitempty"`     // of all parts together; 0 where a resource is counted
	Used       int32               `json:"used"`                // slots; pods where they are counted in a resource
	Clones     int32               `json:"clones"`              // among the pods that have them
	Waiting    int32               `json:"waiting"`             // Jobs without a slot
	Requested  corev1.ResourceList `json:"requested,omitempty"` // by these pods, of the resource that the pool counts
	Zones      []PartStatus        `json:"zones,omitempty"`
	Classes    []PartStatus        `json:"classes,omitempty"`
	Turns      []PoolTurn          `json:"turns,omitempty"`     // of several policies: who decides since when
	Portfolio  string              `json:"portfolio,omitempty"` // how they compared
	Members    []PoolMember        `json:"members,omitempty"`
	Conditions []metav1.Condition  `json:"conditions,omitempty"`
}

// PartStatus is what pods have of the slots of a zone or a class.
type PartStatus struct {
	Name  string `json:"name"`
	Slots int32  `json:"slots"`
	Used  int32  `json:"used"`
}

// PoolMember is a Job in a pool.
type PoolMember struct {
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	Pods       int32  `json:"pods"`
	Clones     int32  `json:"clones"`
	Unfinished int32  `json:"unfinished"` // tasks
	Waits      string `json:"waits,omitempty"`
}

// SlotPoolList is a list of them.
type SlotPoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SlotPool `json:"items"`
}

// Scheme returns the types of Kubernetes, SlotPools and what is read of Workloads.
func Scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	if err := clientscheme.AddToScheme(s); err != nil {
		return nil, err
	}
	if err := addWorkloadTypes(s); err != nil {
		return nil, err
	}
	return s, addPoolTypes(s)
}

func addPoolTypes(s *runtime.Scheme) error {
	s.AddKnownTypes(poolVersion, &SlotPool{}, &SlotPoolList{})
	metav1.AddToGroupVersion(s, poolVersion)
	return nil
}

// DeepCopyObject is for runtime.Object.
func (p *SlotPool) DeepCopyObject() runtime.Object { return p.DeepCopy() }

// DeepCopy shares nothing with the original.
func (p *SlotPool) DeepCopy() *SlotPool {
	q := *p
	q.ObjectMeta = *p.ObjectMeta.DeepCopy()
	q.Spec.CloneBudget, q.Spec.MaxWait = copyOf(p.Spec.CloneBudget), copyOf(p.Spec.MaxWait)
	q.Spec.Zones, q.Status.Zones = slices.Clone(p.Spec.Zones), slices.Clone(p.Status.Zones)
	q.Spec.Classes, q.Status.Classes = slices.Clone(p.Spec.Classes), slices.Clone(p.Status.Classes)
	if p.Spec.Bandwidth != nil {
		q.Spec.Bandwidth = new(p.Spec.Bandwidth.DeepCopy())
	}
	q.Spec.Resources, q.Status.Requested = p.Spec.Resources.DeepCopy(), p.Status.Requested.DeepCopy()
	q.Spec.NamespaceSelector = p.Spec.NamespaceSelector.DeepCopy()
	q.Status.Turns = append([]PoolTurn(nil), p.Status.Turns...)
	q.Status.Members = append([]PoolMember(nil), p.Status.Members...)
	q.Status.Conditions = append([]metav1.Condition(nil), p.Status.Conditions...)
	return &q
}

// DeepCopyObject is for runtime.Object.
func (l *SlotPoolList) DeepCopyObject() runtime.Object {
	m := *l
	m.Items = make([]SlotPool, len(l.Items))
	for i := range l.Items {
		m.Items[i] = *l.Items[i].DeepCopy()
	}
	return &m
}

func copyOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	x := *p
	return &x
}
