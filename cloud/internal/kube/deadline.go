package kube

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/sched"
)

// lookEvery is how often the chance to meet a deadline is reckoned if nothing happens; lookSoon, while the first play
// has not told it.
const (
	lookEvery = 2 * time.Second
	lookSoon  = lookEvery / 5
)

// watchDeadline warns once that a Job's deadline is at risk, as soon as it is. Its pool is locked.
func (c *reconciler) watchDeadline(job *batchv1.Job, s *state, now time.Time) {
	m := s.member
	if s.warned || m.deadline.IsZero() {
		return
	}
	p, ok, again := c.chanceOf(m, now)
	if !ok || p >= c.atRisk {
		s.comeBack(now.Add(again))
		return
	}
	s.warned = true
	left := m.deadline.Sub(now).Round(time.Second)
	c.events.Eventf(job, nil, corev1.EventTypeWarning, "DeadlineAtRisk", "Reconcile", "the deadline is in %v, and the chance to meet it is %.0f %%", left, 100*p)
}

// mostPlayed is how many tasks a Job may have whose chance is played: what is known of them is copied while its pool is
// locked.
const mostPlayed = 20_000

// chanceOf returns how likely a Job is to meet its deadline. Where its durations are known the rest of its pool is
// played, and until the first play is over nothing is said. Else a formula looks at the Job alone. It is to be asked
// again after a time.
func (c *reconciler) chanceOf(m *member, now time.Time) (p float64, ok bool, again time.Duration) {
	r := m.run
	if r.core.View().Job(m.job).Deadline <= r.now() {
		return 0, true, lookEvery
	}
	f := &r.forecast
	f.hear()
	latest, played := f.chances[m.job]
	said := latest.ChanceAt(now)
	if played && said != nil && now.Before(f.next) {
		return *said, true, lookEvery
	}
	playable := r.newPolicy != nil && len(m.tasks) <= mostPlayed && m.known().Tell()
	if playable && f.playing == nil && c.plays.enter() {
		f.playing, f.next = make(chan map[sched.JobID]promise.Promise, 1), now.Add(lookEvery)
		go c.plays.play(r.state(), f.playing)
	}
	switch {
	case said != nil:
		return *said, true, lookEvery
	case playable && !played:
		return 0, false, lookSoon
	}
	p, ok = c.chance(r.core.View(), m.job, m.law)
	return p, ok, lookEvery
}
