package why

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/cloud/internal/kube"
	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
)

var now = time.Date(2030, 1, 31, 18, 0, 0, 0, time.UTC)

func before(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

func pod(name, number, kind string, change func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, CreationTimestamp: before(time.Minute), Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: "7"},
		Labels: map[string]string{podtemplate.AttemptLabel: number, podtemplate.KindLabel: kind},
	}}
	p.Spec.NodeName, p.Status.Phase = "worker-1", corev1.PodRunning
	if change != nil {
		change(&p)
	}
	return p
}

func job(change func(*batchv1.Job)) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "report", Namespace: "team", Labels: map[string]string{}, CreationTimestamp: before(time.Hour)}}
	j.Spec.ManagedBy, j.Spec.Completions, j.Spec.Parallelism, j.Status.StartTime = ptr.To(kube.ManagedBy), ptr.To[int32](24), ptr.To[int32](12), ptr.To(before(5*time.Minute))
	if change != nil {
		change(j)
	}
	return j
}

// Each state of a pod has a sentence that says why it is so.
func TestWhy(t *testing.T) {
	for _, c := range []struct {
		name string
		pod  corev1.Pod
		want []string
	}{
		{"runs", pod("p", "0", "original", nil), []string{"Pod p is attempt 0 of index 7 of Job report, its original.", "It runs on worker-1, for 60s."}},
		{"clone", pod("p", "1", "clone", func(p *corev1.Pod) { p.Annotations[kube.ProgressAnnotation] = "0.25" }), []string{"a clone.", "2m ago, CloneStarted: under spark", "reports the progress 0.25"}},
		{"again", pod("p", "2", "original", func(p *corev1.Pod) { p.Labels[kube.PoolLabel] = "batch" }), []string{"a new attempt after an earlier one", "It has a slot of pool batch."}},
		{"no node", pod("p", "0", "original", func(p *corev1.Pod) {
			p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available."}}
		}), []string{"It waits for a node, for 60s: 0/3 nodes are available. As long as it waits its task gets no clone."}},
		{"no image", pod("p", "0", "original", func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodPending
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "task", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}}
		}), []string{"its containers have not started: container task, ImagePullBackOff."}},
		{"loser", pod("p", "0", "original", func(p *corev1.Pod) { p.Labels[kube.LostLabel] = "not-needed" }), []string{"The controller has ended it: another attempt of its task has succeeded"}},
		{"failed", pod("p", "0", "original", func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodFailed
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "task", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3}}}}
		}), []string{"It has failed on worker-1: container task with exit code 3."}},
		{"evicted", pod("p", "0", "original", func(p *corev1.Pod) { p.DeletionTimestamp = ptr.To(before(0)) }), []string{"Somebody has deleted it, not the controller."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			started := corev1.Event{Reason: "CloneStarted", Message: "under spark", Related: &corev1.ObjectReference{Name: "p"}, LastTimestamp: before(2 * time.Minute)}
			f := &facts{now: now, job: job(nil), pods: []corev1.Pod{c.pod, pod("q", "3", "clone", nil)}}
			if c.name == "clone" {
				f.events = []corev1.Event{started}
			}
			text := strings.Join(f.why(&c.pod), "\n")
			for _, want := range append(c.want, "  attempt 3, pod q, a clone: It runs on worker-1, for 60s.") {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in:\n%s", want, text)
				}
			}
		})
	}
}

