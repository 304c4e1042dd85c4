package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Six tasks of 10 s are due after a minute, and on one of three nodes they take ten times as long. Under Kubernetes' own controller the Job is late. Under a
// policy without clones it is late, too, and an event tells early. Under shed it is in time. What the pods took is kept.
func TestDeadline(t *testing.T) {
	if testing.Short() {
		t.Skip("takes two minutes")
	}
	const due = time.Minute
	c := newCluster(t)
	c.must(reporters, "apply", "-f", "-")
	defer c.controller("--history-namespace", "default", "--metrics-address", "127.0.0.1:18080")()
	for _, policy := range []string{"own", "fifo", "shed"} {
		managed := "managedBy: tailcut.dev/controller, "
		if policy == "own" {
			managed = ""
		}
		c.must(fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata:
  name: due-%[1]s
  annotations: {tailcut.dev/policy: %[1]s, tailcut.dev/deadline: %v, tailcut.dev/law: "pareto:alpha=1.2,xm=10", tailcut.dev/clone-budget: none}
spec: {%scompletions: 6, parallelism: 18, template: {spec: {restartPolicy: Never, hostNetwork: true, terminationGracePeriodSeconds: 1,
  volumes: [{name: out, emptyDir: {}}], containers: [{name: task, image: "localhost/task:e2e", imagePullPolicy: Never, args: [10s, 127.0.0.13, "10"],
  volumeMounts: [{name: out, mountPath: /out}], resources: {requests: {cpu: 50m, memory: 8Mi}}, env: [
  {name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}},
  {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}},
  {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}]}]}}}
`, policy, due, managed), "create", "-f", "-")
	}
	flow := func(policy string) time.Duration {
		c.wait("due-"+policy, "complete", 5*time.Minute)
		job := c.job("due-" + policy)
		return job.Status.CompletionTime.Sub(job.Status.StartTime.Time)
	}
	shed := flow("shed")
	for policy, took := range map[string]time.Duration{"own": flow("own"), "fifo": flow("fifo"), "shed": shed} {
		t.Logf("%-4s %v of %v", policy, took, due)
		if met := took <= due; met != (policy == "shed") {
			t.Errorf("%s took %v, the deadline was after %v", policy, took, due)
		}
	}
	risk := &corev1.EventList{}
	c.get(risk, "events", "--field-selector", "involvedObject.name=due-fifo,reason=DeadlineAtRisk")
	if len(risk.Items) != 1 {
		t.Errorf("%d events DeadlineAtRisk", len(risk.Items))
	} else if told := risk.Items[0].CreationTimestamp.Sub(c.job("due-fifo").Status.StartTime.Time); told > 5*time.Second {
		t.Errorf("told after %v that the deadline is at risk", told)
	}
	answer, err := http.Get("http://127.0.0.1:18080/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`tailcut_deadline_total{result="met"} 1`, `tailcut_deadline_total{result="missed"} 1`} {
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("/metrics has no line %s", line)
		}
	}
	for _, policy := range []string{"fifo", "shed"} {
		if kept := c.must("", "get", "configmap", "history.default.job.due-"+policy, "-o", "jsonpath={.data.history\\.json}"); !strings.Contains(kept, `"durations_seconds":[1`) {
			t.Errorf("of due-%s is kept: %s", policy, kept)
		}
	}
	c.must("", "delete", "jobs", "--all", "--cascade=foreground", "--timeout=2m")
	c.valid()
}
