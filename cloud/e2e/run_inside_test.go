package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// insideJob is an engine that runs in the cluster, as docs/howto/run-on-kubernetes.md has it, but for what the nodes of the test lack: names of pods as
// names of hosts, and a volume that is not a folder.
const insideJob = `apiVersion: v1
kind: ConfigMap
metadata: {name: engine}
data:
  pod.yaml: |
%s
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: engine}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: engine}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list, watch, create, delete]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: engine}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: engine}
subjects: [{kind: ServiceAccount, name: engine, namespace: default}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: %s}
spec:
  template:
    spec:
      restartPolicy: Never
      serviceAccountName: engine
      hostNetwork: true
      volumes:
      - {name: state, hostPath: {path: %s, type: DirectoryOrCreate}}
      - {name: engine, configMap: {name: engine}}
      containers:
      - name: engine
        image: localhost/tailcut-cloud:e2e
        imagePullPolicy: Never
        command: [/tailcut, run, wordcount, "%s", --output, "%s", --on, kubernetes, --slots, "6", --image, "localhost/tailcut-cloud:e2e",
          --pod-template, /engine/pod.yaml, --split-size, 256KiB, --reducers, "3"]
        env:
        - {name: XDG_STATE_HOME, value: /state}
        - {name: TAILCUT_POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        - {name: AWS_ACCESS_KEY_ID, value: test}
        - {name: AWS_SECRET_ACCESS_KEY, value: testtest}
        - {name: AWS_REGION, value: us-east-1}
        volumeMounts: [{name: state, mountPath: /state}, {name: engine, mountPath: /engine}]
        resources: {requests: {cpu: 100m, memory: 64Mi}}
`

// The engine of a word count runs in a pod of a Job. The power of its node is cut, and the Job's next pod goes on with the journal that is on a volume:
// what was done counts, and the result is byte for byte that of a local run. A second Job is deleted while pods of its attempts run, and they go with it.
func TestRunInside(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	c := newCluster(t)
	data := c.storeServer()
	words(t, filepath.Join(data, "in"), 12, 1<<20)
	local := filepath.Join(c.dir, "local")
	if out, err := c.tailcut("run", "wordcount", filepath.Join(data, "in"), "--output", local, "--split-size", "256KiB", "--reducers", "3").Output(); err != nil {
		t.Fatal(err, string(out))
	}
	begin := func(name string) {
		state := filepath.Join(c.dir, "state", name)
		c.must(fmt.Sprintf(insideJob, indented(runTemplate), name, state, fmt.Sprintf(bucket, "in"), fmt.Sprintf(bucket, name)), "apply", "-f", "-")
	}
	done := func(name string) int {
		found, _ := filepath.Glob(filepath.Join(data, name, "_tailcut/*/attempts/*/seg-00002"))
		return len(found)
	}

	begin("inside")
	c.eventually(2*time.Minute, "a few tasks done", func() bool { return done("inside") >= 8 })
	node := c.pods("job-name=inside")[0].Spec.NodeName
	c.kill("node-" + node[len("127.0.0."):])
	start := time.Now()
	c.eventually(5*time.Minute, "done", func() bool {
		_, err := os.Stat(filepath.Join(data, "inside", "_SUCCESS"))
		return err == nil
	})
	t.Logf("done %.1f s after the engine's node was lost", time.Since(start).Seconds())
	c.start("node-" + node[len("127.0.0."):]) // the Job is complete when Kubernetes knows that the first engine has ended
	c.wait("inside", "complete", 5*time.Minute)
	recovered := ""
	for _, p := range c.pods("job-name=inside") {
		if p.Status.Phase == corev1.PodSucceeded {
			recovered = c.must("", "logs", p.Name)
		}
	}
	c.says(recovered, "recovered: ")
	same(t, filepath.Join(data, "inside"), local, 3)
	c.eventually(3*time.Minute, "without pods of the run", func() bool { return len(c.pods("tailcut.dev/run")) == 0 })

	begin("deleted")
	c.eventually(2*time.Minute, "pods of attempts", func() bool { return len(c.pods("tailcut.dev/run")) >= 3 })
	for _, p := range c.pods("tailcut.dev/run") {
		if len(p.OwnerReferences) != 1 || p.OwnerReferences[0].Kind != "Job" || p.OwnerReferences[0].Name != "deleted" {
			t.Errorf("%s belongs to %+v", p.Name, p.OwnerReferences)
		}
	}
	c.must("", "delete", "job", "deleted", "--timeout=1m")
	c.eventually(2*time.Minute, "without pods", func() bool { return len(c.pods("tailcut.dev/run"))+len(c.pods("job-name=deleted")) == 0 })
}

// indented is a text for a block of YAML that begins with four blanks.
func indented(text string) (all string) {
	for line := range strings.Lines(text) {
		all += "    " + line
	}
	return all
}
