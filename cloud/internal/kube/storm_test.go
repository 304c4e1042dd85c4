package kube

import (
	"context"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
)

// However many of its requests succeed before the controller dies, each time, the Job completes, every task once, a failure is counted once, and
// no pod keeps its finalizer.
func TestKilledAfterEachRequest(t *testing.T) {
	for _, indexed := range []bool{true, false} {
		for requests := 1; requests <= 5; requests++ {
			t.Run(fmt.Sprintf("indexed=%v/%d", indexed, requests), func(t *testing.T) { killedAfter(t, indexed, requests) })
		}
	}
}

func killedAfter(t *testing.T, indexed bool, requests int) {
	job := testJob(3)
	if !indexed {
		interchangeable(job)
	}
	b := newBench(t, job)
	failedOnce := false
	for round := 0; ; round++ {
		if round == 200 {
			t.Fatalf("not complete: %+v", b.job().Status)
		}
		b.left = requests
		for b.reconcile() == nil && b.left > 0 && round%2 == 0 {
			b.left-- // a quiet controller dies too
		}
		b.clock = b.clock.Add(20 * time.Second)
		b.restart()
		if st := b.job().Status; conditionOf(&st, batchv1.JobComplete) != nil {
			break
		}
		if pods := b.pods(); round%3 == 2 && len(pods) > 0 {
			for i := range pods {
				if p := &pods[i]; p.Status.Phase == "" {
					phase := corev1.PodSucceeded
					if !failedOnce {
						phase, failedOnce = corev1.PodFailed, true
					}
					b.finishPod(p, phase)
					break
				}
			}
		}
	}
	b.left = -1
	if err := b.reconcile(); err != nil {
		t.Fatal(err)
	}
	st := b.job().Status
	if indexed != (st.CompletedIndexes == "0-2") || st.Succeeded != 3 || st.Failed != 1 {
		t.Errorf("completed %s, succeeded %d, failed %d", st.CompletedIndexes, st.Succeeded, st.Failed)
	}
	for _, p := range b.pods() {
		if hasFinalizer(&p) {
			t.Errorf("%s keeps its finalizer", p.Name)
		}
	}
}

// Interchangeable tasks under a policy that clones each: pods succeed, fail, are removed when they are counted, controllers die, and in the end exactly as many
// have been counted as were asked for. No pod says that it has an index.
func TestInterchangeableStorm(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.Int32Range(1, 4).Draw(rt, "completions")
		job := testJob(n)
		interchangeable(job)
		*job.Spec.Parallelism = rapid.Int32Range(1, 8).Draw(rt, "parallelism")
		*job.Spec.BackoffLimit = 1000
		job.Annotations = map[string]string{PolicyAnnotation: "srew:slot=0s"}
		b := newBench(t, job)
		for range rapid.IntRange(0, 15).Draw(rt, "rounds") {
			b.strike(rt)
		}
		b.left = -1
		for range 60 {
			if err := b.reconcile(); err != nil {
				rt.Fatal(err)
			}
			if st := b.job().Status; conditionOf(&st, batchv1.JobComplete) != nil {
				if st.Succeeded != n || st.CompletedIndexes != "" || len(st.UncountedTerminatedPods.Succeeded) > 0 {
					rt.Fatalf("%d of %d: %+v", st.Succeeded, n, st)
				}
				return
			}
			b.clock = b.clock.Add(10 * time.Minute)
			pods := b.pods()
			for i := range pods {
				if p := &pods[i]; !terminal(p) {
					b.finishPod(p, corev1.PodSucceeded)
				}
			}
		}
		rt.Fatalf("not complete: %+v, %d pods", b.job().Status, len(b.pods()))
	})
}

