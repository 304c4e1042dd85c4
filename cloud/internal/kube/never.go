package kube

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Values of ClonesAnnotation.
const (
	clonesNever   = "never"
	clonesAllowed = "allowed"
)

// verdictOnClones is why a Job has no clones, "" if it may have some. It is asked for once, since neither a pod
// template nor the access modes of a claim change; as long as a claim is not there, again.
type verdictOnClones struct {
	annotation string // that it was asked for with
	known      bool
	why        string
}

// cloneable tells why a Job has no clones: since it says so, or since a second pod of a task would stand in the way of
// the first. It tells the Job once.
func (c *reconciler) cloneable(ctx context.Context, job *batchv1.Job, s *state) (why string, err error) {
	text := job.Annotations[ClonesAnnotation]
	if v := &s.clones; !v.known || v.annotation != text {
		before := v.why
		if *v, err = c.judgeClones(ctx, job, text); err != nil {
			return "", err
		}
		if v.why != "" && v.why != before {
			c.events.Eventf(job, nil, corev1.EventTypeNormal, "NotCloned", "Reconcile", "no task gets a clone: %s", v.why)
		}
	}
	return s.clones.why, nil
}

func (c *reconciler) judgeClones(ctx context.Context, job *batchv1.Job, text string) (verdictOnClones, error) {
	v := verdictOnClones{annotation: text, known: true}
	override := fmt.Sprintf("%s: %s clones it all the same", ClonesAnnotation, clonesAllowed)
	switch text {
	case "":
	case clonesAllowed:
		return v, nil
	case clonesNever:
		v.why = "its annotation " + ClonesAnnotation + " says so"
		return v, nil
	default:
		return v, fmt.Errorf("%s: %q is neither %s nor %s", ClonesAnnotation, text, clonesNever, clonesAllowed)
	}
	spec := &job.Spec.Template.Spec
	if spec.Subdomain != "" && isIndexed(job) {
		v.why = fmt.Sprintf("its pods have the subdomain %s, where a clone would answer to the host name of its original; %s", spec.Subdomain, override)
		return v, nil
	}
	for i := range spec.Volumes {
		source := spec.Volumes[i].PersistentVolumeClaim
		if source == nil {
			continue
		}
		claim := &corev1.PersistentVolumeClaim{}
		err := c.client.Get(ctx, client.ObjectKey{Namespace: job.Namespace, Name: source.ClaimName}, claim)
		switch {
		case apierrors.IsNotFound(err):
			v.known, v.why = false, fmt.Sprintf("its volume claim %s is not there yet", source.ClaimName)
		case apierrors.IsForbidden(err):
			v.why = fmt.Sprintf("the controller may not read its volume claim %s; %s", source.ClaimName, override)
		case err != nil:
			return v, err
		case !shared(claim):
			v.why = fmt.Sprintf("its volume claim %s is %s, which a clone would need too; %s", source.ClaimName, claim.Spec.AccessModes[0], override)
		}
		if v.why != "" {
			break
		}
	}
	return v, nil
}

// shared tells whether pods on several nodes can have the volume.
func shared(claim *corev1.PersistentVolumeClaim) bool {
	return len(claim.Spec.AccessModes) == 0 || slices.ContainsFunc(claim.Spec.AccessModes, func(m corev1.PersistentVolumeAccessMode) bool {
		return m == corev1.ReadWriteMany || m == corev1.ReadOnlyMany
	})
}
