package pods

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

func runsSince(at time.Time, name string) []corev1.ContainerStatus {
	return []corev1.ContainerStatus{{Name: name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(at)}}}}
}

func ranSince(at time.Time, name string) []corev1.ContainerStatus {
	return []corev1.ContainerStatus{{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: metav1.NewTime(at)}}}}
}

// That an attempt's own container has started is reported once, before its end, with the instant that the node names.
func TestBegins(t *testing.T) {
	w := newWorld(t, nil)
	at := time.Now().Add(-time.Minute).Truncate(time.Second)
	a := live.Attempt{ID: 1}
	p := w.start(a)
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: runsSince(at.Add(-time.Minute), "sidecar")}
	w.update(p)
	w.quiet()
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: runsSince(at, p.Spec.Containers[0].Name)}
	w.update(p)
	w.exec.seen(p)
	w.exec.seen(p)
	if r := w.report(); r.Kind != sched.AttemptBegan || r.Attempt != 1 || !r.At.Equal(at) {
		t.Errorf("report %+v, want that it began at %v", r, at)
	}
	w.quiet()
	b := live.Attempt{ID: 2, Index: 1} // it has ended when it is seen first
	p = w.start(b)
	p.Status = corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: ranSince(at, p.Spec.Containers[0].Name)}
	w.update(p)
	if r := w.report(); r.Kind != sched.AttemptBegan || r.Attempt != 2 || !r.At.Equal(at) {
		t.Errorf("report %+v, want that it began at %v", r, at)
	}
	if r := w.report(); r.Kind != sched.AttemptDone || r.Attempt != 2 {
		t.Errorf("report %+v, want that it is done", r)
	}
	w.quiet()
}

// Of eight tasks six are done, one runs on and one has a pod that waits for a node, for as long. The one that runs is cloned, the one that waits is not.
func TestPendingIsNotStraggling(t *testing.T) {
	for _, spec := range []string{"spark3", "late:min_age=0s"} {
		t.Run(spec, func(t *testing.T) {
			p, err := policy.New(spec, 1)
			if err != nil {
				t.Fatal(err)
			}
			run, err := live.Create(filepath.Join(t.TempDir(), "journal"), &trace.JournalHeader{
				Run: "r", Started: time.Now(), Policy: spec, Limits: sched.DefaultLimits(), Waits: true, Machines: []trace.JournalMachine{{Slots: 20}},
				Job: sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 8}}}, Stages: []string{"s"},
			}, p)
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, nil)
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			over := make(chan error, 1)
			go func() { over <- run.Loop(ctx, w.exec, live.Watcher{}) }()
			started := map[string]time.Time{}
			cloned := false
			for done := false; !done; {
				for _, p := range w.pods() {
					cloned = w.nodes(p, started, cloned) || cloned
				}
				select {
				case err = <-over:
					done = true
				case <-time.After(20 * time.Millisecond):
				}
			}
			stop()
			if err := errors.Join(err, w.exec.Close()); err != nil || run.State() != sched.JobSucceeded {
				t.Fatalf("state %v, %v", run.State(), err)
			}
			if n := run.View().Task(7).Launched; n != 1 {
				t.Errorf("the task that waits for a node has %d attempts", n)
			}
			if n := run.View().Task(6).Launched; n < 2 {
				t.Error("the straggler has no clone")
			}
		})
	}
}

// nodes lets a pod begin or end, and tells whether it is the clone of the straggler.
func (w *world) nodes(p *corev1.Pod, started map[string]time.Time, cloned bool) (clone bool) {
	task, name := p.Labels[podtemplate.TaskLabel], p.Spec.Containers[0].Name
	at, begun := started[p.Name]
	if !begun && task != "7" {
		at = time.Now()
		started[p.Name] = at
		p.Status.Phase, p.Status.ContainerStatuses = corev1.PodRunning, runsSince(at, name)
	}
	switch {
	case task == "6" && podtemplate.IsClone(p.Labels):
		clone = true
		p.Status.Phase, p.Status.ContainerStatuses = corev1.PodSucceeded, ranSince(at, name)
	case task == "7" && cloned:
		p.Status.Phase, p.Status.ContainerStatuses = corev1.PodSucceeded, ranSince(time.Now(), name)
	case task < "6" && time.Since(at) > 200*time.Millisecond:
		p.Status.Phase, p.Status.ContainerStatuses = corev1.PodSucceeded, ranSince(at, name)
	}
	_, _ = w.client.CoreV1().Pods("n").UpdateStatus(w.t.Context(), p, metav1.UpdateOptions{}) // it may be gone by now
	return clone
}
