package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Attempts on the host's network reach the S3 server of the test.
const runTemplate = `kind: Pod
spec:
  hostNetwork: true
  terminationGracePeriodSeconds: 1
  containers:
  - name: attempt
    imagePullPolicy: Never
    env:
    - {name: AWS_ACCESS_KEY_ID, value: test}
    - {name: AWS_SECRET_ACCESS_KEY, value: testtest}
    - {name: AWS_REGION, value: us-east-1}
    resources: {requests: {cpu: 300m, memory: 32Mi}}
`

const bucket = "s3://data/%s?endpoint=http://127.0.0.1:7070&use_path_style=true"

// storeServer starts an S3 server whose buckets are the folders of the one that it returns.
func (c *cluster) storeServer() string {
	c.t.Helper()
	dir := filepath.Join(c.dir, "s3")
	if err := os.MkdirAll(filepath.Join(dir, "data", "in"), 0o777); err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(c.bin, "versitygw"), "--port", "127.0.0.1:7070", "--quiet", "posix", dir)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY=test", "ROOT_SECRET_KEY=testtest")
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	c.answers("127.0.0.1:7070")
	return filepath.Join(dir, "data")
}

// googleServer starts a server of Google's storage, in which what is in a folder of buckets is there already, and returns
// the folder of the bucket "data".
func (c *cluster) googleServer(buckets string) string {
	c.t.Helper()
	dir := filepath.Join(c.dir, "gs")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(c.bin, "fakegcs"), "-backend", "filesystem", "-data", buckets, "-filesystem-root", dir,
		"-scheme", "http", "-host", "127.0.0.1", "-port", "7071", "-public-host", "127.0.0.1:7071", "-log-level", "error")
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	c.answers("127.0.0.1:7071")
	return filepath.Join(dir, "data")
}

