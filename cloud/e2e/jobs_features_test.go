package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// feature is a Job that uses a part of the Job API, and what has to come of it whoever manages it.
type feature struct {
	name string
	spec string // lines of the Job's spec
	args string // of task exit
	want string // the condition that ends it and its reason; completedIndexes, failedIndexes, succeeded and failed
}

var features = []feature{
	{"indexed", "completionMode: Indexed, completions: 5, parallelism: 2", "0.5s", "Complete CompletionsReached [0-4|] 5 0"},
	{"interchangeable", "completions: 5, parallelism: 2", "0.5s", "Complete CompletionsReached [|] 5 0"},
	{"one", "suspend: false", "0.5s", "Complete CompletionsReached [|] 1 0"},
	{"nothing", "completions: 0", "0.5s", "Complete CompletionsReached [|] 0 0"},
	{"queue", "parallelism: 3", "0.5s", "Complete CompletionsReached [|] 3 0"},
	{"backoff", "completionMode: Indexed, completions: 2, parallelism: 2, backoffLimit: 0", "0.5s 0=hang 1=1", "Failed BackoffLimitExceeded [|] 0 2"},
	{"backoff-plain", "completions: 1, backoffLimit: 1", "0.5s 0=1", "Failed BackoffLimitExceeded [|] 0 2"},
	{"per-index", "completionMode: Indexed, completions: 4, parallelism: 4, backoffLimitPerIndex: 1", "0.5s 1=3", "Failed FailedIndexes [0,2,3|1] 3 2"},
	{"max-failed", "completionMode: Indexed, completions: 3, parallelism: 3, backoffLimitPerIndex: 0, maxFailedIndexes: 0", "0.5s 0=hang 1=3 2=hang",
		"Failed MaxFailedIndexesExceeded [|1] 0 3"},
	{"fail-job", "completionMode: Indexed, completions: 2, parallelism: 2, podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [42]}}]}",
		"0.5s 0=hang 1=42", "Failed PodFailurePolicy [|] 0 2"},
	{"fail-index", "completionMode: Indexed, completions: 3, parallelism: 3, backoffLimitPerIndex: 5, " +
		"podFailurePolicy: {rules: [{action: FailIndex, onExitCodes: {operator: In, values: [42]}}]}", "0.5s 2=42", "Failed FailedIndexes [0,1|2] 2 1"},
	{"success-policy", "completionMode: Indexed, completions: 3, parallelism: 3, successPolicy: {rules: [{succeededIndexes: '1,2', succeededCount: 1}]}",
		"0.5s 0=hang 2=hang", "Complete SuccessPolicy [1|] 1 0"},
	{"too-long", "completionMode: Indexed, completions: 2, parallelism: 2, activeDeadlineSeconds: 20", "0.5s 1=hang", "Failed DeadlineExceeded [0|] 1 1"},
}

