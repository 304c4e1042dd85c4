package kube

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
)

// quotaOf is what Kueue 0.17 reserves for a Job, in pods: Job.podsCount less Job.ReclaimablePods.
func quotaOf(job *batchv1.Job) int {
	n, p := *job.Spec.Completions, *job.Spec.Parallelism
	quota := min(n, p)
	if left := n - job.Status.Succeeded; p > 1 && job.Status.Succeeded > 0 && left < p {
		quota -= p - left
	}
	return int(quota)
}

// Whatever happens to the pods of a Job that each get a clone, and to the controller, there are never more pods than
// Kueue has reserved quota for, what has been counted stays so, and in the end every task is.
func TestQuotaStorm(t *testing.T) {
	for _, indexed := range []bool{true, false} {
		t.Run(strconv.FormatBool(indexed), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) { quotaStorm(t, rt, indexed) })
		})
	}
}

func quotaStorm(t *testing.T, rt *rapid.T, indexed bool) {
	n := rapid.Int32Range(1, 6).Draw(rt, "completions")
	job := testJob(n)
	if !indexed {
		interchangeable(job)
	}
	*job.Spec.Parallelism = rapid.Int32Range(1, 8).Draw(rt, "parallelism")
	*job.Spec.BackoffLimit = 1000
	job.Labels = map[string]string{QueueLabel: "nightly"}
	job.Annotations = map[string]string{PolicyAnnotation: "srew:slot=0s"}
	if budget := rapid.IntRange(0, 4).Draw(rt, "budget"); budget > 0 {
		job.Annotations[CloneBudgetAnnotation] = strconv.Itoa(budget)
	}
	b := newBench(t, job)
	told := int32(0)
	look := func() {
		if err := b.reconcile(); err != nil && b.left != 0 {
			rt.Fatal(err)
		}
		now, pods := b.job(), 0
		for _, p := range b.pods() {
			if !terminal(&p) {
				pods++
			}
		}
		if quota := quotaOf(now); pods > max(0, quota) {
			rt.Fatalf("%d pods, and Kueue has reserved quota for %d: %+v", pods, quota, now.Status)
		}
		if now.Status.Succeeded < told {
			rt.Fatalf("%d tasks are counted, and %d have been", now.Status.Succeeded, told)
		}
		told = now.Status.Succeeded
	}
	for range rapid.IntRange(0, 30).Draw(rt, "rounds") {
		b.clock = b.clock.Add(time.Duration(rapid.IntRange(0, 30).Draw(rt, "seconds")) * time.Second)
		if pods := b.onNodes(); len(pods) > 0 {
			p := &pods[rapid.IntRange(0, len(pods)-1).Draw(rt, "pod")]
			switch rapid.IntRange(0, 5).Draw(rt, "what") {
			case 0, 1:
				b.begin(p)
			case 2, 3:
				b.endOnNode(p, corev1.PodSucceeded)
			case 4:
				b.endOnNode(p, corev1.PodFailed)
			}
		}
		b.left = -1
		if rapid.IntRange(0, 3).Draw(rt, "killed") == 0 {
			b.left = rapid.IntRange(0, 6).Draw(rt, "after")
		}
		look()
		look()
		if b.left == 0 {
			b.restart()
		}
	}
	b.left = -1
	for range 60 {
		look()
		if conditionOf(&b.job().Status, batchv1.JobComplete) != nil {
			if told != n {
				rt.Fatalf("%d of %d tasks are counted", told, n)
			}
			return
		}
		b.clock = b.clock.Add(10 * time.Minute)
		for _, p := range b.onNodes() {
			b.endOnNode(&p, corev1.PodSucceeded)
		}
	}
	rt.Fatalf("not complete: %+v", b.job().Status)
}

// While a Job of Kueue's has a straggler left, its clone has a place: one success is not counted, until the other attempt is gone.
func TestQuotaOfClone(t *testing.T) {
	job := testJob(4)
	job.Labels = map[string]string{QueueLabel: "nightly"}
	job.Annotations = map[string]string{PolicyAnnotation: "srew:slot=0s"}
	b := newBench(t, job)
	b.settle()
	pods := b.live()
	if len(pods) != 4 {
		t.Fatalf("%d pods", len(pods))
	}
	for i := range pods {
		b.begin(&pods[i])
	}
	b.clock = b.clock.Add(time.Minute)
	b.settle()
	for i := range pods[:3] {
		b.endOnNode(&pods[i], corev1.PodSucceeded)
	}
	b.settle()
	st := b.job().Status
	if n := len(b.live()); n != 2 || st.Succeeded != 2 || st.CompletedIndexes != "0,1" {
		t.Fatalf("%d pods run; %+v", n, st)
	}
	for _, p := range b.live() {
		if podtemplate.IsClone(p.Labels) {
			b.endOnNode(&p, corev1.PodSucceeded)
		}
	}
	b.settle()
	if st := b.job().Status; st.Succeeded != 3 || *st.Terminating != 1 {
		t.Errorf("while the loser ends: %+v", st)
	}
	for _, p := range b.onNodes() {
		b.endOnNode(&p, corev1.PodFailed)
	}
	b.settle()
	if st := b.job().Status; st.Succeeded != 4 || conditionOf(&st, batchv1.JobComplete) == nil {
		t.Errorf("at the end: %+v", st)
	}
}

// onNodes returns the pods whose containers run or may come to run, those included that are being deleted.
func (b *bench) onNodes() (pods []corev1.Pod) {
	for _, p := range b.pods() {
		if !terminal(&p) {
			pods = append(pods, p)
		}
	}
	return pods
}

const kubelet = "example.org/kubelet" // keeps a pod that is deleted until its containers have ended

// begin lets the containers of a pod start.
func (b *bench) begin(p *corev1.Pod) {
	if p.DeletionTimestamp == nil && p.Spec.NodeName == "" {
		p.Spec.NodeName, p.Finalizers = "node", append(p.Finalizers, kubelet)
		if err := b.api.Update(context.Background(), p); err != nil {
			b.t.Fatal(err)
		}
	}
	p.Status.Phase = corev1.PodRunning
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: b.clock}}}}}
	if err := b.api.Status().Update(context.Background(), p); err != nil {
		b.t.Fatal(err)
	}
}

// endOnNode lets a pod end, and go if it is deleted.
func (b *bench) endOnNode(p *corev1.Pod, phase corev1.PodPhase) {
	b.finishPod(p, phase)
	p.Finalizers = slices.DeleteFunc(p.Finalizers, func(f string) bool { return f == kubelet })
	if err := b.api.Update(context.Background(), p); client.IgnoreNotFound(err) != nil {
		b.t.Fatal(err)
	}
}
