package pods

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	kubetesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
	"github.com/tailcut/tailcut/cloud/internal/store"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// nothing is a store without anything in it.
type nothing struct{ err error }

func (n nothing) Prepare(_ context.Context, a live.Attempt) (store.Assignment, error) {
	return store.Assignment{Run: "r", Stage: a.Stage, Index: a.Index, Number: a.Number}, n.err
}
func (nothing) Commit(live.Attempt, []byte) error { return nil }
func (nothing) Clean() error                      { return nil }
func (nothing) Publish() error                    { return nil }
func (nothing) URL() string                       { return "s3://b/out" }

// world is an API server that is in memory, and an executor that uses it.
type world struct {
	t      *testing.T
	client *fake.Clientset
	exec   *Executor
	log    strings.Builder
}

func newWorld(t *testing.T, template *corev1.Pod, objects ...runtime.Object) *world {
	t.Helper()
	w := &world{t: t, client: fake.NewClientset(objects...)}
	w.connect(nothing{}, template)
	return w
}

func (w *world) connect(r Results, template *corev1.Pod) {
	w.t.Helper()
	var err error
	if template == nil {
		template = &corev1.Pod{}
	}
	if w.exec, err = New(r, Config{Client: w.client, Namespace: "n", Run: "r", Template: template, Limits: []jobfile.Limits{{}, {Timeout: jobfile.Timeout{After: time.Hour}, Memory: 2 << 30}}, Log: &w.log}); err != nil {
		w.t.Fatal(err)
	}
	if err := w.exec.Clean(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = w.exec.Close() })
}

func (w *world) pods() map[string]*corev1.Pod {
	w.t.Helper()
	list, err := w.client.CoreV1().Pods("n").List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	all := map[string]*corev1.Pod{}
	for i := range list.Items {
		all[list.Items[i].Name] = &list.Items[i]
	}
	return all
}

// until waits for something to be so.
func (w *world) until(what string, so func() bool) {
	w.t.Helper()
	for end := time.Now().Add(10 * time.Second); !so(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%s: not after 10 s; pods are %v", what, slices.Sorted(maps.Keys(w.pods())))
		}
	}
}

// start starts an attempt and returns its pod.
func (w *world) start(a live.Attempt) *corev1.Pod {
	w.t.Helper()
	w.exec.Start(a)
	name := podName("r", a)
	w.until("start of "+name, func() bool { return w.pods()[name] != nil })
	return w.pods()[name]
}

