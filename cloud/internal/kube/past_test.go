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
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

func owned(job *batchv1.Job) *batchv1.Job {
	job.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: "nightly", UID: "cron", Controller: ptr.To(true)}}
	return job
}

// kept returns the past that the controller keeps of the test's Jobs.
func (b *bench) kept() *live.Past {
	m := &corev1.ConfigMap{}
	if err := b.api.Get(context.Background(), client.ObjectKey{Namespace: "ours", Name: "history.ns.cronjob.nightly"}, m); err != nil {
		b.t.Fatal(err)
	}
	past, err := live.ParsePast([]byte(m.Data[live.PastFile]))
	if err != nil {
		b.t.Fatal(err)
	}
	return past
}

// finishAll lets all pods end and the Job with them.
func (b *bench) finishAll() {
	for range 3 {
		if err := b.reconcile(); err != nil {
			b.t.Fatal(err)
		}
		pods := b.pods()
		for i := range pods {
			if !terminal(&pods[i]) {
				b.finishPod(&pods[i], corev1.PodSucceeded)
			}
		}
	}
}

// Durations of a Job's pods are known to the next Job of the same owner, and kept once, whatever becomes of the controller and of the ConfigMap.
func TestPast(t *testing.T) {
	b := newBench(t, owned(testJob(3)))
	b.finishAll()
	if past := b.kept(); len(past.Runs) != 1 || len(past.Runs[0].Stages[0].Durations) != 3 {
		t.Fatalf("%+v", past)
	}
	if err := b.remember(context.Background(), b.job(), &state{}, sceneOf(b.job(), []*corev1.Pod{testPod(0, 0, corev1.PodSucceeded)}).sights); err != nil {
		t.Fatal(err)
	}
	if past := b.kept(); len(past.Runs) != 1 {
		t.Fatalf("%+v", past)
	}

	next := owned(testJob(2))
	next.Name, next.UID = "job", "next"
	if err := b.api.Delete(context.Background(), b.job()); err != nil {
		t.Fatal(err)
	}
	if err := b.api.Create(context.Background(), next); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.reconcile(); err != nil {
			t.Fatal(err)
		}
	}
	run := b.jobs[client.ObjectKeyFromObject(next)].member.run
	if st := run.core.View().Stage(0); st.Mean != sched.Second || st.SD != 0 {
		t.Errorf("mean %v, standard deviation %v", st.Mean, st.SD)
	}
	damaged := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ours", Name: "history.ns.cronjob.nightly"}, Data: map[string]string{live.PastFile: "{"}}
	if err := b.api.Update(context.Background(), damaged); err != nil {
		t.Fatal(err)
	}
	b.restart()
	b.finishAll()
	if past := b.kept(); len(past.Runs) != 1 || past.Runs[0].ID != "next" {
		t.Errorf("%+v", past)
	}
}

// A straggler that a clone has overtaken is kept as longer than it ran, although its pod is gone before the Job is complete.
func TestPastKeepsWhatClonesCutOff(t *testing.T) {
	for _, last := range []string{"the straggler", "another task"} { // that the Job ends with
		job := owned(testJob(4))
		job.Annotations = map[string]string{PolicyAnnotation: "spark:quantile=0.5,min_runtime=1s"}
		b := newBench(t, job)
		at := b.play
		at(0)
		at(0)
		at(5*time.Second, "0/0", "1/0")
		if last == "the straggler" {
			at(6*time.Second, "2/0")
		}
		at(20 * time.Second)
		at(20 * time.Second)
		at(25*time.Second, "3/1")
		at(26*time.Second, "2/0")
		at(27 * time.Second)
		cut := b.kept().Runs[0].Stages[0].Cut
		if !slices.Contains(cut, 25) {
			t.Errorf("the Job ends with %s: cut off after %v, want 25 s among them", last, cut)
		}
	}
}

// So it is whenever the controller dies, and whatever has become of the straggler's pod by then: a controller that knows
// it is followed by one that never saw the pod.
func TestPastKeepsWhatAnEarlierControllerCutOff(t *testing.T) {
	for restart := range 4 {
		job := owned(testJob(4))
		job.Annotations = map[string]string{PolicyAnnotation: "spark:quantile=0.5,min_runtime=1s"}
		b := newBench(t, job)
		at := func(step int, after time.Duration, done ...string) {
			b.play(after, done...)
			if step == restart {
				b.restart()
			}
		}
		at(-1, 0)
		at(-1, 0)
		at(-1, 5*time.Second, "0/0", "1/0")
		at(0, 20*time.Second)
		at(1, 20*time.Second)
		at(2, 25*time.Second, "3/1") // which ends 3/0
		pod := podName(b.job(), ref{3, 0})
		for range 20 {
			if !slices.ContainsFunc(b.pods(), func(p corev1.Pod) bool { return p.Name == pod }) {
				break
			}
			b.endDeleted()
			b.clock = b.clock.Add(time.Second)
			if err := b.reconcile(); err != nil {
				t.Fatal(err)
			}
		}
		if slices.ContainsFunc(b.pods(), func(p corev1.Pod) bool { return p.Name == pod }) {
			t.Fatalf("restart %d: the loser's pod stays", restart)
		}
		at(3, 60*time.Second)
		at(-1, 70*time.Second, "2/0")
		at(-1, 71*time.Second)
		if cut := b.kept().Runs[0].Stages[0].Cut; !slices.Contains(cut, 25) {
			t.Errorf("restart %d: cut off after %v, want 25 s among them", restart, cut)
		}
		m := &corev1.ConfigMap{}
		if err := b.api.Get(context.Background(), client.ObjectKey{Namespace: "ns", Name: "job-winners"}, m); err != nil {
			t.Fatal(err)
		}
		if text := m.Data[cutKey]; !strings.HasPrefix(text, "index,attempt,seconds\n") || !strings.Contains(text, "3,0,25.000\n") {
			t.Errorf("restart %d: %q", restart, text)
		}
	}
}

