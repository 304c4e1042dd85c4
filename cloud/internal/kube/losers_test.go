package kube

import (
	"context"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// deletions notes with which grace period pods are deleted; -1 for their own.
func (b *bench) deletions() map[string]int64 {
	var mu sync.Mutex // the controller makes its requests beside each other
	graces := map[string]int64{}
	b.client = interceptor.NewClient(b.client.(client.WithWatch), interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			var all client.DeleteOptions
			all.ApplyOptions(opts)
			mu.Lock()
			graces[o.GetName()] = ptr.Deref(all.GracePeriodSeconds, -1)
			mu.Unlock()
			return c.Delete(ctx, o, opts...)
		},
	})
	return graces
}

// A loser has the loser's grace period, and never a longer one than its pod; what is ended for other reasons has its own.
func TestLoserGrace(t *testing.T) {
	for _, c := range []struct {
		name       string
		annotation string
		own        *int64
		suspend    bool
		want       int64
	}{
		{"default", "", nil, false, 1},
		{"annotation", "4500ms", nil, false, 5},
		{"own", "0s", nil, false, -1},
		{"shorter", "5s", ptr.To[int64](2), false, -1},
		{"suspended", "", nil, true, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := testJob(1)
			job.Annotations = map[string]string{PolicyAnnotation: "srew:slot=0s", LoserGraceAnnotation: c.annotation}
			job.Spec.Template.Spec.TerminationGracePeriodSeconds = c.own
			b := newBench(t, job)
			b.settle()
			b.startPod(&b.live()[0])
			b.settle()
			pods, graces := b.live(), b.deletions()
			if len(pods) < 2 {
				t.Fatalf("%d pods", len(pods))
			}
			if c.suspend {
				b.edit(func(j *batchv1.Job) { j.Spec.Suspend = &c.suspend })
			} else {
				b.finishPod(&pods[0], corev1.PodSucceeded)
				pods = pods[1:]
			}
			b.settle()
			for _, p := range pods {
				if got, ended := graces[p.Name]; !ended || got != c.want {
					t.Errorf("%s ended: %v, within %d s, want %d", p.Name, ended, got, c.want)
				}
			}
		})
	}
}

// A loser whose node is gone is removed without asking the node. One whose node is there, or has been away for a moment, is not, nor is a pod that has not lost.
func TestLoserOnLostNode(t *testing.T) {
	for _, c := range []struct {
		name  string
		ready corev1.ConditionStatus
		since time.Duration
		wins  bool // another attempt
		want  bool // removed
	}{
		{"gone", corev1.ConditionUnknown, time.Hour, true, true},
		{"broken", corev1.ConditionFalse, time.Hour, true, true},
		{"just gone", corev1.ConditionUnknown, 10 * time.Second, true, false},
		{"there", corev1.ConditionTrue, time.Hour, true, false},
		{"only attempt", corev1.ConditionUnknown, time.Hour, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := testJob(2)
			job.Annotations = map[string]string{PolicyAnnotation: "srew:slot=0s"}
			if !c.wins {
				job.Annotations[PolicyAnnotation] = "fifo"
			}
			b := newBench(t, job)
			told := events.NewFakeRecorder(20)
			b.events = told
			later := time.Now().Add(time.Minute) // by the API server's clock, which the fake reads
			b.startOnNode(c.ready, later.Add(-c.since))
			if c.wins {
				done := map[string]bool{}
				for _, p := range b.live() {
					if index := p.Labels[indexLabel]; !done[index] {
						b.finishPod(&p, corev1.PodSucceeded)
						done[index] = true
					}
				}
			} else if err := b.api.Delete(context.Background(), &b.live()[0]); err != nil { // as the node's taint does
				t.Fatal(err)
			}
			b.settle()
			b.clock = later
			graces := b.deletions()
			b.settle()
			removed := 0
			for name, grace := range graces {
				if grace != 0 {
					t.Errorf("%s is deleted with a grace period of %d s", name, grace)
				}
				removed++
			}
			if (removed > 0) != c.want {
				t.Errorf("%d pods are removed, want some: %v", removed, c.want)
			}
		})
	}
}

