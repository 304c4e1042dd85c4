//go:build long

package e2e

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	simulatedNodes  = 1000
	simulatedAtOnce = 500              // pods: two cores simulate no more in time
	simulatedTask   = 20 * time.Second // as in simulated.yaml
)

// A thousand simulated nodes and Jobs of many tasks, 500 at once, of which each fiftieth takes 200 s instead of 20 s, under Kubernetes' own controller
// and under ours, both with the same bounds on requests. Ours completes no fewer tasks per second.
func TestScale(t *testing.T) {
	c := newCluster(t)
	t.Setenv("TAILCUT_E2E_GRACE", "24h") // nobody renews the leases of a thousand nodes: that would be most of the work
	c.kill("kcm")
	c.start("kcm")
	for _, n := range []string{"11", "12", "13"} { // which would share the two cores
		c.kill("node-" + n)
	}
	c.simulate()
	stop, ours := c.measured()
	defer stop()
	own := server{"kube-controller-manager", c.pid("kcm"), "https://127.0.0.1:10257/metrics", c.token()}
	for _, tasks := range []int{1000, 5000} {
		t.Run(fmt.Sprint(tasks), func(t *testing.T) {
			c := &cluster{t, c.bin, c.dir}
			theirs := c.scale(own, tasks, "")
			if rate := c.scale(ours, tasks, "spark"); rate < theirs {
				t.Errorf("%.1f tasks/s, fewer than %.1f", rate, theirs)
			}
		})
	}
	c.valid()
}

// scale runs one Job and returns how many tasks per second were completed.
func (c *cluster) scale(who server, tasks int, policy string) float64 {
	t := c.t
	t.Helper()
	name := strings.TrimSuffix(fmt.Sprintf("scale-%d-%s", tasks, policy), "-")
	requests, seconds := who.requests(t), who.seconds(t)
	start := time.Now()
	c.must(simulatedJob(name, tasks, policy), "create", "-f", "-")
	c.wait(name, "complete", 15*time.Minute)
	flow := time.Since(start).Seconds()
	clones := strings.Count(c.must("", "get", "pods", "-o", "name", "-l", "job-name="+name+",tailcut.dev/kind=clone"), "\n")
	if took := c.median(name); took > simulatedTask+simulatedTask/5 {
		t.Errorf("%s: by the median a task takes %v: the simulation has not kept up", name, took)
	}
	t.Logf("%d tasks, %s: %.1f s, %.1f tasks/s, %.1f requests and %.1f ms of processor time per task, %d MB at most; %d clones have won", tasks, who.name,
		flow, float64(tasks)/flow, (who.requests(t)-requests)/float64(tasks), (who.seconds(t)-seconds)/float64(tasks)*1e3, who.peak(t)>>20, clones)
	if st := c.job(name).Status; int(st.Succeeded) != tasks {
		t.Errorf("%s: %d succeeded", name, st.Succeeded)
	}
	c.must("", "delete", "job", name, "--cascade=foreground", "--timeout=15m")
	return float64(tasks) / flow
}

