package kube

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// lookEvery is how often the chance to meet a deadline is reckoned if nothing happens.
const lookEvery = 2 * time.Second

// watchDeadline warns once that a Job's deadline is at risk, as soon as it is.
func (c *reconciler) watchDeadline(job *batchv1.Job, s *state, now time.Time) {
	m := s.member
	if s.warned || m.deadline.IsZero() {
		return
	}
	p, ok := c.chance(m.run.core.View(), m.job, m.law)
	if !ok || p >= c.atRisk {
		s.comeBack(now.Add(lookEvery))
		return
	}
	s.warned = true
	left := m.deadline.Sub(now).Round(time.Second)
	c.events.Eventf(job, nil, corev1.EventTypeWarning, "DeadlineAtRisk", "Reconcile", "the deadline is in %v, and the chance to meet it is %.0f %%", left, 100*p)
}