// startOnNode starts all pods, on a node that has been ready, or not, since an instant, and whose kubelet is to let go of
// them: until then the API server keeps them.
func (b *bench) startOnNode(ready corev1.ConditionStatus, since time.Time) {
	b.t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, LastTransitionTime: metav1.Time{Time: since}}}
	if err := b.api.Create(context.Background(), node); err != nil {
		b.t.Fatal(err)
	}
	b.settle()
	for _, p := range b.live() {
		p.Finalizers = append(p.Finalizers, "example.org/kubelet")
		b.startPod(&p)
	}
	b.settle()
}

// A pod that Kubernetes has deleted with its node is removed as well once its replacement has succeeded, and the Job is complete.
func TestEvictedFromLostNode(t *testing.T) {
	job := testJob(2)
	job.Annotations = map[string]string{PolicyAnnotation: "fifo"}
	b := newBench(t, job)
	later := time.Now().Add(time.Minute) // by the API server's clock, which the fake reads
	b.startOnNode(corev1.ConditionUnknown, later.Add(-time.Hour))
	evicted := b.live()[0]
	if err := b.api.Delete(context.Background(), &evicted); err != nil {
		t.Fatal(err)
	}
	b.clock = later // past the backoff
	b.settle()
	if n := len(b.live()); n != 2 {
		t.Fatalf("%d pods, want the one that is left and a replacement", n)
	}
	for _, p := range b.live() {
		b.finishPod(&p, corev1.PodSucceeded)
	}
	graces := b.deletions()
	b.settle()
	if grace, removed := graces[evicted.Name]; !removed || grace != 0 {
		t.Errorf("the evicted pod is removed: %v, with a grace period of %d s", removed, grace)
	}
}

// A loser is removed as soon as its last container has stopped, for a kubelet takes two seconds more to say that the pod has ended. One that still runs, or
// might be started again, is not.
func TestStoppedLoser(t *testing.T) {
	for _, c := range []struct {
		name    string
		stopped bool
		restart corev1.RestartPolicy
		want    bool
	}{
		{"stopped", true, corev1.RestartPolicyNever, true},
		{"running", false, corev1.RestartPolicyNever, false},
		{"may be restarted", true, corev1.RestartPolicyOnFailure, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := testJob(1)
			job.Annotations = map[string]string{PolicyAnnotation: "srew:slot=0s"}
			job.Spec.Template.Spec.RestartPolicy, job.Spec.Template.Spec.Containers = c.restart, []corev1.Container{{Name: "task"}}
			b := newBench(t, job)
			b.settle()
			b.startPod(&b.live()[0])
			b.settle()
			pods := b.live()
			if len(pods) < 2 {
				t.Fatalf("%d pods", len(pods))
			}
			loser := pods[1]
			loser.Finalizers = append(loser.Finalizers, "example.org/kubelet") // so that the API server keeps it
			b.startPod(&loser)
			b.finishPod(&pods[0], corev1.PodSucceeded)
			b.settle()
			if err := b.api.Get(context.Background(), client.ObjectKeyFromObject(&loser), &loser); err != nil || loser.DeletionTimestamp == nil {
				t.Fatalf("the loser is not being deleted: %v", err)
			}
			if c.stopped {
				loser.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137}}
				if err := b.api.Status().Update(context.Background(), &loser); err != nil {
					t.Fatal(err)
				}
			}
			graces := b.deletions()
			b.settle()
			if grace, removed := graces[loser.Name]; removed != c.want || grace != 0 {
				t.Errorf("removed: %v, with a grace period of %d s; want %v, 0", removed, grace, c.want)
			}
		})
	}
}
