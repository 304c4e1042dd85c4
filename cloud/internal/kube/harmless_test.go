package kube

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
)

// luck is how attempts of tasks go: the nth original of a task does the same whatever clones it has. Those beyond what was drawn succeed.
type luck struct{ originals, clones [][]course }

type course struct {
	takes time.Duration
	exit  int32
}

func drawLuck(rt *rapid.T, n int) *luck {
	draw := func(name string, most int) (all [][]course) {
		for range n {
			var some []course
			for range rapid.IntRange(0, most).Draw(rt, name) {
				some = append(some, course{time.Duration(rapid.IntRange(1, 40).Draw(rt, "takes")) * time.Second, rapid.Int32Range(0, 3).Draw(rt, "exit")})
			}
			all = append(all, some)
		}
		return all
	}
	return &luck{draw("originals", 3), draw("clones", 3)}
}

func (l *luck) of(task, nth int, isClone bool) course {
	all := l.originals
	if isClone {
		all = l.clones
	}
	if nth < len(all[task]) {
		return all[task][nth]
	}
	return course{takes: 5 * time.Second}
}

// drawHarmless draws a Job with any of the limits and policies that there are.
func drawHarmless(rt *rapid.T) *batchv1.Job {
	job := testJob(rapid.Int32Range(1, 4).Draw(rt, "completions"))
	job.Spec.Parallelism = ptr.To(rapid.Int32Range(1, 8).Draw(rt, "parallelism"))
	job.Spec.BackoffLimit = ptr.To(rapid.Int32Range(0, 4).Draw(rt, "backoffLimit"))
	actions := []batchv1.PodFailurePolicyAction{batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionFailJob}
	switch rapid.IntRange(0, 2).Draw(rt, "kind") {
	case 0:
		interchangeable(job)
	case 1:
		job.Spec.BackoffLimitPerIndex = ptr.To(rapid.Int32Range(0, 2).Draw(rt, "backoffLimitPerIndex"))
		job.Spec.BackoffLimit = ptr.To(rapid.Int32Range(2, 9).Draw(rt, "backoffLimit"))
		if rapid.Bool().Draw(rt, "bounded") {
			job.Spec.MaxFailedIndexes = ptr.To(rapid.Int32Range(0, 2).Draw(rt, "maxFailedIndexes"))
		}
		actions = append(actions, batchv1.PodFailurePolicyActionFailIndex)
	}
	if rapid.Bool().Draw(rt, "replacement") {
		job.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
	}
	if rapid.Bool().Draw(rt, "policy") {
		job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{}
		for range rapid.IntRange(1, 3).Draw(rt, "rules") {
			job.Spec.PodFailurePolicy.Rules = append(job.Spec.PodFailurePolicy.Rules, batchv1.PodFailurePolicyRule{
				Action: rapid.SampledFrom(actions).Draw(rt, "action"),
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
					Operator: rapid.SampledFrom([]batchv1.PodFailurePolicyOnExitCodesOperator{batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn}).Draw(rt, "operator"),
					Values:   rapid.SliceOfNDistinct(rapid.Int32Range(1, 3), 1, 3, rapid.ID).Draw(rt, "codes"),
				},
			})
		}
	}
	return job
}

// verdictless is what Kubernetes' own controller makes of a Job, reckoned without pods, clocks or clones: the originals of each task one after another.
type verdictless struct {
	succeeds bool
	failures int             // if it succeeds
	reasons  map[string]bool // for which it may fail, whichever comes first
	doomed   map[int]bool    // indexes that may fail
}

