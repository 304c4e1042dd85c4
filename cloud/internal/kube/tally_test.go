package kube

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
)

func testJob(completions int32) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "job", Namespace: "ns", UID: "job-uid"},
		Spec: batchv1.JobSpec{
			Completions: &completions, Parallelism: ptr.To[int32](4), BackoffLimit: ptr.To[int32](2),
			CompletionMode: ptr.To(batchv1.IndexedCompletion), ManagedBy: ptr.To(ManagedBy),
		},
	}
}

func testPod(index, number int, phase corev1.PodPhase, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("pod-%d-%d", index, number), UID: types.UID(fmt.Sprintf("uid-%d-%d", index, number)), Finalizers: []string{finalizer},
			Labels: with(nil, podtemplate.AttemptLabel, fmt.Sprint(number), podtemplate.KindLabel, podtemplate.Original), Annotations: with(nil, indexLabel, fmt.Sprint(index)),
		},
		Spec: corev1.PodSpec{NodeName: "node"}, Status: corev1.PodStatus{Phase: phase},
	}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

// interchangeable makes a Job one whose tasks have no index.
func interchangeable(job *batchv1.Job) {
	job.Spec.CompletionMode = ptr.To(batchv1.NonIndexedCompletion)
}

// unindexed makes a pod one of such a Job.
func unindexed(p *corev1.Pod) {
	p.Labels[podtemplate.TaskLabel] = p.Annotations[indexLabel]
	delete(p.Annotations, indexLabel)
}

func released(p *corev1.Pod) { p.Finalizers = nil }
func deleted(p *corev1.Pod)  { p.DeletionTimestamp = &metav1.Time{Time: epoch} }
func ended(p *corev1.Pod)    { p.Labels[LostLabel] = "sibling-won" }
func cloned(p *corev1.Pod)   { p.Labels[podtemplate.KindLabel] = podtemplate.Clone }
func exit(code int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}}
	}
}
func hadFailed(n int) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations[failsKey] = fmt.Sprint(n) }
}

