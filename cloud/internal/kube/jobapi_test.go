package kube

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
)

// What the Job API promises, seen from outside: with reconciliations, over an API server without validation.

// A success that the status does not count leaves its task to be done again, as with Kubernetes' own controller: an index that a Job lost when it was
// made smaller, or a pod that lost its finalizer before it succeeded.
func TestUncountedSuccess(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*batchv1.Job)
		lose func(*bench)
	}{
		{"smaller and larger", func(*batchv1.Job) {}, func(b *bench) {
			for _, p := range b.live() {
				if p.Labels[indexLabel] == "2" {
					b.finishPod(&p, corev1.PodSucceeded)
				}
			}
			b.settle()
			for _, n := range []int32{2, 3} {
				b.edit(func(j *batchv1.Job) { j.Spec.Completions = &n })
				b.settle()
			}
		}},
		{"without finalizer", func(*batchv1.Job) {}, (*bench).succeedUncounted},
		{"without finalizer or index", interchangeable, (*bench).succeedUncounted},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := testJob(3)
			c.edit(job)
			b := newBench(t, job)
			b.settle()
			c.lose(b)
			b.settle()
			b.restart()
			b.settle()
			if n := len(b.live()); n != 3 {
				t.Fatalf("%d pods run", n)
			}
			for _, p := range b.live() {
				b.finishPod(&p, corev1.PodSucceeded)
			}
			b.settle()
			if st := b.job().Status; conditionOf(&st, batchv1.JobComplete) == nil || st.Succeeded != 3 {
				t.Errorf("%+v", st)
			}
		})
	}
}

func (b *bench) succeedUncounted() {
	p := b.live()[0]
	p.Finalizers = nil
	if err := b.api.Update(context.Background(), &p); err != nil {
		b.t.Fatal(err)
	}
	b.finishPod(&p, corev1.PodSucceeded)
}

// spec.activeDeadlineSeconds holds whatever else keeps the Job: what is to come is asked for anew each time, since an event uses up a visit that was
// asked for before.
func TestActiveDeadline(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*batchv1.Job)
	}{
		{"running", func(*batchv1.Job) {}},
		{"wrong annotation", func(j *batchv1.Job) { j.Annotations = map[string]string{PolicyAnnotation: "sparc"} }},
		{"queue", func(j *batchv1.Job) { interchangeable(j); j.Spec.Completions = nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := testJob(3)
			job.Spec.ActiveDeadlineSeconds = ptr.To[int64](60)
			c.edit(job)
			b := newBench(t, job)
			b.settle()
			if pods := b.live(); len(pods) > 0 {
				b.finishPod(&pods[0], corev1.PodSucceeded)
			}
			for b.clock.Sub(epoch) < time.Minute {
				next, err := b.visit()
				if err != nil || next.RequeueAfter <= 0 {
					t.Fatalf("%v later: %v, %v", b.clock.Sub(epoch), next, err)
				}
				b.clock = b.clock.Add(next.RequeueAfter)
			}
			b.settle()
			if at := b.clock.Sub(epoch); at > 61*time.Second {
				t.Error("comes back after", at)
			}
			if st := b.job().Status; conditionOf(&st, batchv1.JobFailureTarget) == nil {
				t.Errorf("%+v", st)
			}
		})
	}
}

