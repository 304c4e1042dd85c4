package kube

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/tailcut/tailcut/sched"
)

// settingsOf reads a Job's annotations. The error names the one that is wrong. In a pool, if it is not nil, the pool
// says what the policy and the budget of clones are, and the law is that of earlier runs. A dry run takes no slot
// there.
func (c *reconciler) settingsOf(ctx context.Context, job *batchv1.Job, st *state, pool *rules) (settings, error) {
	s := settings{
		policy: cmp.Or(job.Annotations[PolicyAnnotation], c.policy), law: job.Annotations[LawAnnotation],
		completions: tasksOf(job), resumable: job.Annotations[ResumableAnnotation] == "true", start: job.Status.StartTime.UTC(),
	}
	if text := job.Annotations[MaxAttemptsAnnotation]; text != "" {
		n, err := strconv.ParseUint(text, 10, 15)
		if err != nil || n == 0 {
			return s, fmt.Errorf("%s: %q is not a number from 1 to 32767", MaxAttemptsAnnotation, text)
		}
		s.attempts = int(n)
	}
	switch text := job.Annotations[CloneBudgetAnnotation]; text {
	case "":
	case "none":
		s.clones = sched.Unlimited
	default:
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil || n == 0 {
			return s, fmt.Errorf("%s: %q is neither a number above 0 nor none", CloneBudgetAnnotation, text)
		}
		s.clones = int(n)
	}
	why, err := c.cloneable(ctx, job, st)
	if err != nil {
		return s, err
	}
	if isQueue(job) || why != "" {
		s.attempts = 1
	}
	if pool != nil {
		s.policy, s.law, s.clones = pool.policy, "", 0
		if job.Annotations[DryRunAnnotation] == "true" {
			s.attempts = 1
		}
		if s.class, err = pool.classOf(job); err != nil {
			return s, err
		}
		if s.data, s.within, err = zonesOf(job, pool); err != nil {
			return s, err
		}
	}
	if _, _, err := loserGrace(job); err != nil {
		return s, err
	}
	if s.deadline, err = aimOf(job); err != nil || s.law != "" {
		return s, err
	}
	s.mean, s.sd = c.pastOf(ctx, job, st).Estimate(pastStage)
	return s, nil
}

// loserGrace returns how long losers of a Job may take to end, if the Job says so.
func loserGrace(job *batchv1.Job) (d time.Duration, said bool, err error) {
	text := job.Annotations[LoserGraceAnnotation]
	if text == "" {
		return 0, false, nil
	}
	if d, err = time.ParseDuration(text); err != nil || d < 0 {
		return 0, false, fmt.Errorf("%s: %q is not a duration such as 5s, or 0s for the pod's own", LoserGraceAnnotation, text)
	}
	return d, true, nil
}

// aimOf returns the instant that policies aim at, the zero time for none. The Job must have started.
func aimOf(job *batchv1.Job) (time.Time, error) {
	start := job.Status.StartTime.UTC()
	text := job.Annotations[DeadlineAnnotation]
	if text == "" {
		if job.Spec.ActiveDeadlineSeconds != nil {
			return start.Add(time.Duration(*job.Spec.ActiveDeadlineSeconds) * time.Second), nil
		}
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC(), nil // settings are compared, and Parse makes each a zone of its own
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return time.Time{}, fmt.Errorf("%s: %q is neither a duration such as 10m nor an instant such as 2030-01-31T18:00:00Z", DeadlineAnnotation, text)
	}
	return start.Add(d), nil
}