func builtIn(job *batchv1.Job, l *luck) *verdictless {
	r := &verdictless{reasons: map[string]bool{}, doomed: map[int]bool{}}
	for task, courses := range l.originals {
		counted := int32(0)
		for _, c := range courses {
			if c.exit == 0 {
				break
			}
			action := batchv1.PodFailurePolicyActionCount
			if p := job.Spec.PodFailurePolicy; p != nil {
				for _, rule := range p.Rules {
					if slices.Contains(rule.OnExitCodes.Values, c.exit) == (rule.OnExitCodes.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn) {
						action = rule.Action
						break
					}
				}
			}
			if action == batchv1.PodFailurePolicyActionIgnore {
				continue
			}
			r.failures++
			counted++
			if limit := job.Spec.BackoffLimitPerIndex; limit != nil && (counted > *limit || action == batchv1.PodFailurePolicyActionFailIndex) {
				r.doomed[task] = true
			}
			if action == batchv1.PodFailurePolicyActionFailJob {
				r.reasons[batchv1.JobReasonPodFailurePolicy] = true
				break
			}
			if r.doomed[task] {
				r.reasons[batchv1.JobReasonFailedIndexes] = true
				break
			}
		}
	}
	if r.failures > int(*job.Spec.BackoffLimit) {
		r.reasons[batchv1.JobReasonBackoffLimitExceeded] = true
	}
	if most := job.Spec.MaxFailedIndexes; most != nil && len(r.doomed) > int(*most) {
		r.reasons[batchv1.JobReasonMaxFailedIndexesExceeded] = true
	}
	r.succeeds = len(r.reasons) == 0
	return r
}

// outcome is how a Job has ended under the controller.
type outcome struct {
	status        batchv1.JobStatus
	reason        string // of its failure; "" if it is complete
	failed        indexSet
	clones, again int // that were made, and those made of a task of which one had failed
}

// live through a Job under a policy, with controllers that die now and then.
func liveThrough(rt *rapid.T, t *testing.T, job *batchv1.Job, l *luck, policy string) *outcome {
	job = job.DeepCopy()
	job.Annotations = map[string]string{PolicyAnnotation: policy, CloneBudgetAnnotation: "none"}
	b := newBench(t, job)
	b.clones = newCloneGate(1000, 1000, 1000)
	type fated struct {
		course
		end  time.Time
		task int
	}
	known, made, o := map[string]*fated{}, map[bool]map[int]int{true: {}, false: {}}, &outcome{}
	sour := map[int]bool{}
	for range 400 {
		next, err := b.visit()
		if err != nil {
			rt.Fatal(err)
		}
		o.status = b.job().Status
		if finished(b.job()) {
			if c := conditionOf(&o.status, batchv1.JobFailed); c != nil {
				o.reason = c.Reason
			}
			if o.failed, err = parseIndexes(ptr.Deref(o.status.FailedIndexes, ""), tasksOf(job)); err != nil {
				rt.Fatal(err)
			}
			return o
		}
		until := b.clock.Add(time.Hour)
		if next.RequeueAfter > 0 {
			until = b.clock.Add(next.RequeueAfter)
		}
		pods, soured := b.pods(), []int(nil)
		slices.SortFunc(pods, func(x, y corev1.Pod) int {
			return len(x.Labels[podtemplate.AttemptLabel]) - len(y.Labels[podtemplate.AttemptLabel])
		})
		for i := range pods {
			p := &pods[i]
			task, _ := taskOf(job, p)
			isClone := podtemplate.IsClone(p.Labels)
			x := known[p.Name]
			switch {
			case x == nil:
				x = &fated{course: l.of(task, made[isClone][task], isClone), task: task}
				x.end = b.clock.Add(x.takes)
				known[p.Name] = x
				made[isClone][task]++
				if isClone {
					o.clones++
					if sour[task] {
						o.again++
					}
				}
				if !terminal(p) {
					b.startPod(p)
				}
			case terminal(p):
				continue
			case p.DeletionTimestamp != nil:
				b.exitPod(p, 143)
				until = b.clock
			case !b.clock.Before(x.end):
				b.exitPod(p, x.exit)
				if isClone && x.exit != 0 {
					soured = append(soured, task) // the pods of this round were made before
				}
				until = b.clock
			}
			if !terminal(p) && x.end.Before(until) {
				until = x.end
			}
		}
		for _, task := range soured {
			sour[task] = true
		}
		if b.clock = b.clock.Add(time.Millisecond); until.After(b.clock) {
			b.clock = until
		}
		if rapid.IntRange(0, 19).Draw(rt, "dies") == 19 {
			b.restart()
			b.clones = newCloneGate(1000, 1000, 1000)
		}
	}
	rt.Fatalf("the Job does not end: %+v", o.status)
	return nil
}