// A clone that the API server refuses is told of and tried again after a while. Nothing else of the Job minds.
func TestRefusedClone(t *testing.T) {
	job := testJob(1)
	job.Annotations = map[string]string{PolicyAnnotation: "srew:slot=0s"}
	b := newBench(t, job)
	told := events.NewFakeRecorder(10)
	b.events = told
	refusals := 0
	b.refuse = func(o client.Object) error {
		if podtemplate.IsClone(o.GetLabels()) {
			refusals++
			return errors.New("no such priority class")
		}
		return nil
	}
	b.settle()
	b.startPod(&b.live()[0])
	b.settle()
	if n := len(b.live()); n != 1 || refusals == 0 || len(told.Events) != refusals {
		t.Fatalf("%d pods, %d refusals, %d events", n, refusals, len(told.Events))
	}
	if text, want := <-told.Events, "Warning CloneRefused Error creating a clone of index 0: no such priority class"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
	b.refuse = nil
	next, err := b.visit()
	if err != nil || next.RequeueAfter <= 0 {
		t.Fatal(next, err)
	}
	if n := len(b.live()); n != 1 {
		t.Errorf("%d pods, before it is time", n)
	}
	b.clock = b.clock.Add(refusedRetry)
	b.settle()
	if n := len(b.live()); n != 1+refusals {
		t.Errorf("%d pods, %d clones were refused", n, refusals)
	}
}

// A dry run tells of each clone once, and makes none.
func TestDryRun(t *testing.T) {
	job := testJob(1)
	job.Annotations = map[string]string{PolicyAnnotation: "srew:slot=0s", DryRunAnnotation: "true"}
	b := newBench(t, job)
	told := events.NewFakeRecorder(10)
	b.events = told
	b.settle()
	b.startPod(&b.live()[0])
	b.settle()
	wanted := len(told.Events)
	b.settle()
	if n := len(b.live()); wanted == 0 || wanted != len(told.Events) || n != 1 {
		t.Errorf("%d events, then %d; %d pods", wanted, len(told.Events), n)
	}
}

// An original that is refused is an error, which is tried again with growing waits, and clones do not take what it may have been refused for.
func TestRefusedOriginal(t *testing.T) {
	b := newBench(t, testJob(3))
	b.refuse = func(o client.Object) error {
		if o.GetLabels()[indexLabel] == "1" {
			return errors.New("over quota")
		}
		return nil
	}
	if err := b.reconcile(); err == nil {
		t.Fatal("no error")
	}
	b.refuse = nil
	b.settle()
	if n := len(b.live()); n != 3 {
		t.Errorf("%d pods", n)
	}
}

// As long as nobody changes what a Job says, it keeps its run.
func TestRunIsKept(t *testing.T) {
	job := testJob(1)
	job.Annotations = map[string]string{DeadlineAnnotation: "2030-01-31T18:00:00+05:30"}
	b := newBench(t, job)
	b.settle()
	before := b.jobs[client.ObjectKeyFromObject(job)].member.run
	b.settle()
	if after := b.jobs[client.ObjectKeyFromObject(job)].member.run; before == nil || before != after {
		t.Errorf("run %p was followed by %p", before, after)
	}
}

// A Job cannot ask for more memory than there is: too many tasks are refused, and too many pods at once cost nothing.
func TestEnormousJob(t *testing.T) {
	for _, c := range []struct {
		completions, parallelism int32
		events, pods             int
	}{{math.MaxInt32, 1, 1, 0}, {2, math.MaxInt32, 0, 2}} {
		job := testJob(c.completions)
		job.Spec.Parallelism = &c.parallelism
		b := newBench(t, job)
		told := events.NewFakeRecorder(10)
		b.events = told
		b.settle()
		if len(told.Events) != c.events || len(b.live()) != c.pods {
			t.Errorf("%d tasks, %d at once: %d events, %d pods", c.completions, c.parallelism, len(told.Events), len(b.live()))
		}
	}
}

// Whoever deletes a Job says what becomes of its pods, which kubectl delete --cascade=orphan keeps: they are let go of and run on.
func TestDeletedJob(t *testing.T) {
	job := testJob(2)
	job.Finalizers = []string{metav1.FinalizerOrphanDependents}
	b := newBench(t, job)
	b.settle()
	if err := b.api.Delete(context.Background(), b.job()); err != nil {
		t.Fatal(err)
	}
	b.settle()
	pods := b.live()
	if len(pods) != 2 {
		t.Fatalf("%d pods", len(pods))
	}
	for _, p := range pods {
		if hasFinalizer(&p) || p.Labels[LostLabel] != "" {
			t.Errorf("%+v", p.ObjectMeta)
		}
	}
}