func (w *world) update(p *corev1.Pod) {
	w.t.Helper()
	if _, err := w.client.CoreV1().Pods("n").UpdateStatus(w.t.Context(), p, metav1.UpdateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// report returns the next report.
func (w *world) report() live.Report {
	w.t.Helper()
	select {
	case r := <-w.exec.Reports():
		return r
	case <-time.After(10 * time.Second):
		w.t.Fatal("no report after 10 s")
		return live.Report{}
	}
}

// quiet checks that there are no reports for a while.
func (w *world) quiet() {
	w.t.Helper()
	select {
	case r := <-w.exec.Reports():
		w.t.Errorf("report %+v", r)
	case <-time.After(100 * time.Millisecond):
	}
}

// A pod has the template's settings, what says which attempt it is, a folder to write to, and, for a second attempt, a wish to be elsewhere.
func TestPod(t *testing.T) {
	template := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"team": "a"}},
		Spec:       corev1.PodSpec{ServiceAccountName: "s", Containers: []corev1.Container{{Name: "x", Env: []corev1.EnvVar{{Name: "A", Value: "b"}}}}},
	}
	template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3"), corev1.ResourceMemory: resource.MustParse("9Gi")}
	w := newWorld(t, template)
	p := w.start(live.Attempt{ID: 1, Stage: 1, Index: 2})
	c := p.Spec.Containers[0]
	if p.Labels["team"] != "a" || p.Labels[RunLabel] != "r" || p.Labels[podtemplate.TaskLabel] != "2" || p.Spec.ServiceAccountName != "s" || c.Env[0].Value != "b" {
		t.Errorf("%+v", p)
	}
	if got := strings.Join(c.Args, " "); got != "attempt s3://b/out r 1 2 0" || c.Image != DefaultImage || c.VolumeMounts[0].MountPath != "/tmp" {
		t.Errorf("args %s, image %s, mounts %v", got, c.Image, c.VolumeMounts)
	}
	if p.Spec.RestartPolicy != corev1.RestartPolicyNever || *p.Spec.ActiveDeadlineSeconds != 3600 || p.Spec.Affinity != nil {
		t.Errorf("%+v", p.Spec)
	}
	if r := c.Resources; r.Limits.Memory().String() != "2Gi" || r.Requests.Memory().String() != "2Gi" || r.Limits.Cpu().String() != "3" || len(r.Requests) != 1 {
		t.Errorf("resources: %+v", r)
	}
	if free := w.start(live.Attempt{ID: 2, Stage: 0, Index: 0}).Spec; free.ActiveDeadlineSeconds != nil || len(free.Containers[0].Resources.Requests) != 0 {
		t.Errorf("without limits: %+v", free)
	}
	if len(template.Labels) != 1 || len(template.Spec.Volumes) != 0 {
		t.Error("the template was changed")
	}
	p.Spec.NodeName = "node1"
	if _, err := w.client.CoreV1().Pods("n").Update(t.Context(), p, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.until("the node", func() bool {
		w.exec.mu.Lock()
		defer w.exec.mu.Unlock()
		return len(w.exec.past[[2]int{1, 2}].nodes) == 1
	})
	p = w.start(live.Attempt{ID: 2, Stage: 1, Index: 2, Number: 1, Clone: true})
	terms := p.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	if !podtemplate.IsClone(p.Labels) || len(terms) != 1 || terms[0].Preference.MatchFields[0].Values[0] != "node1" {
		t.Errorf("%+v", p)
	}
}

func terminated(code int32, reason, message string) []corev1.ContainerStatus {
	return []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message}}}}
}

func waiting(reason string) []corev1.ContainerStatus {
	return []corev1.ContainerStatus{{Image: "img", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "no\n such"}}}}
}

// What a pod looks like decides what became of its attempt.
func TestEndOf(t *testing.T) {
	now := time.Now()
	deleted := &metav1.ObjectMeta{DeletionTimestamp: ptr.To(metav1.NewTime(now))}
	disrupted := []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
	young, old := ptr.To(metav1.NewTime(now.Add(-time.Second))), ptr.To(metav1.NewTime(now.Add(-time.Hour)))
	for _, c := range []struct {
		name   string
		meta   *metav1.ObjectMeta
		status corev1.PodStatus
		kind   sched.EventKind // 0 while it goes on
		exit   int
		note   string
	}{
		{"new", nil, corev1.PodStatus{}, 0, 0, ""},
		{"running", nil, corev1.PodStatus{Phase: corev1.PodRunning}, 0, 0, ""},
		{"succeeded", nil, corev1.PodStatus{Phase: corev1.PodSucceeded}, sched.AttemptDone, 0, ""},
		{"succeeded and deleted", deleted, corev1.PodStatus{Phase: corev1.PodSucceeded}, sched.AttemptDone, 0, ""},
		{"failed", nil, corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: terminated(3, "Error", "0.5\nno luck\n")}, sched.AttemptFailed, 3, "no luck"},
		{"out of memory", nil, corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: terminated(137, "OOMKilled", "")}, sched.AttemptFailed, 137, "OOMKilled: "},
		{"timed out", nil, corev1.PodStatus{Phase: corev1.PodFailed, Reason: "DeadlineExceeded"}, sched.AttemptFailed, 137, "timed out after 7s"},
		{"evicted by the node", nil, corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}, sched.MachineLost, 0, ""},
		{"turned away by the node", nil, corev1.PodStatus{Phase: corev1.PodFailed, Reason: "OutOfcpu"}, sched.MachineLost, 0, ""},
		{"preempted", nil, corev1.PodStatus{Phase: corev1.PodFailed, Conditions: disrupted, ContainerStatuses: terminated(143, "Error", "")}, sched.MachineLost, 0, ""},
		{"node lost, or deleted by hand", deleted, corev1.PodStatus{Phase: corev1.PodRunning}, sched.MachineLost, 0, ""},
		{"no such image, yet", nil, corev1.PodStatus{Phase: corev1.PodPending, StartTime: young, ContainerStatuses: waiting("ErrImagePull")}, 0, 0, ""},
		{"no such image", nil, corev1.PodStatus{Phase: corev1.PodPending, StartTime: old, ContainerStatuses: waiting("ImagePullBackOff")}, sched.AttemptFailed, 1, "ImagePullBackOff: image img: no such"},
		{"no image can have this name", nil, corev1.PodStatus{Phase: corev1.PodPending, StartTime: young, ContainerStatuses: waiting("InvalidImageName")}, sched.AttemptFailed, 1, "InvalidImageName: image img: no such"},
		{"no such secret", nil, corev1.PodStatus{Phase: corev1.PodPending, StartTime: old, ContainerStatuses: waiting("CreateContainerConfigError")}, sched.AttemptFailed, 1, "CreateContainerConfigError: image img: no such"},
		{"about to run", nil, corev1.PodStatus{Phase: corev1.PodPending, StartTime: old, ContainerStatuses: waiting("ContainerCreating")}, 0, 0, ""},
	} {
		p := &corev1.Pod{Status: c.status, Spec: corev1.PodSpec{ActiveDeadlineSeconds: ptr.To[int64](7)}}
		if c.meta != nil {
			p.ObjectMeta = *c.meta
		}
		if end, over := endOf(p, now); over != (c.kind != 0) || end.Kind != c.kind || end.Exit != c.exit || end.Note != c.note {
			t.Errorf("%s: over %v, %v, exit %d, note %q; want %v, %d, %q", c.name, over, end.Kind, end.Exit, end.Note, c.kind, c.exit, c.note)
		}
	}
}

