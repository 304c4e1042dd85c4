package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// manifest is an Indexed Job of tasks of 3 s, of which those on the slow node take ten times as long.
func manifest(name string, tasks, parallelism int, policy string) string {
	managed := ""
	if policy != "" {
		managed = "\n  managedBy: tailcut.dev/controller"
	}
	return fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata:
  name: %s
  annotations: {tailcut.dev/policy: %q}
spec:%s
  completions: %d
  parallelism: %d
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      hostNetwork: true
      terminationGracePeriodSeconds: 1
      containers:
      - name: task
        image: localhost/task:e2e
        imagePullPolicy: Never
        args: [3s, 127.0.0.13, "10"]
        env:
        - {name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
        - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        resources: {requests: {cpu: 400m, memory: 16Mi}}
`, name, policy, managed, tasks, parallelism)
}

// The tasks may write their progress.
const reporters = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reporter}
rules: [{apiGroups: [""], resources: [pods], verbs: [patch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reporter}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reporter}
subjects: [{kind: ServiceAccount, name: default, namespace: default}]
`

// whole checks what a Job that is complete has to look like, and removes it.
func (c *cluster) whole(name string, tasks int) {
	c.t.Helper()
	job := c.job(name)
	st := job.Status
	if want := fmt.Sprintf("0-%d", tasks-1); st.CompletedIndexes != want || int(st.Succeeded) != tasks {
		c.t.Errorf("%s: completedIndexes %s, succeeded %d; want %s, %d", name, st.CompletedIndexes, st.Succeeded, want, tasks)
	}
	if st.Active != 0 || *st.Ready != 0 || *st.Terminating != 0 || st.CompletionTime == nil {
		c.t.Errorf("%s: status after its end: %+v", name, st)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(500 * time.Millisecond) {
		left := 0
		for _, p := range c.pods("job-name=" + name) {
			over := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
			if len(p.Finalizers) > 0 || !over {
				left++
			}
		}
		if left == 0 {
			break
		}
		if time.Now().After(deadline) {
			c.t.Errorf("%s: %d pods still run or have finalizers 30 s after its end", name, left)
			break
		}
	}
	c.must("", "delete", "job", name, "--wait=false")
}

// One of three nodes takes ten times as long for everything. Under each policy the Job completes sooner than under Kubernetes' own controller, and
// every index has succeeded. LATE looks at no attempt of less than a minute unless it is told to, and SREW decides every
// five seconds; these tasks take 3 s.
func TestSlowNode(t *testing.T) {
	c := newCluster(t)
	c.must(reporters, "apply", "-f", "-")
	defer c.controller()()
	const tasks = 60
	var own time.Duration
	for _, run := range []struct{ name, policy string }{
		{"kubernetes", ""}, {"spark", "spark"}, {"late", "late:min_age=5s,cap=0.3"}, {"srew", "srew:slot=1s"},
	} {
		name := "slow-" + run.name
		start := time.Now()
		c.must(manifest(name, tasks, 12, run.policy), "create", "-f", "-")
		c.wait(name, "complete", 10*time.Minute)
		flow := time.Since(start)
		if run.policy == "" {
			own = flow
		}
		clones := len(c.pods("job-name=" + name + ",tailcut.dev/kind=clone"))
		t.Logf("%-16s %6.1f s, %.2f of Kubernetes' own; %d clones have finished", name, flow.Seconds(), flow.Seconds()/own.Seconds(), clones)
		c.whole(name, tasks)
		if run.policy != "" && flow >= own {
			t.Errorf("under %s the Job took %v, under Kubernetes' own controller %v", run.policy, flow, own)
		}
	}
}

// The controller is killed every few seconds and pods are deleted by hand, and still every Job completes with each index done.
func TestChaos(t *testing.T) {
	c := newCluster(t)
	const jobs, tasks = 3, 12
	stop := c.controller()
	for i := range jobs {
		c.must(strings.Replace(manifest(fmt.Sprintf("chaos-%d", i), tasks, 4, "spark"), "\nspec:", "\nspec:\n  backoffLimit: 100", 1), "create", "-f", "-")
	}
	random := rand.New(rand.NewPCG(1, 1))
	for deadline := time.Now().Add(40 * time.Second); time.Now().Before(deadline); {
		time.Sleep(time.Duration(2+random.IntN(4)) * time.Second)
		if pods := c.pods("tailcut.dev/attempt"); len(pods) > 0 {
			p := pods[random.IntN(len(pods))]
			_, _ = c.kubectl("", "delete", "pod", p.Name, "--wait=false") // it may be gone by now
		}
		stop()
		stop = c.controller()
	}
	defer func() { stop() }()
	for i := range jobs {
		name := fmt.Sprintf("chaos-%d", i)
		c.wait(name, "complete", 10*time.Minute)
		c.whole(name, tasks)
	}
}