// endDeleted lets pods that are being deleted end, as a kubelet does.
func (b *bench) endDeleted() {
	pods := b.pods()
	for i := range pods {
		if p := &pods[i]; p.DeletionTimestamp != nil && !terminal(p) {
			b.finishPod(p, corev1.PodFailed)
		}
	}
}

// Of the histories those are kept to which something was added last.
func TestPrune(t *testing.T) {
	b := newBench(t, testJob(1))
	pods := []*corev1.Pod{testPod(0, 0, corev1.PodSucceeded, func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			StartedAt: metav1.Time{Time: epoch}, FinishedAt: metav1.Time{Time: epoch.Add(time.Minute)},
		}}}}
	})}
	for i, name := range []string{"b", "a", "c"} {
		b.clock = epoch.Add(time.Duration(i) * time.Hour)
		for range 2 - i%2 { // the second time is an update
			job := testJob(1)
			job.Name, job.UID = name, types.UID(name+b.clock.String())
			if err := b.remember(context.Background(), job, &state{}, sceneOf(job, pods).sights); err != nil {
				t.Fatal(err)
			}
			b.clock = b.clock.Add(90 * time.Minute)
		}
	}
	// added to last: a at 1:00, b at 1:30, c at 3:30
	for most := 3; most > 0; most-- {
		if err := b.prune(context.Background(), most); err != nil {
			t.Fatal(err)
		}
		list := &corev1.ConfigMapList{}
		if err := b.api.List(context.Background(), list, client.InNamespace("ours")); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range list.Items {
			names = append(names, strings.TrimPrefix(m.Name, "history.ns.job."))
		}
		if want := [][]string{{"c"}, {"b", "c"}, {"a", "b", "c"}}[most-1]; !slices.Equal(names, want) {
			t.Errorf("of at most %d: %q, want %q", most, names, want)
		}
	}
}

// A deadline that is at risk is told of once.
func TestDeadlineAtRisk(t *testing.T) {
	job := testJob(2)
	job.Annotations = map[string]string{DeadlineAnnotation: "5m"}
	b := newBench(t, job)
	told := events.NewFakeRecorder(10)
	b.events = told
	for _, odds := range []float64{0, 0.95, 0.5, 0.2} {
		b.odds = odds
		if err := b.reconcile(); err != nil {
			t.Fatal(err)
		}
		b.clock = b.clock.Add(time.Minute)
	}
	if len(told.Events) != 1 {
		t.Fatalf("%d events", len(told.Events))
	}
	if text, want := <-told.Events, "Warning DeadlineAtRisk the deadline is in 3m0s, and the chance to meet it is 50 %"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
}

// A clone of a resumable task is given the furthest offset that was reported; after one that went on from there has failed, none.
func TestResume(t *testing.T) {
	spec, err := policy.ForDeadlines("shed:law=(pareto:alpha=1.5,xm=10)", "2s")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		resumable bool
		others    []sight
		want      int64
	}{
		{"from the original", true, nil, 500},
		{"not resumable", false, nil, 0},
		{"failed before", true, []sight{{ref: ref{0, 1}, phase: failed, ended: epoch.Add(time.Second), resumed: true}}, 0},
		{"failed on its own", true, []sight{{ref: ref{0, 1}, phase: failed, ended: epoch.Add(time.Second)}}, 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := policy.New(spec, 1)
			if err != nil {
				t.Fatal(err)
			}
			r, m := alone(settings{completions: 1, clones: sched.Unlimited, resumable: c.resumable, start: epoch, deadline: epoch.Add(40 * time.Second)}, p)
			if err := r.join(m); err != nil {
				t.Fatal(err)
			}
			r.core.CountClones() // or there would be no clone after one that has failed
			original := sight{ref: ref{0, 0}, phase: running, live: true, begun: epoch, progress: 0.4, offset: 400}
			for i, sights := range [][]sight{nil, append(c.others, original), nil} {
				if i == 2 {
					original.progress, original.offset = 0.5, 500
					sights = append(c.others, original)
				}
				m.look(sights, make(indexSet, 1))
				if err := r.step(epoch.Add(time.Duration(10*i)*time.Second), taken{3}); err != nil {
					t.Fatal(err)
				}
			}
			clones := m.missing()
			if len(clones) == 0 {
				t.Fatal("no clone")
			}
			for _, a := range clones {
				if a.offset != c.want {
					t.Errorf("attempt %d goes on from %d, want %d", a.number, a.offset, c.want)
				}
			}
		})
	}
}

func TestProgress(t *testing.T) {
	for _, c := range []struct {
		text     string
		progress float64
		offset   int64
	}{
		{"", 0, 0}, {"0.25", 0.25, 0}, {"0.25 100", 0.25, 100}, {" 0.25  100\n", 0.25, 100}, {"1 100", 1, 0}, {"0 100", 0, 0},
		{"0.25 many", 0.25, 0}, {"0.25 -1", 0.25, 0}, {"7", 1, 0}, {"-7", 0, 0}, {"nan 3", 0, 0}, {"far", 0, 0},
	} {
		p := testPod(0, 0, corev1.PodRunning)
		p.Annotations[ProgressAnnotation] = c.text
		if progress, offset := progressOf(p); progress != c.progress || offset != c.offset {
			t.Errorf("%q: %v, %v", c.text, progress, offset)
		}
	}
}