// Each end is reported once, however often it is seen, and its pod is deleted.
func TestEnds(t *testing.T) {
	w := newWorld(t, nil)
	for i, c := range []struct {
		status corev1.PodStatus
		want   sched.EventKind
	}{
		{corev1.PodStatus{Phase: corev1.PodSucceeded}, sched.AttemptDone},
		{corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: terminated(1, "Error", "x")}, sched.AttemptFailed},
		{corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}, sched.MachineLost},
	} {
		a := live.Attempt{ID: sched.AttemptID(i + 1), Index: i}
		p := w.start(a)
		p.Status = c.status
		w.update(p)
		w.exec.seen(p)
		w.exec.seen(p)
		if r := w.report(); r.Attempt != a.ID || r.Kind != c.want {
			t.Errorf("%d: report %+v, want %v", i, r, c.want)
		}
		w.until("removal", func() bool { return len(w.pods()) == 0 })
		w.quiet()
	}
	a := live.Attempt{ID: 9, Index: 9}
	w.start(a)
	if err := w.client.CoreV1().Pods("n").Delete(t.Context(), podName("r", a), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if r := w.report(); r.Attempt != 9 || r.Kind != sched.MachineLost {
		t.Errorf("deleted by hand: report %+v", r)
	}
	w.quiet()
}

// An attempt that is killed is not reported, whatever becomes of its pod, and neither is its pod left if it comes late.
func TestKill(t *testing.T) {
	w := newWorld(t, nil)
	p := w.start(live.Attempt{ID: 1})
	w.exec.Kill(1)
	w.until("removal", func() bool { return len(w.pods()) == 0 })
	p.Status.Phase = corev1.PodSucceeded
	w.exec.seen(p)
	w.quiet()
	hold := make(chan struct{})
	w.client.PrependReactor("create", "pods", func(kubetesting.Action) (bool, runtime.Object, error) { <-hold; return false, nil, nil })
	w.exec.Start(live.Attempt{ID: 2, Number: 1})
	w.exec.Kill(2)
	close(hold)
	w.exec.workers.Wait()
	if left := w.pods(); len(left) > 0 {
		t.Errorf("pods of a killed attempt are left: %v", left)
	}
	w.quiet()
}

