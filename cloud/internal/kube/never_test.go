package kube

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
)

// Jobs whose tasks must not run twice at a time have no clones, and one event says why. An annotation overrules what the controller guesses.
func TestNeverCloned(t *testing.T) {
	claim := func(job *batchv1.Job, name string) {
		job.Spec.Template.Spec.Volumes = append(job.Spec.Template.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
	}
	annotate := func(job *batchv1.Job, text string) { job.Annotations[ClonesAnnotation] = text }
	for _, c := range []struct {
		name   string
		change func(*batchv1.Job)
		why    string // "" if there is a clone
	}{
		{"plain", func(*batchv1.Job) {}, ""},
		{"annotation", func(j *batchv1.Job) { annotate(j, "never") }, "its annotation tailcut.dev/clones says so"},
		{"subdomain", func(j *batchv1.Job) { j.Spec.Template.Spec.Subdomain = "ranks" }, "its pods have the subdomain ranks"},
		{"subdomain, allowed", func(j *batchv1.Job) { j.Spec.Template.Spec.Subdomain = "ranks"; annotate(j, "allowed") }, ""},
		{"one writer", func(j *batchv1.Job) { claim(j, "shared"); claim(j, "once") }, "its volume claim once is ReadWriteOnce"},
		{"one pod", func(j *batchv1.Job) { claim(j, "pod") }, "its volume claim pod is ReadWriteOncePod"},
		{"one writer, allowed", func(j *batchv1.Job) { claim(j, "once"); annotate(j, "allowed") }, ""},
		{"many writers", func(j *batchv1.Job) { claim(j, "shared") }, ""},
		{"no claim yet", func(j *batchv1.Job) { claim(j, "none") }, "its volume claim none is not there yet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := testJob(4)
			job.Annotations = map[string]string{PolicyAnnotation: "spark:quantile=0.5,min_runtime=1s"}
			c.change(job)
			b := newBench(t, job)
			told := events.NewFakeRecorder(100)
			b.events = told
			for name, mode := range map[string]corev1.PersistentVolumeAccessMode{
				"shared": corev1.ReadWriteMany, "once": corev1.ReadWriteOnce, "pod": corev1.ReadWriteOncePod,
			} {
				v := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
				v.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{mode}
				if err := b.api.Create(context.Background(), v); err != nil {
					t.Fatal(err)
				}
			}
			b.play(0)
			b.play(0)
			b.play(5*time.Second, "0/0", "1/0", "2/0")
			b.play(20 * time.Second)
			b.play(20 * time.Second)
			cloned := slices.ContainsFunc(b.pods(), func(p corev1.Pod) bool { return podtemplate.IsClone(p.Labels) })
			said := slices.DeleteFunc(drain(told), func(e string) bool { return !strings.HasPrefix(e, "Normal NotCloned ") })
			if cloned != (c.why == "") || len(said) > 1 || c.why != "" && (len(said) != 1 || !strings.Contains(said[0], c.why)) {
				t.Errorf("cloned: %v, said: %q; want %q", cloned, said, c.why)
			}
		})
	}
	job := testJob(1)
	job.Annotations = map[string]string{ClonesAnnotation: "no"}
	b := newBench(t, job)
	told := events.NewFakeRecorder(100)
	b.events = told
	b.play(0)
	if all := drain(told); len(all) != 1 || all[0] != `Warning InvalidAnnotation tailcut.dev/clones: "no" is neither never nor allowed` {
		t.Error(all)
	}
}

// One namespace does not get the clones of all.
func TestCloneGateOfNamespaces(t *testing.T) {
	g := newCloneGate(5, 3, 1000)
	now := epoch
	take := func(namespace, name string) (bool, string) {
		job := testJob(1)
		job.Namespace, job.UID = namespace, types.UID(namespace+"/"+name)
		now = now.Add(time.Second)
		return g.take(job, now)
	}
	for i, c := range []struct{ namespace, name, full string }{
		{"a", "x", ""}, {"a", "y", ""}, {"a", "x", ""}, {"a", "y", "namespace a has its 3 clones (--max-clones-per-namespace)"},
		{"b", "x", ""}, {"b", "x", ""}, {"b", "x", "the cluster has its 5 clones (--max-clones)"}, {"a", "x", "the cluster has its 5 clones (--max-clones)"},
	} {
		if ok, full := take(c.namespace, c.name); ok != (c.full == "") || full != c.full {
			t.Errorf("clone %d: %v, %q, want %q", i, ok, full, c.full)
		}
	}
}