// strike is one thing that happens, and what the controller makes of it.
func (b *bench) strike(rt *rapid.T) {
	b.clock = b.clock.Add(time.Duration(rapid.IntRange(0, 30).Draw(rt, "seconds")) * time.Second)
	if pods := b.pods(); len(pods) > 0 {
		p := &pods[rapid.IntRange(0, len(pods)-1).Draw(rt, "pod")]
		if p.Annotations[indexLabel] != "" || p.Labels[indexLabel] != "" || p.Spec.Hostname != "" || p.Labels[podtemplate.TaskLabel] == "" {
			rt.Fatalf("%+v", p)
		}
		what := rapid.IntRange(0, 5).Draw(rt, "what")
		switch {
		case terminal(p) && !hasFinalizer(p) && what < 2:
			if err := b.api.Delete(context.Background(), p); err != nil {
				rt.Fatal(err)
			}
		case !terminal(p) && what < 4:
			b.finishPod(p, corev1.PodSucceeded)
		case !terminal(p) && what == 4:
			b.finishPod(p, corev1.PodFailed)
		}
	}
	b.left = -1
	if rapid.IntRange(0, 3).Draw(rt, "killed") == 0 {
		b.left = rapid.IntRange(0, 6).Draw(rt, "after")
	}
	for range 3 {
		if err := b.reconcile(); err != nil && b.left != 0 {
			rt.Fatal(err)
		}
	}
	if b.left == 0 {
		b.restart()
	}
}

// Pods that share a queue are as many as spec.parallelism until one succeeds. Then the others end by themselves, those that fail are not replaced,
// and the Job is complete.
func TestQueue(t *testing.T) {
	job := testJob(0)
	interchangeable(job)
	job.Spec.Completions = nil
	b := newBench(t, job)
	live := func() (pods []corev1.Pod) {
		for range 3 {
			if err := b.reconcile(); err != nil {
				t.Fatal(err)
			}
			b.clock = b.clock.Add(time.Minute)
		}
		for _, p := range b.pods() {
			if !terminal(&p) {
				pods = append(pods, p)
			}
		}
		return pods
	}
	pods := live()
	if len(pods) != 4 {
		t.Fatalf("%d pods", len(pods))
	}
	b.finishPod(&pods[0], corev1.PodFailed)
	if pods = live(); len(pods) != 4 {
		t.Fatalf("after a failure %d pods", len(pods))
	}
	less := b.job()
	*less.Spec.Parallelism = 3
	if err := b.api.Update(context.Background(), less); err != nil {
		t.Fatal(err)
	}
	if pods = live(); len(pods) != 3 {
		t.Fatalf("%d pods, 3 wanted", len(pods))
	}
	for i, phase := range []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed, corev1.PodSucceeded} {
		b.restart()
		b.finishPod(&pods[i], phase)
		if left := live(); len(left) != 2-i {
			t.Fatalf("%d pods, %d wanted", len(left), 2-i)
		}
	}
	if st := b.job().Status; conditionOf(&st, batchv1.JobComplete) == nil || st.Succeeded != 2 || st.Failed != 2 {
		t.Errorf("%+v", st)
	}
}

// A pod that is told to end because its Job is suspended, and then exits with 0, has not succeeded: its index runs again.
func TestSuspendedGently(t *testing.T) {
	for _, edit := range []func(*batchv1.Job){func(*batchv1.Job) {}, interchangeable} {
		job := testJob(1)
		edit(job)
		b := newBench(t, job)
		suspend := func(yes bool) {
			job := b.job()
			job.Spec.Suspend = &yes
			if err := b.api.Update(context.Background(), job); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := b.reconcile(); err != nil {
					t.Fatal(err)
				}
			}
			b.clock = b.clock.Add(time.Minute)
		}
		suspend(false)
		p := b.pods()[0]
		p.Finalizers = append(p.Finalizers, "example.org/slow") // so that the API server keeps it
		if err := b.api.Update(context.Background(), &p); err != nil {
			t.Fatal(err)
		}
		suspend(true)
		p = b.pods()[0]
		if p.Labels[LostLabel] == "" {
			t.Fatalf("%+v", p)
		}
		b.finishPod(&p, corev1.PodSucceeded)
		suspend(false)
		pods := b.pods()
		if len(pods) != 2 || b.job().Status.Succeeded != 0 {
			t.Fatalf("%d pods, succeeded %d", len(pods), b.job().Status.Succeeded)
		}
	}
}