// What the Job API says of pods, case by case. The columns are: completed and failed indexes, pods active and terminating, failures counted and on the list,
// finalizers to remove, of a Job without indexes successes counted and on the list, and why the Job ends.
func TestTally(t *testing.T) {
	run, ok, bad, wait := corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending
	policy := func(j *batchv1.Job) {
		j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
			{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42}}},
			{Action: batchv1.PodFailurePolicyActionIgnore, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpNotIn, Values: []int32{1}}},
		}}
	}
	perIndex := func(j *batchv1.Job) {
		j.Spec.BackoffLimitPerIndex, j.Spec.BackoffLimit = ptr.To[int32](1), ptr.To[int32](100)
	}
	restarting := func(limit int32) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			j.Spec.Template.Spec.RestartPolicy, j.Spec.BackoffLimit = corev1.RestartPolicyOnFailure, &limit
		}
	}
	restarted := func(n int32) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: n}} }
	}
	queue := func(j *batchv1.Job) { interchangeable(j); j.Spec.Completions = nil }
	for _, c := range []struct {
		name string
		edit func(*batchv1.Job)
		pods []*corev1.Pod
		want string
	}{
		{"nothing", nil, nil, "[|] 0+0 0/0 0 "},
		{"on their way", nil, []*corev1.Pod{testPod(0, 0, run), testPod(1, 0, wait)}, "[|] 2+0 0/0 0 "},
		{"one done", nil, []*corev1.Pod{testPod(0, 0, run), testPod(1, 0, ok)}, "[1|] 1+0 0/0 1 "},
		{"done twice is done once", nil, []*corev1.Pod{testPod(1, 0, ok), testPod(1, 1, ok)}, "[1|] 0+0 0/0 2 "},
		{"all done", nil, []*corev1.Pod{testPod(0, 0, ok), testPod(1, 0, ok), testPod(2, 0, ok)}, "[0-2|] 0+0 0/0 3 CompletionsReached!"},
		{"all done, a clone runs", nil, []*corev1.Pod{testPod(0, 0, ok), testPod(1, 0, ok), testPod(2, 0, ok), testPod(2, 1, run)}, "[0-2|] 1+0 0/0 3 CompletionsReached"},
		{"all done, a clone ends", nil, []*corev1.Pod{testPod(0, 0, ok), testPod(1, 0, ok), testPod(2, 0, ok), testPod(2, 1, run, deleted, ended, released)}, "[0-2|] 0+1 0/0 3 CompletionsReached"},
		{"a failure goes on the list", nil, []*corev1.Pod{testPod(0, 0, bad)}, "[|] 0+0 0/1 1 "},
		{"a failure beside success is none", nil, []*corev1.Pod{testPod(0, 0, bad), testPod(0, 1, ok)}, "[0|] 0+0 0/0 2 "},
		{"what was ended is no failure", nil, []*corev1.Pod{testPod(0, 0, bad, ended)}, "[|] 0+0 0/0 1 "},
		{"deleted by hand", nil, []*corev1.Pod{testPod(0, 0, run, deleted)}, "[|] 0+1 0/1 1 "},
		{"deleted by hand, replaced when it has failed", func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed) },
			[]*corev1.Pod{testPod(0, 0, run, deleted)}, "[|] 0+1 0/0 0 "},
		{"deleted before it had a node", func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed) },
			[]*corev1.Pod{testPod(0, 0, wait, deleted, func(p *corev1.Pod) { p.Spec.NodeName = "" })}, "[|] 0+0 0/1 1 "},
		{"counted when the finalizer is gone", func(j *batchv1.Job) {
			j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Failed: []types.UID{"uid-0-0", "uid-1-0", "gone"}}
		}, []*corev1.Pod{testPod(0, 0, bad), testPod(1, 0, bad, released)}, "[|] 0+0 2/1 1 BackoffLimitExceeded"},
		{"too many failures", nil, []*corev1.Pod{testPod(0, 0, bad), testPod(1, 0, bad), testPod(2, 0, bad), testPod(0, 1, run)}, "[|] 1+0 0/3 3 BackoffLimitExceeded"},
		{"restarts below the limit", restarting(2), []*corev1.Pod{testPod(0, 0, run, restarted(1))}, "[|] 1+0 0/0 0 "},
		{"as many restarts as the limit", restarting(2), []*corev1.Pod{testPod(0, 0, run, restarted(1)), testPod(1, 0, run, restarted(1))}, "[|] 2+0 0/0 0 BackoffLimitExceeded"},
		{"no restart is allowed, and there is none", restarting(0), []*corev1.Pod{testPod(0, 0, run)}, "[|] 1+0 0/0 0 "},
		{"no restart is allowed", restarting(0), []*corev1.Pod{testPod(0, 0, run, restarted(1))}, "[|] 1+0 0/0 0 BackoffLimitExceeded"},
		{"restarts of what was ended", restarting(2), []*corev1.Pod{testPod(0, 0, run, restarted(9), ended, deleted, released)}, "[|] 0+1 0/0 0 "},
		{"restarts that the Job does not ask about", nil, []*corev1.Pod{testPod(0, 0, run, restarted(9))}, "[|] 1+0 0/0 0 "},
		{"fail the job", policy, []*corev1.Pod{testPod(0, 0, bad, exit(42))}, "[|] 0+0 0/1 1 PodFailurePolicy"},
		{"ignore", policy, []*corev1.Pod{testPod(0, 0, bad, exit(7))}, "[|] 0+0 0/0 1 "},
		{"count", policy, []*corev1.Pod{testPod(0, 0, bad, exit(1))}, "[|] 0+0 0/1 1 "},
		{"the index may fail once", perIndex, []*corev1.Pod{testPod(0, 0, bad)}, "[|] 0+0 0/1 0 "},
		{"its successor knows", perIndex, []*corev1.Pod{testPod(0, 0, bad), testPod(0, 1, run, hadFailed(1))}, "[|] 1+0 0/1 1 "},
		{"and not twice", perIndex, []*corev1.Pod{testPod(0, 1, bad, hadFailed(1))}, "[|0] 0+0 0/1 1 "},
		{"a clone has failed", nil, []*corev1.Pod{testPod(0, 0, run), testPod(0, 1, bad, cloned)}, "[|] 1+0 0/0 1 "},
		{"clones have failed, too many if they counted", nil, []*corev1.Pod{testPod(0, 0, bad), testPod(0, 1, bad, cloned), testPod(1, 1, bad, cloned), testPod(0, 2, run)}, "[|] 1+0 0/1 3 "},
		{"a clone would fail the job", policy, []*corev1.Pod{testPod(0, 0, run), testPod(0, 1, bad, exit(42), cloned)}, "[|] 1+0 0/0 1 "},
		{"a clone would fail its index", perIndex, []*corev1.Pod{testPod(0, 1, run, hadFailed(1)), testPod(0, 2, bad, hadFailed(1), cloned)}, "[|] 1+0 0/0 1 "},
		{"a clone that was made before does not know", perIndex, []*corev1.Pod{testPod(0, 0, bad), testPod(0, 1, run, cloned, hadFailed(0))}, "[|] 1+0 0/1 0 "},
		{"restarts of a clone", restarting(2), []*corev1.Pod{testPod(0, 0, run), testPod(0, 1, run, cloned, restarted(9))}, "[|] 2+0 0/0 1 "},
		{"nor for its clone", perIndex, []*corev1.Pod{testPod(0, 1, bad, hadFailed(1)), testPod(0, 2, bad, hadFailed(1))}, "[|0] 0+0 0/1 2 "},
		{"counted before its index failed", func(j *batchv1.Job) {
			perIndex(j)
			j.Status.FailedIndexes = ptr.To("0")
			j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Failed: []types.UID{"uid-0-1"}}
		}, []*corev1.Pod{testPod(0, 1, bad, hadFailed(1))}, "[|0] 0+0 0/1 1 "},
		{"ended because the Job has failed", func(j *batchv1.Job) {
			perIndex(j)
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Reason: "Test"}}
		}, []*corev1.Pod{testPod(0, 1, bad, hadFailed(1)), testPod(1, 0, bad)}, "[|] 0+0 0/2 2 Test"},
		{"some indexes failed", perIndex, []*corev1.Pod{testPod(0, 1, bad, hadFailed(1)), testPod(1, 0, ok), testPod(2, 0, ok)}, "[1,2|0] 0+0 0/1 3 FailedIndexes"},
		{"too many indexes failed", func(j *batchv1.Job) { perIndex(j); j.Spec.MaxFailedIndexes = ptr.To[int32](0) },
			[]*corev1.Pod{testPod(0, 1, bad, hadFailed(1))}, "[|0] 0+0 0/1 1 MaxFailedIndexesExceeded"},
		{"success by policy", func(j *batchv1.Job) {
			j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("0,2"), SucceededCount: ptr.To[int32](1)}}}
		}, []*corev1.Pod{testPod(2, 0, ok), testPod(0, 0, run)}, "[2|] 1+0 0/0 1 SuccessPolicy"},
		{"success by policy, nothing follows a failure", func(j *batchv1.Job) {
			perIndex(j)
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue, Reason: "SuccessPolicy"}}
		}, []*corev1.Pod{testPod(2, 0, ok), testPod(0, 0, bad)}, "[2|] 0+0 0/1 2 SuccessPolicy"},
		{"done while suspended", func(j *batchv1.Job) { j.Spec.Suspend, j.Status.CompletedIndexes = ptr.To(true), "0-9" }, nil, "[0-2|] 0+0 0/0 0 CompletionsReached!"},
		{"too long", func(j *batchv1.Job) {
			j.Spec.ActiveDeadlineSeconds = ptr.To[int64](60)
			j.Status.StartTime = &metav1.Time{Time: epoch.Add(-time.Minute)}
		}, []*corev1.Pod{testPod(0, 0, run)}, "[|] 1+0 0/0 0 DeadlineExceeded"},
		{"no index: a success goes on the list", interchangeable, []*corev1.Pod{testPod(1, 0, ok, unindexed), testPod(0, 0, run, unindexed)}, "[|] 1+0 0/0 1 +0/1"},
		{"no index: any three will do", interchangeable, []*corev1.Pod{testPod(0, 0, ok, unindexed), testPod(0, 1, ok, unindexed), testPod(1, 0, ok, unindexed),
			testPod(2, 0, run, unindexed)}, "[|] 1+0 0/0 3 +0/3CompletionsReached"},
		{"no index: a fourth is too many", interchangeable, []*corev1.Pod{testPod(0, 0, ok, unindexed), testPod(0, 1, ok, unindexed), testPod(1, 0, ok, unindexed),
			testPod(2, 0, ok, unindexed)}, "[|] 0+0 0/0 4 +0/3CompletionsReached"},
		{"no index: counted when the finalizers are gone", func(j *batchv1.Job) {
			interchangeable(j)
			j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: []types.UID{"uid-0-0", "uid-1-0", "gone"}}
		}, []*corev1.Pod{testPod(0, 0, ok, unindexed, released), testPod(1, 0, ok, unindexed, released)}, "[|] 0+0 0/0 0 +3/0CompletionsReached!"},
		{"no index: what was ended is no success", interchangeable, []*corev1.Pod{testPod(0, 0, ok, unindexed, ended, released)}, "[|] 0+0 0/0 0 "},
		{"no index: a clone that fails beside success", interchangeable, []*corev1.Pod{testPod(0, 0, ok, unindexed), testPod(0, 1, bad, unindexed)}, "[|] 0+0 0/0 2 +0/1"},
		{"a queue is not done while one works", queue, []*corev1.Pod{testPod(0, 0, ok, unindexed), testPod(1, 0, run, unindexed)}, "[|] 1+0 0/0 1 +0/1"},
		{"nor while one ends", queue, []*corev1.Pod{testPod(0, 0, ok, unindexed), testPod(1, 0, run, unindexed, deleted, ended, released)}, "[|] 0+1 0/0 1 +0/1CompletionsReached"},
		{"a queue is done", queue, []*corev1.Pod{testPod(0, 0, ok, unindexed), testPod(9, 0, ok, unindexed)}, "[|] 0+0 0/0 2 +0/2CompletionsReached"},
		{"a queue whose workers all failed is not done", queue, []*corev1.Pod{testPod(0, 0, bad, unindexed)}, "[|] 0+0 0/1 1 "},
		{"a pod of nobody", nil, []*corev1.Pod{testPod(7, 0, run)}, "[|] 1+0 0/0 1 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := testJob(3)
			if c.edit != nil {
				c.edit(job)
			}
			got, err := tallyOf(job, sceneOf(job, c.pods), 0, false, epoch)
			if err != nil {
				t.Fatal(err)
			}
			st := &got.status
			why := ""
			for _, kind := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget} {
				if condition := conditionOf(st, kind); condition != nil {
					why = condition.Reason
				}
			}
			if !isIndexed(job) && int(st.Succeeded)+len(st.UncountedTerminatedPods.Succeeded) > 0 {
				why = fmt.Sprintf("+%d/%d%s", st.Succeeded, len(st.UncountedTerminatedPods.Succeeded), why)
			}
			if conditionOf(st, batchv1.JobComplete) != nil || conditionOf(st, batchv1.JobFailed) != nil {
				why += "!"
				if st.StartTime == nil {
					t.Error("an end without a start")
				}
			}
			text := fmt.Sprintf("[%s|%s] %d+%d %d/%d %d %s", st.CompletedIndexes, ptr.Deref(st.FailedIndexes, ""), st.Active, *st.Terminating,
				st.Failed, len(st.UncountedTerminatedPods.Failed), len(got.release), why)
			if text != c.want {
				t.Errorf("%q, want %q", text, c.want)
			}
		})
	}
}