// tailcut returns a command of the tool, which logs to a file of the cluster.
func (c *cluster) tailcut(args ...string) *exec.Cmd {
	c.t.Helper()
	log, err := os.OpenFile(filepath.Join(c.dir, "log", "tailcut-"+c.t.Name()+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { log.Close() })
	cmd := exec.Command(filepath.Join(c.bin, "tailcut"), args...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+c.dir, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=testtest", "AWS_REGION=us-east-1",
		"STORAGE_EMULATOR_HOST=127.0.0.1:7071")
	cmd.Stderr = log
	return cmd
}

// words writes files of random words to a folder.
func words(t *testing.T, dir string, files, size int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	for i := range files {
		var text bytes.Buffer
		for text.Len() < size {
			fmt.Fprintf(&text, "%x%c", int(random.ExpFloat64()*1000), " \n"[random.IntN(2)])
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// same compares parts with those of a local run.
func same(t *testing.T, got, want string, parts int) {
	t.Helper()
	for i := range parts {
		name := fmt.Sprintf("part-%05d", i)
		b, err := os.ReadFile(filepath.Join(want, name))
		if err != nil {
			t.Fatal(err)
		}
		a, err := os.ReadFile(filepath.Join(got, name))
		if err != nil || len(b) == 0 || !bytes.Equal(a, b) {
			t.Errorf("%s: %d bytes, %v; the local result has %d, and they should be the same", name, len(a), err, len(b))
		}
	}
}

// Attempts that are processes of this machine read from a store and write to it what they would write to files. An
// output is one run's, and says what it is.
func TestRunOverStore(t *testing.T) {
	c := newServers(t)
	s3 := c.storeServer()
	words(t, filepath.Join(s3, "in"), 5, 1<<20)
	gs := c.googleServer(filepath.Dir(s3))
	for _, store := range []struct{ name, bucket, data string }{{"S3", bucket, s3}, {"Google", "gs://data/%s", gs}} {
		t.Run(store.name, func(t *testing.T) {
			do := func(want int, args ...string) string {
				t.Helper()
				cmd := c.tailcut(args...)
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				out, _ := cmd.Output()
				if status := cmd.ProcessState.ExitCode(); status != want {
					t.Errorf("%s: exit status %d, want %d: %s%s", strings.Join(args, " "), status, want, out, stderr.String())
				}
				return string(out) + stderr.String()
			}
			says := func(got, want string) {
				t.Helper()
				if !strings.Contains(got, want) {
					t.Errorf("it says %q, want %q", got, want)
				}
			}
			local, in, out := filepath.Join(c.dir, store.name), fmt.Sprintf(store.bucket, "in"), fmt.Sprintf(store.bucket, "store/out")
			data := filepath.Join(store.data, "store/out")
			sort := func(output string, flags ...string) []string {
				return append([]string{"run", "sort", in, "--output", output, "--split-size", "700KiB", "--reducers", "3"}, flags...)
			}
			do(0, "run", "sort", filepath.Join(s3, "in"), "--output", local, "--split-size", "700KiB", "--reducers", "3")
			do(0, sort(out)...)
			same(t, data, local, 3)
			says(do(0, "verify", out), "3 parts, ")
			says(do(0, sort(out)...), "holds the finished result of this command")
			says(do(2, "run", "wordcount", in, "--output", out), "holds the result of another command: ")

			if err := os.Remove(filepath.Join(data, "part-00001")); err != nil {
				t.Fatal(err)
			}
			says(do(1, "verify", out), "part-00001: missing\n")
			says(do(2, "verify", fmt.Sprintf(store.bucket, "store/none")), "there is no _MANIFEST.json")

			do(0, "run", "wordcount", filepath.Join(s3, "in"), "--output", local, "--force")
			do(0, "run", "wordcount", in, "--output", out, "--force")
			same(t, data, local, 1)
			says(do(0, "verify", out), "1 part, ")
			if left, _ := filepath.Glob(filepath.Join(data, "part-*")); len(left) != 1 {
				t.Errorf("after --force there are %v", left)
			}
		})
	}
}

// under counts the run's pods under way on a node. Few are ever seen to run: a kubelet tells late of containers that take a quarter of a second.
func (c *cluster) under(node string) (n int) {
	for _, p := range c.pods("tailcut.dev/run") {
		if p.Spec.NodeName == node && (p.Status.Phase == corev1.PodPending || p.Status.Phase == corev1.PodRunning) {
			n++
		}
	}
	return n
}

// A word count over an S3 server, whose attempts are pods, is byte for byte that of a local run, although the engine is killed once, and the power of a
// node is cut while pods are under way there.
func TestRunWordCount(t *testing.T) {
	c := newCluster(t)
	data := c.storeServer()
	words(t, filepath.Join(data, "in"), 12, 1<<20)
	shape := []string{"--split-size", "256KiB", "--reducers", "3"}
	local := filepath.Join(c.dir, "local")
	if out, err := c.tailcut(append([]string{"run", "wordcount", filepath.Join(data, "in"), "--output", local}, shape...)...).Output(); err != nil {
		t.Fatal(err, string(out))
	}
	template := filepath.Join(c.dir, "pod.yaml")
	if err := os.WriteFile(template, []byte(runTemplate), 0o666); err != nil {
		t.Fatal(err)
	}
	command := append([]string{
		"run", "wordcount", fmt.Sprintf(bucket, "in"), "--output", fmt.Sprintf(bucket, "out"), "--on", "kubernetes", "--slots", "6",
		"--image", "localhost/tailcut-cloud:e2e", "--pod-template", template, "--kubeconfig", c.kubeconfig(),
	}, shape...)

	first := c.tailcut(command...)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	segments := func() int {
		found, _ := filepath.Glob(filepath.Join(data, "out/_tailcut/*/attempts/*/seg-00002"))
		return len(found)
	}
	c.eventually(2*time.Minute, "a few tasks done", func() bool { return segments() >= 8 })
	_ = first.Process.Signal(syscall.SIGKILL)
	_ = first.Wait() // killed

	second := c.tailcut(command...)
	var summary bytes.Buffer
	second.Stdout = &summary
	start := time.Now()
	if err := second.Start(); err != nil {
		t.Fatal(err)
	}
	const node = "127.0.0.12"
	c.eventually(2*time.Minute, "pods on "+node, func() bool { return segments() >= 12 && c.under(node) > 0 })
	c.kill("node-12")
	if err := second.Wait(); err != nil {
		t.Fatalf("%v: %s", err, summary.String())
	}
	t.Logf("with a node lost, in %.1f s:\n%s", time.Since(start).Seconds(), summary.String())
	if !strings.Contains(summary.String(), "recovered: ") {
		t.Error("nothing of the first engine's work was kept")
	}
	same(t, filepath.Join(data, "out"), local, 3)
	c.start("node-12")
	c.eventually(2*time.Minute, "without pods of the run", func() bool { return len(c.pods("tailcut.dev/run")) == 0 })
	if left, _ := filepath.Glob(filepath.Join(data, "out/_tailcut/*/attempts/*/*")); len(left) > 0 {
		t.Errorf("objects of attempts are left: %v", left)
	}
}

// An image that there is not fails the run, soon and with the reason.
func TestRunNoImage(t *testing.T) {
	c := newCluster(t)
	data := c.storeServer()
	if err := os.WriteFile(filepath.Join(data, "in", "0"), []byte("a b"), 0o666); err != nil {
		t.Fatal(err)
	}
	template := filepath.Join(c.dir, "pod.yaml")
	if err := os.WriteFile(template, []byte(runTemplate), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := c.tailcut("run", "wordcount", fmt.Sprintf(bucket, "in"), "--output", fmt.Sprintf(bucket, "none"), "--on", "kubernetes", "--retries", "1",
		"--image", "localhost/none:e2e", "--pod-template", template, "--kubeconfig", c.kubeconfig())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 || !strings.Contains(stderr.String(), "ErrImageNeverPull: image localhost/none:e2e") {
		t.Errorf("%v: %s", err, stderr.String())
	}
}
