package kube

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
	"github.com/tailcut/tailcut/sched"
)

// play lets pods that wait start, and those that are named, by index/attempt, succeed; then the controller looks at the Job until nothing follows.
func (b *bench) play(after time.Duration, done ...string) {
	b.t.Helper()
	b.clock = epoch.Add(after)
	pods := b.pods()
	for i := range pods {
		p := &pods[i]
		now := metav1.NewTime(b.clock)
		switch name := p.Labels[podtemplate.TaskLabel] + p.Annotations[indexLabel] + "/" + p.Labels[podtemplate.AttemptLabel]; {
		case slices.Contains(done, name):
			p.Status.Phase = corev1.PodSucceeded
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				StartedAt: *p.Status.StartTime, FinishedAt: now}}}}
		case p.Status.Phase == "":
			p.Status.Phase, p.Status.StartTime = corev1.PodRunning, ptr.To(now)
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}}}
		default:
			continue
		}
		if err := b.api.Status().Update(context.Background(), p); err != nil {
			b.t.Fatal(err)
		}
	}
	for range 4 {
		if err := b.reconcile(); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *bench) winnersOf(part int) string {
	m := &corev1.ConfigMap{}
	if err := b.api.Get(context.Background(), client.ObjectKey{Namespace: "ns", Name: winnersName(b.job(), part)}, m); err != nil {
		b.t.Fatal(err)
	}
	if owner := metav1.GetControllerOf(m); owner == nil || owner.UID != b.job().UID {
		b.t.Errorf("the Job does not own %s", m.Name)
	}
	return m.Data[winnersKey]
}

func drain(told *events.FakeRecorder) (all []string) {
	for {
		select {
		case e := <-told.Events:
			all = append(all, e)
		default:
			return all
		}
	}
}

// Two stragglers get clones; one of these wins and ends the Job, the other one loses. Each has its events, and who won each index is kept beside the
// Job, whenever the controller dies.
func TestWinners(t *testing.T) {
	for _, restart := range []int{-1, 0, 1, 2, 3} {
		job := testJob(4)
		job.Annotations = map[string]string{PolicyAnnotation: "spark:quantile=0.5,min_runtime=1s"}
		b := newBench(t, job)
		told := events.NewFakeRecorder(100)
		b.events = told
		again := func(step int) {
			if step == restart {
				b.restart()
				b.events = told
			}
		}
		b.play(0)
		b.play(0)
		b.play(5*time.Second, "0/0", "1/0")
		again(0)
		b.play(20 * time.Second)
		again(1)
		b.play(20 * time.Second)
		b.play(25*time.Second, "2/0")
		again(2)
		b.play(26 * time.Second)
		b.play(30*time.Second, "3/1")
		again(3)
		b.play(31 * time.Second)
		if !finished(b.job()) {
			t.Fatalf("restart %d: the Job is not over: %+v", restart, b.job().Status)
		}
		pod := func(index, number int) string { return podName(b.job(), ref{index, number}) }
		want := "index,attempt,pod,node\n0,0," + pod(0, 0) + ",\n1,0," + pod(1, 0) + ",\n2,0," + pod(2, 0) + ",\n3,1," + pod(3, 1) + ",\n"
		if got := b.winnersOf(0); got != want {
			t.Errorf("restart %d: %q, want %q", restart, got, want)
		}
		all := drain(told)
		for _, want := range []string{
			"CloneStarted attempt 1 of index 2, a clone", "CloneStarted attempt 1 of index 3, a clone", "CloneLost attempt 1 of index 2, a clone, is ended after",
			"CloneWon attempt 1 of index 3, a clone, finished first",
		} {
			if n := len(slices.DeleteFunc(slices.Clone(all), func(e string) bool { return !strings.Contains(e, want) })); n != 1 {
				t.Errorf("restart %d: %d events %q among\n%s", restart, n, want, strings.Join(all, "\n"))
			}
		}
	}
}

// A ConfigMap of somebody else is left alone, and the Job does not wait for its own.
func TestWinnersOfSomebodyElse(t *testing.T) {
	b := newBench(t, testJob(1))
	told := events.NewFakeRecorder(100)
	b.events = told
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "job-winners"}, Data: map[string]string{"mine": "1"}}
	if err := b.api.Create(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	b.play(0)
	b.play(0)
	b.play(time.Second, "0/0")
	b.play(2 * time.Second)
	if err := b.api.Get(context.Background(), client.ObjectKeyFromObject(m), m); err != nil || len(m.Data) != 1 || !finished(b.job()) {
		t.Errorf("%v, %v, %v", err, m.Data, b.job().Status)
	}
	if all := drain(told); !slices.ContainsFunc(all, func(e string) bool { return strings.HasPrefix(e, "Warning WinnersNotKept ") }) {
		t.Error(all)
	}
}

// The longest lines that there can be fit into an object.
func TestWinnersFit(t *testing.T) {
	w := &winners{}
	for i := range winnersPerMap + 1 {
		w.all = append(w.all, winner{ref: ref{999_999 / winnersPerMap * winnersPerMap, 10_000 + i}, pod: strings.Repeat("p", 63), node: strings.Repeat("n", 253)})
	}
	w.all = w.all[:winnersPerMap]
	const part = 999_999 / winnersPerMap
	n := len(w.csv(part))
	if n > mostInMap || n < winnersPerMap*300 {
		t.Errorf("%d bytes", n)
	}
	s := &state{}
	for i := range 100_000 {
		s.cut = append(s.cut, cutOff{ref{part * winnersPerMap, i}, sched.Time(longestCut * sched.Second)})
	}
	for _, taken := range []int{n, n / 2} {
		if text := s.cutCSV(part, mostInMap-taken); taken+len(text) > mostInMap || strings.Count(text, "\n") < 1000 {
			t.Errorf("beside %d bytes there are %d of what was cut off", taken, len(text))
		}
	}
	if text := s.cutCSV(part-1, mostInMap); text != "" {
		t.Errorf("a part in which nothing was cut off has %q", text)
	}
}
