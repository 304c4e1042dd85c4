package e2e

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// work is an Indexed Job, of whose tasks those on the third node take longer.
type work struct {
	name               string
	tasks, parallelism int
	policy             string // "" for Kubernetes' own controller, "default" for that of a Job that names none
	takes              string // by a task; "" is 3s
	slow               int    // how many times as long the third node takes; 0 is 10
	backoffLimit       int    // 0 is Kubernetes' default of 6
	cpu                string // request of a pod; "" is 400m
	pool               string // label; "" is none
	queue, class       string // of Kueue, likewise
	data, zone         string // annotation, and zone that the template names, likewise
}

// begin makes the Job.
func (c *cluster) begin(w work) {
	c.t.Helper()
	c.must(c.manifest(w), "create", "-f", "-")
}

// manifest writes the Job. Its tasks leave their outputs in a folder of its own.
func (c *cluster) manifest(w work) string {
	c.t.Helper()
	out := c.outputs(w.name)
	if err := os.MkdirAll(out, 0o755); err != nil {
		c.t.Fatal(err)
	}
	managed, annotation, labels := "", "", ""
	if w.pool != "" {
		labels = "tailcut.dev/pool: " + w.pool
	}
	if w.queue != "" {
		labels = "kueue.x-k8s.io/queue-name: " + w.queue
		if w.class != "" {
			labels += ", kueue.x-k8s.io/priority-class: " + w.class
		}
	}
	if w.policy != "" {
		managed = "\n  managedBy: tailcut.dev/controller"
		if w.policy != "default" {
			annotation = fmt.Sprintf("tailcut.dev/policy: %q", w.policy)
		}
	}
	if w.data != "" {
		annotation = fmt.Sprintf("tailcut.dev/data: %q", w.data)
	}
	nodes := ""
	if w.zone != "" {
		nodes = "topology.kubernetes.io/zone: " + w.zone
	}
	return fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata:
  name: %s
  labels: {%s}
  annotations: {%s}
spec:%s
  completions: %d
  parallelism: %d
  completionMode: Indexed
  backoffLimit: %d
  template:
    spec:
      restartPolicy: Never
      hostNetwork: true
      nodeSelector: {%s}
      volumes: [{name: out, hostPath: {path: %s}}]
      containers:
      - name: task
        image: localhost/task:e2e
        imagePullPolicy: Never
        args: [%s, 127.0.0.13, "%d"]
        volumeMounts: [{name: out, mountPath: /out}]
        env:
        - {name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
        - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        resources: {requests: {cpu: %s, memory: 16Mi}}
`, w.name, labels, annotation, managed, w.tasks, w.parallelism, cmp.Or(w.backoffLimit, 6), nodes, out, cmp.Or(w.takes, "3s"), cmp.Or(w.slow, 10), cmp.Or(w.cpu, "400m"))
}

func (c *cluster) outputs(job string) string { return filepath.Join(c.dir, "out", job) }

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

// complete checks that each index of a Job that is complete has succeeded once and left one output, and the status says so.
func (c *cluster) complete(w work) {
	c.t.Helper()
	st := c.job(w.name).Status
	want := fmt.Sprintf("0-%d", w.tasks-1)
	if w.tasks <= 2 {
		want = []string{"0", "0,1"}[w.tasks-1]
	}
	if st.CompletedIndexes != want || int(st.Succeeded) != w.tasks {
		c.t.Errorf("%s: completedIndexes %s, succeeded %d; want %s, %d", w.name, st.CompletedIndexes, st.Succeeded, want, w.tasks)
	}
	if st.Active != 0 || *st.Ready != 0 || *st.Terminating != 0 || st.CompletionTime == nil {
		c.t.Errorf("%s: status after its end: %+v", w.name, st)
	}
	for index := range w.tasks {
		text, err := os.ReadFile(filepath.Join(c.outputs(w.name), fmt.Sprint(index)))
		if !strings.HasPrefix(string(text), w.name+"-") {
			c.t.Errorf("%s: index %d is complete, and its output is %q: %v", w.name, index, text, err)
		}
	}
}

// whole checks that a Job that is complete is so to the last detail, and that no pod runs or is held back by a finalizer. Then it removes the Job.
func (c *cluster) whole(w work) {
	c.t.Helper()
	c.complete(w)
	c.eventually(2*time.Minute, w.name+" without pods that run or have finalizers", func() bool {
		for _, p := range c.pods("job-name=" + w.name) {
			over := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
			if len(p.Finalizers) > 0 || !over {
				return false
			}
		}
		return true
	})
	c.must("", "delete", "job", w.name, "--cascade=foreground", "--timeout=2m")
	if left := c.pods("job-name=" + w.name); len(left) > 0 {
		c.t.Errorf("%s: %d pods have outlived it", w.name, len(left))
	}
}

// timeline logs how a Job's pods went, for whoever has to find out why it took so long.
func (c *cluster) timeline(job string) {
	c.t.Helper()
	began := c.job(job).CreationTimestamp.Time
	since := func(at *metav1.Time) string {
		if at.IsZero() {
			return "-"
		}
		return at.Sub(began).String()
	}
	var b strings.Builder
	for _, p := range c.pods("job-name=" + job) {
		var began, ended *metav1.Time
		for _, s := range p.Status.ContainerStatuses {
			if s.State.Running != nil {
				began = &s.State.Running.StartedAt
			}
			if s.State.Terminated != nil {
				began, ended = &s.State.Terminated.StartedAt, &s.State.Terminated.FinishedAt
			}
		}
		fmt.Fprintf(&b, "%-3s %-8s %s %-10s made %4s, began %4s, ended %4s, %s %s\n", p.Annotations["batch.kubernetes.io/job-completion-index"],
			p.Labels["tailcut.dev/kind"], p.Labels["tailcut.dev/attempt"], p.Spec.NodeName, since(&p.CreationTimestamp), since(began), since(ended),
			p.Status.Phase, p.Labels["tailcut.dev/lost"])
	}
	c.t.Logf("%s:\n%s", job, b.String())
}

// started tells how many clones the events of a Job speak of.
func (c *cluster) started(job string) int {
	out := c.must("", "get", "events", "--field-selector", "involvedObject.name="+job+",reason=CloneStarted", "-o", "name")
	return strings.Count(out, "\n")
}

// One of three nodes is so slow that its tasks would take three minutes, and the controller is killed on the way. kubectl sees an ordinary Job; what the slow
// node has is cloned, and the clones win.
func TestClones(t *testing.T) {
	c := newCluster(t)
	c.must(reporters, "apply", "-f", "-")
	w := work{name: "clones", tasks: 15, parallelism: 9, policy: "spark:quantile=0.5,multiplier=2", slow: 60}
	stop := c.controller()
	c.begin(w)
	c.eventually(5*time.Minute, "half done", func() bool { return int(c.job(w.name).Status.Succeeded) > w.tasks/2 })
	stop()
	defer c.controller()()
	c.wait(w.name, "complete", 10*time.Minute)
	c.timeline(w.name)
	if won := c.pods("job-name=clones,tailcut.dev/kind=clone"); len(won) == 0 {
		t.Error("no pod is labelled as a clone that has won")
	}
	if c.started(w.name) == 0 {
		t.Error("no event tells of a clone")
	}
	c.whole(w)
	c.valid()
}