// beginFeature makes a Job of short tasks.
func (c *cluster) beginFeature(name, managedBy, spec, args string) {
	c.t.Helper()
	if managedBy != "" {
		spec += ", managedBy: " + managedBy
	}
	out := c.outputs(name)
	if err := os.MkdirAll(out, 0o755); err != nil {
		c.t.Fatal(err)
	}
	c.must(fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata: {name: %s}
spec: {%s, template: {spec: {restartPolicy: Never, hostNetwork: true, terminationGracePeriodSeconds: 1, containers: [
  {name: task, image: "localhost/task:e2e", imagePullPolicy: Never, args: [exit, %s], resources: {requests: {cpu: 10m, memory: 8Mi}},
   env: [{name: KIND, valueFrom: {fieldRef: {fieldPath: "metadata.labels['tailcut.dev/kind']"}}}], volumeMounts: [{name: out, mountPath: /out}]}],
  volumes: [{name: out, hostPath: {path: %s}}]}}}
`, name, spec, strings.ReplaceAll(args, " ", ", "), out), "create", "-f", "-")
}

// ended says how a Job has ended; "" as long as it has not.
func ended(job *batchv1.Job) string {
	st := &job.Status
	for _, k := range st.Conditions {
		if k.Status == "True" && (k.Type == batchv1.JobComplete || k.Type == batchv1.JobFailed) {
			return fmt.Sprintf("%s %s [%s|%s] %d %d", k.Type, k.Reason, st.CompletedIndexes, ptr.Deref(st.FailedIndexes, ""), st.Succeeded, st.Failed)
		}
	}
	return ""
}

// Each part of the Job API ends a Job as it does under Kubernetes' own controller, and the API server takes every status on the way.
func TestFeatures(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	c := newCluster(t)
	defer c.controller()()
	managers := map[string]string{"own": "", "tailcut": "tailcut.dev/controller"}
	for _, f := range features {
		for who, managedBy := range managers {
			c.beginFeature(f.name+"-"+who, managedBy, f.spec, f.args)
		}
	}
	for _, f := range features {
		for who := range managers {
			name, got := f.name+"-"+who, ""
			c.eventually(3*time.Minute, "the end of "+name, func() bool { got = ended(c.job(name)); return got != "" })
			if got != f.want {
				t.Errorf("%s: %s, want %s", name, got, f.want)
			}
			for _, p := range c.pods("job-name=" + name) {
				if len(p.Finalizers) > 0 && p.DeletionTimestamp == nil {
					t.Logf("%s: %s still has %v", name, p.Name, p.Finalizers)
				}
			}
		}
	}
	c.must("", "delete", "jobs", "--all", "--cascade=foreground", "--timeout=2m")
	c.valid()
}

// Who suspends a Job, as Kueue does before it admits it, sees it without pods, and sees it go on when he lets it.
func TestSuspend(t *testing.T) {
	c := newCluster(t)
	defer c.controller()()
	const name = "suspended"
	c.beginFeature(name, "tailcut.dev/controller", "completionMode: Indexed, completions: 4, parallelism: 4, suspend: true", "0.5s 3=hang")
	started := false // as Kubernetes' own controller does, it keeps the time when the Job started last
	suspended := func(yes bool) {
		t.Helper()
		c.eventually(time.Minute, fmt.Sprintf("suspended: %v", yes), func() bool {
			st := c.job(name).Status
			for _, k := range st.Conditions {
				if k.Type == batchv1.JobSuspended && k.Status == "True" {
					return yes && st.Active == 0 && (st.StartTime != nil) == started && len(c.pods("job-name="+name+",!tailcut.dev/lost")) == int(st.Succeeded)
				}
			}
			return !yes && st.StartTime != nil && st.Active > 0
		})
	}
	suspended(true)
	c.must("", "patch", "job", name, "-p", `{"spec":{"suspend":false}}`)
	suspended(false)
	started = true
	c.wait(name, "Suspended=False", time.Minute)
	c.eventually(time.Minute, "but for one done", func() bool { return c.job(name).Status.CompletedIndexes == "0-2" })
	c.must("", "patch", "job", name, "-p", `{"spec":{"suspend":true}}`)
	suspended(true)
	if st := c.job(name).Status; st.CompletedIndexes != "0-2" || st.Failed != 0 {
		t.Errorf("%+v", st)
	}
	// As elastic Indexed Jobs do, it is made smaller, and so complete.
	c.must("", "patch", "job", name, "-p", `{"spec":{"suspend":false,"completions":3,"parallelism":3}}`)
	c.wait(name, "complete", time.Minute)
	c.must("", "delete", "job", name, "--cascade=foreground", "--timeout=2m")
	c.valid()
}

// A pod that is deleted is replaced when it has ended, if the Job says so, and the Job is removed when its time is over.
func TestReplacementAndRemoval(t *testing.T) {
	c := newCluster(t)
	defer c.controller()()
	const name = "replaced"
	c.beginFeature(name, "tailcut.dev/controller", "completionMode: Indexed, completions: 2, parallelism: 2, podReplacementPolicy: Failed, ttlSecondsAfterFinished: 1", "6s")
	c.eventually(time.Minute, "running", func() bool { return ptr.Deref(c.job(name).Status.Ready, 0) == 2 })
	first := c.pods("job-name=" + name + ",batch.kubernetes.io/job-completion-index=0")
	if len(first) == 0 {
		t.Fatal("the Job was over before its pod could be deleted: the machine is too busy for a task of 6 s")
	}
	c.must("", "delete", "pod", first[0].Name, "--wait=false")
	c.eventually(time.Minute, "replaced", func() bool {
		pods := c.pods("job-name=" + name + ",batch.kubernetes.io/job-completion-index=0")
		for _, p := range pods {
			if p.Name != first[0].Name {
				return true
			}
		}
		return false
	})
	c.must("", "wait", "--for=delete", "--timeout=2m", "job/"+name)
	if left := c.pods("job-name=" + name); len(left) > 0 {
		c.eventually(time.Minute, "without pods", func() bool { return len(c.pods("job-name="+name)) == 0 })
	}
	c.valid()
}