// Requests that may do better later are repeated; others fail the attempt, with a note.
func TestRequests(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	w := newWorld(t, nil)
	var mu sync.Mutex
	answers := []error{
		apierrors.NewTooManyRequests("slow down", 0), apierrors.NewServerTimeout(pods, "create", 1), errors.New("connection refused"),
		apierrors.NewForbidden(pods, "x", errors.New("exceeded quota: q")), apierrors.NewInternalError(errors.New("etcd")),
	}
	w.client.PrependReactor("create", "pods", func(kubetesting.Action) (bool, runtime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		if len(answers) == 0 {
			return false, nil, nil
		}
		err := answers[0]
		answers = answers[1:]
		return true, nil, err
	})
	w.start(live.Attempt{ID: 1})
	w.quiet()
	mu.Lock()
	answers = []error{apierrors.NewForbidden(pods, "x", errors.New("no right\n to"))}
	mu.Unlock()
	w.exec.Start(live.Attempt{ID: 2, Index: 1})
	if r := w.report(); r.Kind != sched.AttemptFailed || !strings.Contains(r.Note, "the pod cannot be made: ") || !strings.Contains(r.Note, "no right to") {
		t.Errorf("report %+v", r)
	}
	mu.Lock()
	answers = []error{apierrors.NewAlreadyExists(pods, "x")} // the answer to the first request was lost
	mu.Unlock()
	w.exec.Start(live.Attempt{ID: 3, Index: 2})
	w.quiet()
}

// A store that cannot be written to fails the attempt.
func TestStoreFails(t *testing.T) {
	w := &world{t: t, client: fake.NewClientset()}
	w.connect(nothing{errors.New("no bucket")}, nil)
	w.exec.Start(live.Attempt{ID: 1})
	if r := w.report(); r.Kind != sched.AttemptFailed || r.Note != "no bucket" {
		t.Errorf("report %+v", r)
	}
}

// Pods of a dead engine of the run are deleted before anything is started; other pods stay.
func TestClean(t *testing.T) {
	pod := func(name, run string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "n", Labels: map[string]string{RunLabel: run}}}
	}
	w := newWorld(t, nil, pod("mine", "r"), pod("other", "s"))
	if all := w.pods(); len(all) != 1 || all["other"] == nil {
		t.Errorf("left are %v", slices.Sorted(maps.Keys(all)))
	}
	w.start(live.Attempt{ID: 1})
	if err := w.exec.Close(); err != nil {
		t.Fatal(err)
	}
	if all := w.pods(); len(all) != 1 || all["other"] == nil {
		t.Errorf("after the end, left are %v", slices.Sorted(maps.Keys(all)))
	}
}

// That no node has room is told once.
func TestUnschedulable(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 3 {
		p := w.start(live.Attempt{ID: sched.AttemptID(i + 1), Index: i})
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes\nare available",
		}}
		w.exec.seen(p)
	}
	w.quiet()
	if got := w.log.String(); got != "tailcut: a pod waits for a node: 0/3 nodes are available\n" {
		t.Errorf("told: %q", got)
	}
}

func TestReadTemplate(t *testing.T) {
	for _, c := range []struct{ text, err string }{
		{"kind: Pod\nspec: {hostNetwork: true}", ""},
		{"kind: Job", `kind: expected Pod, not "Job"`},
		{"kind: Pod\nspec: {hostNetwrok: true}", "hostNetwrok"},
		{"{", "did not find"},
	} {
		file := t.TempDir() + "/pod.yaml"
		if err := os.WriteFile(file, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		pod, err := ReadTemplate(file)
		switch {
		case c.err == "" && (err != nil || !pod.Spec.HostNetwork):
			t.Errorf("%q: %+v, %v", c.text, pod, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || !strings.HasPrefix(err.Error(), file+": ")):
			t.Errorf("%q: error %v, want %s", c.text, err, c.err)
		}
	}
	_, _, err := Connect("testdata/none", "")
	if err == nil || !strings.Contains(fmt.Sprint(err), "no cluster: ") {
		t.Error(err)
	}
}