// With podReplacementPolicy Failed no index has a second pod, and the Job not more than spec.parallelism, before the first has ended: whoever ends it.
func TestReplacedWhenEnded(t *testing.T) {
	suspend := func(yes bool) func(*batchv1.Job) { return func(j *batchv1.Job) { j.Spec.Suspend = &yes } }
	parallelism := func(n int32) func(*batchv1.Job) { return func(j *batchv1.Job) { j.Spec.Parallelism = &n } }
	for _, c := range []struct {
		name       string
		away, back func(*batchv1.Job)
	}{
		{"suspended and resumed", suspend(true), suspend(false)},
		{"fewer and more at once", parallelism(0), parallelism(2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := testJob(4)
			job.Spec.PodReplacementPolicy, job.Spec.Parallelism = ptr.To(batchv1.Failed), ptr.To[int32](2)
			b := newBench(t, job)
			b.settle()
			for _, p := range b.live() {
				p.Finalizers = append(p.Finalizers, "example.org/slow") // so that the API server keeps it
				p.Spec.NodeName = "node"
				if err := b.api.Update(context.Background(), &p); err != nil {
					t.Fatal(err)
				}
			}
			b.edit(c.away)
			b.settle()
			b.edit(c.back)
			for ending := 2; ending >= 0; ending-- {
				b.settle()
				if n := len(b.live()); n != 2-ending {
					t.Fatalf("%d pods run while %d end", n, ending)
				}
				for _, p := range b.pods() {
					if p.DeletionTimestamp != nil && !terminal(&p) {
						b.finishPod(&p, corev1.PodFailed)
						break
					}
				}
			}
		})
	}
}

// A pod that waits for a node is not slow, however long it waits, nor is one that waits after a failure: there is no clone of it. When its containers have started its time begins.
func TestWaitingIsNotStraggling(t *testing.T) {
	job := testJob(8)
	job.Spec.Parallelism, job.Spec.BackoffLimit = ptr.To[int32](8), ptr.To[int32](6)
	job.Annotations = map[string]string{PolicyAnnotation: "spark:quantile=0.25,multiplier=1.5", CloneBudgetAnnotation: "none"}
	b := newBench(t, job)
	b.settle()
	clones := func() (n int) {
		for _, p := range b.pods() {
			if podtemplate.IsClone(p.Labels) {
				n++
			}
		}
		return n
	}
	pods := b.live()
	for wave := 0; wave < 8; wave += 2 { // room for two
		for _, p := range pods[wave : wave+2] {
			b.startPod(&p)
		}
		b.settle()
		b.clock = b.clock.Add(4 * time.Second)
		for _, p := range b.live() {
			if p.Status.Phase != corev1.PodRunning {
				continue
			}
			code := int32(0)
			if wave == 4 {
				code = 1 // and 10 s until the next attempt, for whose pod there is no room then
			}
			b.exitPod(&p, code)
		}
		b.settle()
		if n := clones(); n > 0 {
			t.Fatalf("%d clones after %d tasks", n, wave+2)
		}
	}
	for range 4 {
		b.clock = b.clock.Add(time.Minute)
		b.settle()
	}
	last := b.live()
	if n := clones(); n > 0 || len(last) != 2 {
		t.Fatalf("%d clones of %d pods that wait", n, len(last))
	}
	for _, p := range last {
		b.startPod(&p)
	}
	b.settle()
	b.clock = b.clock.Add(4 * time.Second)
	b.settle()
	if n := clones(); n > 0 {
		t.Errorf("%d clones of tasks that have run for 4 s, as the others", n)
	}
	b.clock = b.clock.Add(4 * time.Second)
	b.settle()
	if n := clones(); n != 2 {
		t.Errorf("%d clones of two tasks that have run for 8 s, the others took 4", n)
	}
}