// While pods that were made have not been seen, the Job does not end: they would be left over.
func TestTallyWaitsForUnseen(t *testing.T) {
	pods := []*corev1.Pod{testPod(0, 0, corev1.PodSucceeded)}
	for unseen, want := range []bool{true, false} {
		got, err := tallyOf(testJob(1), sceneOf(testJob(1), pods), unseen, false, epoch)
		if err != nil {
			t.Fatal(err)
		}
		if ended := conditionOf(&got.status, batchv1.JobComplete) != nil; ended != want {
			t.Errorf("%d unseen: ended %v", unseen, ended)
		}
	}
}

// Suspending and resuming is told by a condition, and the time of activity begins anew.
func TestSuspension(t *testing.T) {
	job := testJob(1)
	for i, c := range []struct {
		suspend bool
		want    corev1.ConditionStatus
	}{{false, ""}, {true, corev1.ConditionTrue}, {true, corev1.ConditionTrue}, {false, corev1.ConditionFalse}} {
		job.Spec.Suspend = &c.suspend
		got, err := tallyOf(job, &scene{}, 0, false, epoch.Add(time.Duration(i)*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		job.Status = got.status
		var is corev1.ConditionStatus
		for _, condition := range job.Status.Conditions {
			is = condition.Status
		}
		// kept while it is suspended, as by the built-in controller
		if is != c.want || job.Status.StartTime == nil || c.suspend && !job.Status.StartTime.Time.Equal(epoch) {
			t.Errorf("step %d: condition %q, started %v", i, is, job.Status.StartTime)
		}
	}
	if !job.Status.StartTime.Time.Equal(epoch.Add(3 * time.Hour)) {
		t.Error("started", job.Status.StartTime)
	}
}

// Whatever a pod looks like, it is translated without a panic, into something that a run can take.
func FuzzSight(f *testing.F) {
	for _, p := range []*corev1.Pod{testPod(0, 0, corev1.PodRunning), testPod(2, 9, corev1.PodFailed, deleted, exit(3))} {
		text, err := json.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p := &corev1.Pod{}
		if json.Unmarshal(text, p) != nil {
			return
		}
		job := testJob(3)
		s, ok := sightOf(job, p)
		if ok && (s.index < 0 || s.index >= 3 || s.number < 0 || !(s.progress >= 0 && s.progress <= 1)) {
			t.Errorf("%+v", s)
		}
		if _, err := tallyOf(job, sceneOf(job, []*corev1.Pod{p}), 0, false, epoch); err != nil {
			t.Error(err)
		}
	})
}
