package kube

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
)

// create makes the pods that are missing and may be made now: first those of originals.
func (c *reconciler) create(ctx context.Context, job *batchv1.Job, s *state, sights []sight, now time.Time) error {
	clones := 0
	for i := range sights {
		if sights[i].live && sights[i].clone {
			clones++
		}
	}
	c.clones.hold(job, clones)
	for _, clones := range []bool{false, true} {
		due, pods := c.dueOf(job, s, clones, sights, now)
		if clones {
			c.spread(ctx, due, pods, sights)
		}
		if err := c.makePods(ctx, job, s, due, pods, now); err != nil {
			return err
		}
	}
	return nil
}

// dueOf returns the originals or the clones whose pods are missing and may be made now, and the pods.
func (c *reconciler) dueOf(job *batchv1.Job, s *state, clones bool, sights []sight, now time.Time) (due []*attempt, pods []*corev1.Pod) {
	p, m := s.pool, s.member
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run == nil || m.run != p.run { // another Job of the pool had it made anew
		s.comeBack(now)
		return nil, nil
	}
	if !clones {
		m.promote(func(a *attempt) bool { _, made := s.unseen[a.ref]; return made || a.seen })
	}
	missing := m.missing()
	room := min(len(missing), s.room)
	if replacesFailedOnly(job) { // those that are ending keep their place until they have ended
		live := 0
		for i := range sights {
			if sights[i].live {
				live++
			}
		}
		room = min(room, int(ptr.Deref(job.Spec.Parallelism, 1))-live-len(s.unseen))
	}
	for _, a := range missing {
		if room > 0 && a.clone == clones && c.mayMake(job, s, a, sights, now) {
			due = append(due, a)
			room--
			s.room--
		}
	}
	for _, a := range missing {
		if clones && a.clone && s.room == 0 && !slices.Contains(due, a) {
			c.hold(job, a, "Kueue has reserved no more quota for the Job")
		}
	}
	if len(due) > 0 {
		pods = c.podsFor(job, m, due, sights, now)
		for i, pod := range pods {
			p.mark(pod, due[i].part)
		}
	}
	return due, pods
}

// podsFor makes the pods of attempts for the API server to make.
func (c *reconciler) podsFor(job *batchv1.Job, m *member, due []*attempt, sights []sight, now time.Time) (pods []*corev1.Pod) {
	slow := m.slowNodes(now)
	for _, node := range c.nodes.slow(now) {
		if len(slow) < mostSlow && !slices.Contains(slow, node) {
			slow = append(slow, node)
		}
	}
	for _, a := range due {
		var earlier []sight
		for i := range sights {
			if sights[i].index == a.index {
				earlier = append(earlier, sights[i])
			}
		}
		failures := 0
		if job.Spec.BackoffLimitPerIndex != nil {
			failures = inherited(sights, a.index)
		}
		pods = append(pods, podFor(job, a, earlier, slow, failures, c.class))
	}
	return pods
}

// mayMake tells whether an attempt that has no pod may have it now, and sees to it that it is asked again.
func (c *reconciler) mayMake(job *batchv1.Job, s *state, a *attempt, sights []sight, now time.Time) bool {
	if _, made := s.unseen[a.ref]; made {
		return false
	}
	if replacesFailedOnly(job) && !a.clone && slices.ContainsFunc(sights, func(x sight) bool { return x.index == a.index && x.live && x.leaving }) {
		return false
	}
	if a.clone && slices.ContainsFunc(sights, func(x sight) bool { return x.index == a.index && x.clone && x.phase == failed }) {
		return false // the core knows it, unless the clone was an original to it, as it may be after a restart
	}
	at := notBefore(sights, a.index, a.clone)
	if again := a.refused.Add(refusedRetry); again.After(at) {
		at = again
	}
	if a.clone {
		begun := lastBegun(sights, a.index)
		if begun.IsZero() {
			return false // what waits is not slow; the watch tells when it begins
		}
		if a.asked.IsZero() {
			a.asked = now
		}
		if sure := a.of.late.sure(a.asked, begun); sure.After(at) {
			at = sure
		}
	}
	switch {
	case at.After(now):
		s.comeBack(at)
		return false
	case !a.clone:
		return s.pool.take(job.UID, a.part)
	case job.Annotations[DryRunAnnotation] == "true":
		c.dryClone(job, s, a)
		return false
	case s.pool.full(job.UID, a.part):
		return s.pool.take(job.UID, a.part) // and is told when there is room
	}
	ok, full := c.clones.take(job, now)
	if ok {
		return s.pool.take(job.UID, a.part)
	} else {
		s.comeBack(now.Add(cloneRetry))
	}
	if full != "" {
		c.hold(job, a, full)
	}
	return ok
}