// Each state of a Job has a sentence, and what keeps it from its pool's slots is told.
func TestExplain(t *testing.T) {
	pool := &kube.SlotPool{Spec: kube.SlotPoolSpec{Slots: 4}, Status: kube.SlotPoolStatus{Used: 4, Jobs: 2, Waiting: 1, Members: []kube.PoolMember{
		{Namespace: "team", Name: "report", Waits: "all 4 slots are taken, and srpt has given them to others"}, {Namespace: "other", Name: "report", Waits: "no"},
	}}}
	condition := func(kind batchv1.JobConditionType, reason, message string) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: before(30 * time.Minute)}}
		}
	}
	for _, c := range []struct {
		name  string
		facts facts
		want  []string
	}{
		{"alone", facts{job: job(nil), pods: []corev1.Pod{pod("p", "1", "clone", nil)}}, []string{"runs under its own policy, the controller's default, for 5m.", "0 of 24 tasks are done. 1 pods run and 0 wait for their node or image; 1 of them are clones."}},
		{"pool", facts{job: job(nil), named: "batch", pool: pool}, []string{"is in pool batch", "under auto: 4 of 4 slots used, by 2 Jobs; 1 wait", "Tasks of the Job wait: all 4 slots are taken, and srpt has given them to others."}},
		{"several policies", facts{job: job(nil), named: "batch", pool: &kube.SlotPool{
			Spec:   kube.SlotPoolSpec{Slots: 4, Policy: "fifo+srpt"},
			Status: kube.SlotPoolStatus{Turns: []kube.PoolTurn{{Policy: "fifo"}, {Policy: "srpt"}}},
		}}, []string{"Pool batch under srpt (of fifo+srpt): 0 of 4 slots used"}},
		{"no pool", facts{job: job(nil), named: "batch", events: []corev1.Event{{Reason: "PoolUnusable", Message: "there is no SlotPool batch"}, {Reason: "PoolUnusable", Message: "there is no SlotPool batch", LastTimestamp: before(time.Minute)}}},
			[]string{"Pool batch is not there", "60s ago, PoolUnusable: there is no SlotPool batch"}},
		{"somebody else's", facts{job: job(func(j *batchv1.Job) { j.Spec.ManagedBy = nil })}, []string{"is managed by Kubernetes' own controller, not by Tailcut"}},
		{"unseen", facts{job: job(func(j *batchv1.Job) { j.Status.StartTime = nil })}, []string{"is tailcut-controller installed"}},
		{"suspended", facts{job: job(func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) })}, []string{"is suspended: it has spec.suspend."}},
		{"queued", facts{job: job(func(j *batchv1.Job) { j.Spec.Suspend, j.Labels[kube.QueueLabel] = ptr.To(true), "nightly" })}, []string{"queue nightly of Kueue has not admitted it"}},
		{"complete", facts{job: job(condition(batchv1.JobComplete, "", "")), events: []corev1.Event{{Reason: "CloneStarted"}, {Reason: "CloneWon"}}}, []string{"is complete, after 30m.", "Clones: 1 started, 1 won, 0 were ended before."}},
		{"failed", facts{job: job(condition(batchv1.JobFailed, "BackoffLimitExceeded", "too often"))}, []string{"has failed: BackoffLimitExceeded too often"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.facts.now = now
			text := strings.Join(c.facts.explain(), "\n")
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in:\n%s", want, text)
				}
			}
			if n := strings.Count(text, "PoolUnusable"); n > 1 {
				t.Errorf("an event is told %d times:\n%s", n, text)
			}
		})
	}
}

// A pool of zones has as many slots as they have together, and a table of them below that of its Jobs.
func TestZonesOfPool(t *testing.T) {
	sp := kube.SlotPool{
		Spec:   kube.SlotPoolSpec{Zones: []kube.PoolPart{{Name: "eu-a", Slots: 3}, {Name: "eu-b", Slots: 4}}},
		Status: kube.SlotPoolStatus{Zones: []kube.PartStatus{{Name: "eu-a", Slots: 3, Used: 1}, {Name: "eu-b", Slots: 4}}},
	}
	if row := pools([]kube.SlotPool{sp})[1]; row[1] != "7 slots" {
		t.Errorf("%q", row)
	}
	want := [][]string{{""}, {"ZONE", "SLOTS", "USED"}, {"eu-a", "3", "1"}, {"eu-b", "4", "0"}}
	if rows := members(&sp); !slices.EqualFunc(rows[1:], want, slices.Equal) {
		t.Errorf("%q", rows)
	}
}
