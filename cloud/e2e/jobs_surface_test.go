package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Clones cut off two stragglers of two minutes. Each clone has its events, the last one too; the Job's ConfigMap says who won; and the plan that is made from
// the history still recommends the clones.
func TestWinnersAndHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	c := newCluster(t)
	defer c.controller("--history-namespace", "default")()
	c.must(fmt.Sprintf(straggling, "cut", ""), "create", "-f", "-")
	c.wait("cut", "complete", 5*time.Minute)
	for _, reason := range []string{"CloneStarted", "CloneWon"} {
		c.eventually(time.Minute, "two events "+reason, func() bool {
			out := c.must("", "get", "events", "--field-selector", "involvedObject.name=cut,reason="+reason, "-o", "name")
			return strings.Count(out, "\n") == 2
		})
	}
	won := c.must("", "get", "configmap", "cut-winners", "-o", `jsonpath={.data.winners\.csv}`)
	t.Log("\n" + won)
	if lines := strings.Split(strings.TrimSpace(won), "\n"); len(lines) != 9 || !strings.HasPrefix(lines[1], "0,1,cut-0-") || !strings.HasPrefix(lines[8], "7,0,cut-7-") {
		t.Errorf("winners: %q", lines)
	}
	plan := exec.Command(filepath.Join(c.bin, "tailcut"), "plan", "fork", "--kubernetes", "job/cut", "--namespace", "default", "--history-namespace", "default")
	plan.Env = append(os.Environ(), "PATH="+c.bin+":"+os.Getenv("PATH"), "KUBECONFIG="+c.kubeconfig())
	out, err := plan.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "8 durations and 2 cut off") || strings.Contains(string(out), "Do not replicate") {
		t.Errorf("plan fork: %v", err)
	}
	c.must("", "delete", "job", "cut", "--cascade=foreground", "--timeout=2m")
	c.eventually(time.Minute, "without its ConfigMap", func() bool {
		_, err := c.kubectl("", "get", "configmap", "cut-winners")
		return err != nil
	})
	c.valid()
}

// The manifests are what the API server takes. Without a controller a Job cannot be deleted, until somebody does what docs/howto/kubernetes.md says; and a Job of
// Kubernetes' own controller is adopted as it says there.
func TestUninstallAndAdopt(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	c := newCluster(t)
	manifests, err := exec.Command(filepath.Join(c.bin, "tailcut-controller"), "--print-manifests").Output()
	if err != nil {
		t.Fatal(err)
	}
	c.must(string(manifests), "apply", "-f", "-")
	c.must(string(manifests), "delete", "-f", "-", "--wait=false")
	stop := c.controller()
	c.must(fmt.Sprintf(straggling, "held", "never"), "create", "-f", "-")
	c.eventually(time.Minute, "running", func() bool { return len(c.pods("job-name=held")) == 8 })
	stop()
	c.must("", "delete", "job", "held", "--cascade=foreground", "--wait=false")
	time.Sleep(5 * time.Second)
	if _, err := c.kubectl("", "get", "job", "held"); err != nil {
		t.Error("the Job is gone without a controller: docs/howto/kubernetes.md says that it is not")
	}
	c.shell("kubectl get pods -l job-name=held -o name | xargs -r kubectl patch --type=json -p '[{\"op\":\"remove\",\"path\":\"/metadata/finalizers\"}]'")
	c.must("", "wait", "--for=delete", "job/held", "--timeout=2m")

	own := strings.Replace(fmt.Sprintf(straggling, "adopted", ""), "managedBy: tailcut.dev/controller", "suspend: true", 1)
	c.must(own, "create", "-f", "-")
	c.shell(documented(t, "## Adopt an existing Job", "report", "adopted"))
	defer c.controller()()
	c.must("", "patch", "job", "adopted", "-p", `{"spec":{"suspend":false}}`)
	c.wait("adopted", "complete", 5*time.Minute)
	c.must("", "delete", "job", "adopted", "--cascade=foreground", "--timeout=2m")
	c.valid()
}

// straggling is a Job of tasks of 4 s, the first attempts of two of which take two minutes.
const straggling = `apiVersion: batch/v1
kind: Job
metadata:
  name: %s
  annotations: {tailcut.dev/policy: "spark:quantile=0.5,min_runtime=2s", tailcut.dev/clones: "%s"}
spec:
  managedBy: tailcut.dev/controller
  completions: 8
  parallelism: 10
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
        args: [exit, 4s, 0=120s, 1=120s]
        env: [{name: KIND, valueFrom: {fieldRef: {fieldPath: "metadata.labels['tailcut.dev/kind']"}}}]
        resources: {requests: {cpu: 50m, memory: 16Mi}}
`

// shell runs a command beside kubectl.
func (c *cluster) shell(command string) {
	c.t.Helper()
	cmd := exec.Command("sh", "-ec", command)
	cmd.Dir, cmd.Env = c.t.TempDir(), append(os.Environ(), "PATH="+c.bin+":"+os.Getenv("PATH"), "KUBECONFIG="+c.kubeconfig())
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("%s: %v: %s", command, err, out)
	}
}

// documented returns the first command of a chapter of the page, about another Job.
func documented(t *testing.T, chapter, job, instead string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/howto/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), chapter+"\n")
	if !found {
		t.Fatalf("no chapter %q", chapter)
	}
	var command []string
	for line := range strings.Lines(rest) {
		if text, indented := strings.CutPrefix(line, "    "); indented {
			command = append(command, text)
		} else if len(command) > 0 {
			break
		}
	}
	return strings.ReplaceAll(strings.Join(command, ""), job, instead)
}