// lastBegun is when the youngest attempt of a task began of those that may run, zero if none has.
func lastBegun(sights []sight, index int) (begun time.Time) {
	for i := range sights {
		if x := &sights[i]; x.index == index && x.live && x.begun.After(begun) {
			begun = x.begun
		}
	}
	return begun
}

// hold tells once why a clone has to wait.
func (c *reconciler) hold(job *batchv1.Job, a *attempt, full string) {
	if !a.held {
		a.held = true
		c.events.Eventf(job, podOf(job, a), corev1.EventTypeWarning, "CloneRefused", "Create", "attempt %d of %s, a clone, has to wait: %s",
			a.number, nameOfTask(job, a.index), full)
	}
}

// makePods makes the pods of attempts. If one of originals cannot be made, that is an error and the others wait. Clones
// need not be: one that is refused, by a quota or since its priority class is missing, holds up nothing else.
func (c *reconciler) makePods(ctx context.Context, job *batchv1.Job, s *state, due []*attempt, pods []*corev1.Pod, now time.Time) error {
	if len(due) == 0 {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelRequests)
	refused := make([]error, len(due))
	for i, a := range due {
		pod, clone := pods[i], podtemplate.IsClone(pods[i].Labels)
		s.unseen[a.ref] = unseen{now, partOf(pod)}
		group.Go(func() error {
			err := c.client.Create(ctx, pod)
			if err == nil || apierrors.IsAlreadyExists(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
				return nil
			}
			if refused[i] = err; clone {
				return nil
			}
			return err
		})
	}
	err := group.Wait()
	if err != nil {
		c.events.Eventf(job, nil, corev1.EventTypeWarning, "FailedCreate", "Create", "Error creating: %v", err)
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	for i, a := range due {
		c.made(job, s, a, refused[i], now)
	}
	return err
}

// made notes that the pod of an attempt was made, or refused.
func (c *reconciler) made(job *batchv1.Job, s *state, a *attempt, refused error, now time.Time) {
	if refused != nil {
		s.pool.giveBack(job.UID, s.unseen[a.ref].part)
		delete(s.unseen, a.ref) // one that does exist is known by its name the next time
		if a.clone {
			a.refused = now
			s.comeBack(now.Add(refusedRetry))
			c.events.Eventf(job, podOf(job, a), corev1.EventTypeWarning, "CloneRefused", "Create", "Error creating a clone of %s: %v", nameOfTask(job, a.index), refused)
		}
		return
	}
	s.comeBack(now.Add(unseenFor))
	attemptsStarted.WithLabelValues(podtemplate.Kind(a.clone)).Inc()
	if a.clone {
		c.events.Eventf(job, podOf(job, a), corev1.EventTypeNormal, "CloneStarted", "Create", "attempt %d of %s, a clone, under %s", a.number, nameOfTask(job, a.index), a.of.policy)
	}
}

// dryClone tells once of a clone that is not made.
func (c *reconciler) dryClone(job *batchv1.Job, s *state, a *attempt) {
	if !a.wanted {
		a.wanted = true
		c.events.Eventf(job, podOf(job, a), corev1.EventTypeNormal, "CloneWanted", "DryRun", "%s would start attempt %d of %s, a clone", a.of.policy, a.number, nameOfTask(job, a.index))
	}
}

// podOf names the pod of an attempt, for events: those about different pods are not taken for repetitions of one.
func podOf(job *batchv1.Job, a *attempt) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: podName(job, a.ref)}}
}
