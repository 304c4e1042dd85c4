package kube

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/sched"
)

// Why the controller ends attempts, in LostLabel.
const (
	lostSibling = "sibling-won" // enough others have succeeded
	lostSurplus = "not-needed"  // another attempt of its task has succeeded, or the policy has ended it
)

// cutOff is what is known of an attempt that was ended before it was done: it would have run for longer than that.
type cutOff struct {
	ref
	ran sched.Time
}

// cutting notes for how long attempts have run that are about to be ended. Their pods are soon gone, and without them a
// history would know no stragglers but those that no clone has overtaken.
func (s *state) cutting(sights []sight, ending []*corev1.Pod, now time.Time) {
	for i := range sights {
		x := &sights[i]
		if x.begun.IsZero() || !now.After(x.begun) || !slices.Contains(ending, x.pod) {
			continue
		}
		s.cutAt(cutOff{x.ref, sched.Time(now.Sub(x.begun))})
	}
}

// cutAt notes one, the first time that it is told to end.
func (s *state) cutAt(c cutOff) {
	at, known := slices.BinarySearchFunc(s.cut, c.ref, func(a cutOff, b ref) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.number, b.number))
	})
	if !known {
		s.cut = slices.Insert(s.cut, at, c)
	}
}

// cutBefore notes what an earlier controller has ended and whose pods are still there.
func (s *state) cutBefore(sights []sight) {
	for i := range sights {
		x := &sights[i]
		why, p := x.pod.Labels[LostLabel], x.pod
		if why != lostSibling && why != lostSurplus || p.DeletionTimestamp == nil || x.begun.IsZero() {
			continue
		}
		told := p.DeletionTimestamp.Add(-time.Duration(ptr.Deref(p.DeletionGracePeriodSeconds, 0)) * time.Second)
		if told.After(x.begun) {
			s.cutAt(cutOff{x.ref, sched.Time(told.Sub(x.begun))})
		}
	}
}