// startPod gives a pod a node and lets its container start.
func (b *bench) startPod(p *corev1.Pod) {
	if p.Spec.NodeName == "" {
		p.Spec.NodeName = "node"
	}
	if err := b.api.Update(context.Background(), p); err != nil {
		b.t.Fatal(err)
	}
	p.Status.Phase = corev1.PodRunning
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "task", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: b.clock}}}}}
	if err := b.api.Status().Update(context.Background(), p); err != nil {
		b.t.Fatal(err)
	}
}

// exitPod lets the container of a pod end.
func (b *bench) exitPod(p *corev1.Pod, code int32) {
	p.Status.Phase = corev1.PodSucceeded
	if code != 0 {
		p.Status.Phase = corev1.PodFailed
	}
	begun, _ := lifetime(p)
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "task", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, StartedAt: metav1.Time{Time: begun}, FinishedAt: metav1.Time{Time: b.clock},
	}}}}
	if err := b.api.Status().Update(context.Background(), p); err != nil {
		b.t.Fatal(err)
	}
}

// No Job fails that would have succeeded without clones, nor does an index, whatever limits and policies a Job has and however its attempts end: Kubernetes' own rules are reckoned beside it.
// What it counts are failures that there would have been. Without clones the counts are the same.
func TestClonesDoNoHarm(t *testing.T) {
	clones, succeeded, failed := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		job := drawHarmless(rt)
		l := drawLuck(rt, tasksOf(job))
		want := builtIn(job, l)
		policy := rapid.SampledFrom([]string{
			"fifo", "srew:slot=0s", "spark:quantile=0,multiplier=0,min_runtime=0s", "spark:quantile=0.3,multiplier=1,min_runtime=0s", "fork:p=1,r=2", "late:min_age=0s,cap=1",
		}).Draw(rt, "policy")
		o := liveThrough(rt, t, job, l, policy)
		clones += o.clones
		switch {
		case o.again > 0:
			rt.Fatalf("%d clones of tasks of which a clone had failed", o.again)
		case o.reason != "":
			if failed++; !want.reasons[o.reason] {
				rt.Fatalf("the Job failed, %s; without clones it may fail for %v: %+v", o.reason, slices.Sorted(maps.Keys(want.reasons)), o.status)
			}
		case int(o.status.Succeeded) != tasksOf(job):
			rt.Fatalf("complete with %d of %d successes", o.status.Succeeded, tasksOf(job))
		default:
			if succeeded++; int(o.status.Failed) > want.failures {
				rt.Fatalf("%d failures, without clones there are %d", o.status.Failed, want.failures)
			}
		}
		for i := range o.failed {
			if o.failed[i] && !want.doomed[i] {
				rt.Fatalf("index %d failed, and would not have without clones", i)
			}
		}
		if o.clones == 0 && (want.succeeds != (o.reason == "") || want.succeeds && int(o.status.Failed) != want.failures) {
			rt.Fatalf("without a clone: %q, %d failures; want %+v", o.reason, o.status.Failed, want)
		}
	})
	if clones == 0 || succeeded == 0 || failed == 0 {
		t.Errorf("%d clones, %d Jobs complete, %d failed: this tests nothing", clones, succeeded, failed)
	}
	t.Logf("%d clones, %d Jobs complete, %d failed", clones, succeeded, failed)
}