// median returns how long a Job's pods ran that have succeeded.
func (c *cluster) median(job string) time.Duration {
	c.t.Helper()
	var all []time.Duration
	for _, p := range c.pods("job-name=" + job) {
		if p.Status.Phase == corev1.PodSucceeded {
			ran := p.Status.ContainerStatuses[0].State.Terminated
			all = append(all, ran.FinishedAt.Sub(ran.StartedAt.Time))
		}
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// simulate starts KWOK and makes its nodes.
func (c *cluster) simulate() {
	c.t.Helper()
	log, err := os.Create(filepath.Join(c.dir, "log", "kwok.log"))
	if err != nil {
		c.t.Fatal(err)
	}
	kwok := exec.Command(filepath.Join(c.bin, "kwok"), "--kubeconfig", c.kubeconfig(), "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
		"--node-lease-duration-seconds=0", "--server-address=127.0.0.1:10247", "--config=simulated.yaml")
	kwok.Stdout, kwok.Stderr = log, log
	if err := kwok.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = kwok.Process.Kill()
		_ = kwok.Wait() // killed
		log.Close()
	})
	var nodes strings.Builder
	for i := range simulatedNodes {
		fmt.Fprintf(&nodes, `---
apiVersion: v1
kind: Node
metadata: {name: fake-%d, annotations: {kwok.x-k8s.io/node: fake}, labels: {kubernetes.io/hostname: fake-%d, type: kwok}}
status:
  capacity: {cpu: "8", memory: 32Gi, pods: "110"}
  allocatable: {cpu: "8", memory: 32Gi, pods: "110"}
  conditions: [{type: Ready, status: "True", reason: Simulated, lastHeartbeatTime: "2026-01-01T00:00:00Z", lastTransitionTime: "2026-01-01T00:00:00Z"}]
  phase: Running
`, i, i)
	}
	c.must(nodes.String(), "create", "-f", "-")
	c.eventually(5*time.Minute, "a node without a taint for each", func() bool {
		taints := c.must("", "get", "nodes", "-l", "type=kwok", "-o", `jsonpath={range .items[*]}{.spec.taints[0].key}{"\n"}{end}`)
		return strings.Count(taints, "\n") == simulatedNodes && strings.TrimSpace(taints) == ""
	})
}

func simulatedJob(name string, tasks int, policy string) string {
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
      nodeSelector: {type: kwok}
      containers: [{name: task, image: none, resources: {requests: {cpu: 100m, memory: 64Mi}}}]
`, name, policy, managed, tasks, simulatedAtOnce)
}

// server is a controller that is measured.
type server struct {
	name string
	pid  int
	url  string // of its metrics
	auth string
}

// measured runs our controller with the bounds that Kubernetes' own has here.
func (c *cluster) measured() (stop func(), who server) {
	c.t.Helper()
	pid, stop := c.controllerAt("127.0.0.1:8080", "--kube-api-qps=1000", "--kube-api-burst=2000", "--max-clones=1000", "--max-clones-per-namespace=1000", "--clones-per-second=1000")
	c.answers("127.0.0.1:8080")
	return stop, server{"tailcut-controller", pid, "http://127.0.0.1:8080/metrics", ""}
}

func (c *cluster) pid(name string) int {
	text, err := os.ReadFile(filepath.Join(c.dir, name+".pid"))
	if err != nil {
		c.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		c.t.Fatal(err)
	}
	return pid
}

// token is the administrator's.
func (c *cluster) token() string {
	text, err := os.ReadFile(filepath.Join(c.dir, "pki", "tokens.csv"))
	if err != nil {
		c.t.Fatal(err)
	}
	token, _, _ := strings.Cut(string(text), ",")
	return token
}

// requests returns how many requests it has made of the API server. Kubernetes' own controllers are one process, so theirs are counted too; with no
// other Jobs and no heartbeats they make few.
func (s server) requests(t *testing.T) float64 {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, s.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.auth != "" {
		request.Header.Set("Authorization", "Bearer "+s.auth)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // its own, of this machine
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body) // for the message only
		t.Fatalf("%s: %s: %s", s.url, response.Status, text)
	}
	sum := 0.0
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "rest_client_requests_total{") {
			_, value, _ := strings.Cut(lines.Text(), "} ")
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += n
		}
	}
	return sum
}

// seconds returns the processor time that it has used.
func (s server) seconds(t *testing.T) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	ticks := 0
	for _, field := range strings.Fields(rest)[11:13] { // in user and kernel mode, in hundredths of a second
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return float64(ticks) / 100
}

// peak returns the most memory that it has had, in bytes.
func (s server) peak(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var kilobytes int
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kilobytes); err == nil {
			return kilobytes << 10
		}
	}
	t.Fatalf("%s has no VmHWM", s.name)
	return 0
}
