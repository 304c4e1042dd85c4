package kube

import (
	"context"
	"math"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// More work never has a greater boost, twice as much has a smaller one, and all boosts are below that of what runs.
func TestBoostOf(t *testing.T) {
	for work := 1.0; work < 1e9; work *= 1.07 {
		b := boostOf(work)
		if b < 1 || b > mostBoost || b >= admittedBoost || boostOf(work*1.07) > b || work < 1e7 && boostOf(2*work) >= b {
			t.Errorf("%g pod-seconds: %d; twice: %d", work, b, boostOf(2*work))
		}
	}
	for _, work := range []float64{0, -1, math.Inf(1)} {
		if b := boostOf(work); b < 1 || b > mostBoost {
			t.Errorf("%g pod-seconds: %d", work, b)
		}
	}
}

// workload makes one of a Job, or of something else.
func workload(name, kind string, pods int32, conditions ...metav1.Condition) *Workload {
	w := &Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), CreationTimestamp: metav1.Time{Time: epoch}}}
	w.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: kind, Name: "job", UID: "job-uid", Controller: ptr.To(true)}}
	if kind == "JobSet" {
		w.OwnerReferences[0].APIVersion = "jobset.x-k8s.io/v1alpha2"
	}
	w.Spec.PodSets = append(w.Spec.PodSets, struct {
		Count int32 `json:"count"`
	}{pods})
	w.Status.Conditions = conditions
	return w
}

func holds(kind, reason string, after time.Duration) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: metav1.Time{Time: epoch.Add(after)}}
}

// boosted visits a Workload and returns its annotations.
func (b *bench) boosted(name string, maxWait time.Duration) map[string]string {
	b.t.Helper()
	key := client.ObjectKey{Namespace: "ns", Name: name}
	if _, err := (boosts{b.reconciler, maxWait}).Reconcile(context.Background(), reconcile.Request{NamespacedName: key}); err != nil {
		b.t.Fatal(err)
	}
	w := &Workload{}
	if err := b.api.Get(context.Background(), key, w); err != nil {
		b.t.Fatal(err)
	}
	return w.Annotations
}

// What is known of earlier runs says how much work a Workload is; else its tasks do, and how long it may take.
func TestBoostBySize(t *testing.T) {
	ours := testJob(6)
	ours.Status.Succeeded = 2
	theirs := testJob(6)
	theirs.Spec.ManagedBy = nil
	tasks := `{"schema":"tailcut.history/v1","job":"job","runs":[{"stages":[{"name":"tasks","durations_seconds":[10,20]}]}]}`
	held := `{"schema":"tailcut.history/v1","job":"job","runs":[{"stages":[],"seconds":50,"slots":4},{"stages":[],"seconds":100,"slots":4},{"stages":[],"seconds":500,"slots":4}]}`
	limited := workload("w", "JobSet", 4)
	limited.Spec.MaximumExecutionTimeSeconds = 30
	for _, c := range []struct {
		name, past, want string
		job              *batchv1.Job
		w                *Workload
	}{
		{"mean of tasks, and two of six are done", tasks, "60", ours, workload("w", "Job", 4)},
		{"quota that earlier runs held", held, "400", theirs, workload("w", "Job", 4)},
		{"the same of another kind", held, "400", nil, workload("w", "JobSet", 4)},
		{"unknown", "", "3600", theirs, workload("w", "Job", 4)},
		{"unknown, of another kind", "", "2400", nil, workload("w", "JobSet", 4)},
		{"at most", "", "120", nil, limited},
		{"spoilt", "{", "2400", nil, workload("w", "JobSet", 4)},
	} {
		t.Run(c.name, func(t *testing.T) {
			objects := []client.Object{c.w}
			if c.job != nil {
				objects = append(objects, c.job)
			}
			if c.past != "" {
				objects = append(objects, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ours", Name: "history.ns.job.job"}, Data: map[string]string{"history.json": c.past}})
			}
			b := newBench(t, objects...)
			if got := b.boosted("w", 0); got[SizeAnnotation] != c.want || got[BoostAnnotation] == "" {
				t.Errorf("%v, want %s pod-seconds", got, c.want)
			}
		})
	}
}

// Who waits too long is first, nothing of the same priority preempts what runs, and a boost of somebody else stands.
func TestBoostOfWho(t *testing.T) {
	reserved, evicted := holds("QuotaReserved", "QuotaReserved", time.Hour), holds("Evicted", "Preempted", 2*time.Hour)
	b := newBench(t, workload("waits", "JobSet", 4), workload("again", "JobSet", 4, evicted), workload("runs", "JobSet", 4, reserved), workload("other", "JobSet", 4))
	other := &Workload{}
	if err := b.api.Get(context.Background(), client.ObjectKey{Namespace: "ns", Name: "other"}, other); err != nil {
		t.Fatal(err)
	}
	other.Annotations = map[string]string{BoostAnnotation: "-7"}
	if err := b.api.Update(context.Background(), other); err != nil {
		t.Fatal(err)
	}
	b.clock = epoch.Add(150 * time.Minute)
	for name, want := range map[string]string{"waits": "99", "again": "54", "runs": "100", "other": "-7"} {
		if got := b.boosted(name, time.Hour)[BoostAnnotation]; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := b.boosted("waits", 0)[BoostAnnotation]; got != "54" {
		t.Errorf("without a longest wait: %s", got)
	}
}

// How long a Workload had its quota is kept once, if it succeeded and the controller does not run it itself.
func TestBoostKeepsTimes(t *testing.T) {
	begun, done := holds("Admitted", "Admitted", time.Minute), holds("Finished", "Succeeded", 3*time.Minute)
	theirs := testJob(6)
	theirs.Spec.ManagedBy = nil
	for _, c := range []struct {
		name, kind string
		job        *batchv1.Job
		conditions []metav1.Condition
		want       int
	}{
		{"of Kubernetes' own controller", "Job", theirs, []metav1.Condition{begun, done}, 1},
		{"of another kind", "JobSet", nil, []metav1.Condition{begun, done}, 1},
		{"of ours", "Job", testJob(6), []metav1.Condition{begun, done}, 0},
		{"failed", "JobSet", nil, []metav1.Condition{begun, holds("Finished", "Failed", 3*time.Minute)}, 0},
		{"never admitted", "JobSet", nil, []metav1.Condition{done}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			objects := []client.Object{workload("w", c.kind, 4, c.conditions...)}
			if c.job != nil {
				objects = append(objects, c.job)
			}
			b := newBench(t, objects...)
			b.boosted("w", 0)
			b.boosted("w", 0)
			past, _, err := b.readPast(context.Background(), testJob(1))
			if err != nil || len(past.Runs) != c.want || c.want > 0 && (past.Runs[0].Seconds != 120 || past.Runs[0].Slots != 4) {
				t.Errorf("%+v, %v", past.Runs, err)
			}
		})
	}
}
