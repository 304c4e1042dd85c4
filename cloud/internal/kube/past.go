package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// How long the pods of a Job ran is kept for the next Job of the same owner or name, in a ConfigMap for each, since
// Jobs and pods are removed. The ConfigMaps are in the controller's namespace: so it needs no right to anybody else's.

// mostPasts bounds how many there are.
const mostPasts = 1000

// pastStage is the name of the only stage of a Job.
const pastStage = "tasks"

func pastKey(job *batchv1.Job) string {
	n := live.Named{Namespace: job.Namespace, Name: job.Name, GenerateName: job.GenerateName}
	if owner := metav1.GetControllerOf(job); owner != nil {
		n.OwnerKind, n.OwnerName = owner.Kind, owner.Name
	}
	return live.PastKey(n)
}

// pastOf returns what is kept of earlier runs, read once for a Job. What cannot be read is as if there was nothing: a
// Job does not wait for it.
func (c *reconciler) pastOf(ctx context.Context, job *batchv1.Job, s *state) *live.Past {
	if s.past == nil {
		past, _, err := c.readPast(ctx, job)
		if err != nil {
			log.FromContext(ctx).Error(err, "durations of earlier runs are not known")
			past = &live.Past{}
		}
		s.past = past
	}
	return s.past
}

// readPast returns the past and the ConfigMap that holds it, which has no version if it is not there yet.
func (c *reconciler) readPast(ctx context.Context, job *batchv1.Job) (*live.Past, *corev1.ConfigMap, error) {
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.past, Name: pastKey(job)}}
	if c.past == "" {
		return &live.Past{}, m, nil
	}
	err := c.client.Get(ctx, client.ObjectKeyFromObject(m), m)
	if apierrors.IsNotFound(err) {
		return &live.Past{}, m, nil
	}
	if err != nil {
		return nil, nil, err
	}
	past, err := live.ParsePast([]byte(m.Data[live.PastFile]))
	if err != nil { // somebody has written into it: begin anew
		log.FromContext(ctx).Error(err, "durations of earlier runs are dropped", "configmap", m.Name)
		past = &live.Past{}
	}
	return past, m, nil
}

// remember keeps how long the pods of a Job ran that is about to be complete, those of winners and, as lower bounds, of
// those that were cut off. That is not told to the API server
// before, so a controller that dies in between is followed by one that does it again, which changes nothing. What
// cannot be kept is lost: the Job has succeeded.
func (c *reconciler) remember(ctx context.Context, job *batchv1.Job, s *state, sights []sight) error {
	c.judgeAll(s, sights, c.now())
	var durations []sched.Time
	for i := range sights {
		if x := &sights[i]; x.phase == succeeded && !x.begun.IsZero() && !x.ended.Before(x.begun) {
			durations = append(durations, sched.Time(x.ended.Sub(x.begun)))
		}
	}
	var cut []sched.Time
	for _, x := range s.cut {
		if x.ran > 0 {
			cut = append(cut, x.ran)
		}
	}
	if c.past == "" || len(durations) == 0 {
		return nil
	}
	past, m, err := c.readPast(ctx, job)
	if err == nil {
		err = c.writePast(ctx, m, past, job, durations, cut)
	}
	if err != nil && !apierrors.IsConflict(err) {
		log.FromContext(ctx).Error(err, "durations are not kept for later runs")
		return nil
	}
	return err
}

func (c *reconciler) writePast(ctx context.Context, m *corev1.ConfigMap, past *live.Past, job *batchv1.Job, won, cut []sched.Time) error {
	past.Add(job.Name, string(job.UID), []string{pastStage}, [][]sched.Time{won}, [][]sched.Time{cut})
	return c.savePast(ctx, m, past)
}

func (c *reconciler) savePast(ctx context.Context, m *corev1.ConfigMap, past *live.Past) error {
	text, err := json.Marshal(past)
	if err != nil {
		return err
	}
	m.Data = map[string]string{live.PastFile: string(text)}
	m.Labels = with(m.Labels, historyLabel, "true")
	m.Annotations = with(m.Annotations, addedAnnotation, c.now().UTC().Format(time.RFC3339))
	if m.ResourceVersion != "" {
		return c.client.Update(ctx, m)
	}
	if err := c.client.Create(ctx, m); err != nil {
		return err
	}
	return c.prune(ctx, mostPasts)
}

// prune deletes ConfigMaps above a number: those to which nothing was added for longest. Jobs whose names or owners
// never come again leave one each.
func (c *reconciler) prune(ctx context.Context, most int) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	if err := c.client.List(ctx, list, client.InNamespace(c.past), client.HasLabels{historyLabel}); err != nil {
		return err
	}
	slices.SortFunc(list.Items, func(a, b metav1.PartialObjectMetadata) int { // the latest first
		return cmp.Or(cmp.Compare(b.Annotations[addedAnnotation], a.Annotations[addedAnnotation]), cmp.Compare(a.Name, b.Name))
	})
	for i := most; i < len(list.Items); i++ {
		old := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.past, Name: list.Items[i].Name}}
		if err := c.client.Delete(ctx, old); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}
