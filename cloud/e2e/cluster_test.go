package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// cluster is the Kubernetes that the script run has started.
type cluster struct {
	t        *testing.T
	bin, dir string
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{t, os.Getenv("TAILCUT_E2E_BIN"), os.Getenv("TAILCUT_E2E_RUN")}
	if c.bin == "" || c.dir == "" {
		t.Skip("no cluster; e2e/run starts one")
	}
	return c
}

// newServers is for tests of stores, for which there need be no cluster: without e2e/run what e2e/build puts into a
// folder is enough, with TAILCUT_E2E_BIN naming that.
func newServers(t *testing.T) *cluster {
	c := &cluster{t, os.Getenv("TAILCUT_E2E_BIN"), os.Getenv("TAILCUT_E2E_RUN")}
	if c.bin == "" {
		t.Skip("no servers; e2e/run starts them")
	}
	if c.dir == "" {
		c.dir = t.TempDir()
		if err := os.Mkdir(filepath.Join(c.dir, "log"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func (c *cluster) kubeconfig() string { return filepath.Join(c.dir, "pki", "admin.kubeconfig") }

// kubectl runs kubectl with what it is to read, and returns its output.
func (c *cluster) kubectl(stdin string, args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(c.bin, "kubectl"), append([]string{"--kubeconfig", c.kubeconfig()}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), err
}

func (c *cluster) must(stdin string, args ...string) string {
	c.t.Helper()
	out, err := c.kubectl(stdin, args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// program returns what one of our programs prints.
func (c *cluster) program(name string, args ...string) string {
	c.t.Helper()
	out, err := exec.Command(filepath.Join(c.bin, name), args...).Output()
	if err != nil {
		c.t.Fatal(name, err)
	}
	return string(out)
}

func (c *cluster) get(what any, args ...string) {
	c.t.Helper()
	if err := json.Unmarshal([]byte(c.must("", append([]string{"get", "-o", "json"}, args...)...)), what); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) job(name string) *batchv1.Job {
	job := &batchv1.Job{}
	c.get(job, "job", name)
	return job
}

func (c *cluster) jobIn(namespace, name string) *batchv1.Job {
	job := &batchv1.Job{}
	c.get(job, "job", "-n", namespace, name)
	return job
}

func (c *cluster) pods(selector string) []corev1.Pod {
	list := &corev1.PodList{}
	c.get(list, "pods", "-l", selector)
	return list.Items
}

// hasSlot tells whether a pod runs or may come to run.
func hasSlot(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed
}

// wait lets kubectl wait for a condition of a Job.
func (c *cluster) wait(job, condition string, most time.Duration) {
	c.t.Helper()
	c.must("", "wait", "--for=condition="+condition, "--timeout="+most.String(), "job/"+job)
}

// eventually tries until something holds.
func (c *cluster) eventually(most time.Duration, what string, holds func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(most); !holds(); time.Sleep(500 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatalf("after %v still not %s", most, what)
		}
	}
}

// answers waits for a server.
func (c *cluster) answers(address string) {
	c.t.Helper()
	c.eventually(time.Minute, "a server at "+address, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

// controller runs tailcut-controller until stop is called, which kills it. What the test is to see of it is in the log.
func (c *cluster) controller(flags ...string) (stop func()) {
	c.t.Helper()
	_, stop = c.controllerAt("0", flags...)
	return stop
}

// controllerAt is controller with an address for its metrics.
func (c *cluster) controllerAt(metrics string, flags ...string) (pid int, stop func()) {
	c.t.Helper()
	log, err := os.OpenFile(c.log(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(c.bin, "tailcut-controller"), append([]string{
		"--kubeconfig", c.kubeconfig(), "--metrics-address", metrics, "--probe-address", "0",
	}, flags...)...)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	return cmd.Process.Pid, func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		log.Close()
	}
}

func (c *cluster) log() string {
	return filepath.Join(c.dir, "log", "tailcut-controller-"+c.t.Name()+".log")
}

// valid checks that the API server has taken every status and pod that the controllers of this test have written.
func (c *cluster) valid() {
	c.t.Helper()
	log, err := os.ReadFile(c.log())
	if err != nil {
		c.t.Fatal(err)
	}
	for line := range bytes.Lines(log) {
		for _, bad := range []string{"is invalid", "forbidden", "panic", "DATA RACE"} {
			if bytes.Contains(line, []byte(bad)) {
				c.t.Errorf("the controller says: %s", line)
			}
		}
	}
}

// kill kills a server of the cluster, or cuts the power of a node; start brings it back.
func (c *cluster) kill(server string)  { c.t.Helper(); c.script("kill", server) }
func (c *cluster) start(server string) { c.t.Helper(); c.script("start", server) }

func (c *cluster) script(args ...string) {
	c.t.Helper()
	if out, err := exec.Command("./cluster", append([]string{c.dir}, args...)...).CombinedOutput(); err != nil {
		c.t.Fatalf("cluster %s: %v: %s", strings.Join(args, " "), err, out)
	}
}
