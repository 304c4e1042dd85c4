//go:build kueue

package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// kueue installs Kueue and runs its manager with these feature gates, for these kinds of Jobs, until stop is called.
func (c *cluster) kueue(gates string, kinds ...string) (stop func()) {
	c.t.Helper()
	end := c.operator("kueue", c.t.TempDir(), `apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
health: {healthProbeBindAddress: "127.0.0.1:18081"}
metrics: {bindAddress: "127.0.0.1:18443"}
leaderElection: {leaderElect: false}
clientConnection: {qps: 500, burst: 1000}
integrations: {frameworks: [`+strings.Join(kinds, ", ")+`]}
`, "--feature-gates", strings.Trim("VisibilityOnDemand=false,"+gates, ","), "--zap-log-level=2")
	c.eventually(5*time.Minute, "a queue that Kueue has taken", func() bool {
		_, err := c.kubectl(queues("1", "Never"), "apply", "-f", "-")
		return err == nil
	})
	return func() {
		c.must("", "delete", "jobs", "--all", "--cascade=foreground", "--timeout=2m") // Kueue has to let these go
		c.must(queues("1", "Never"), "delete", "--ignore-not-found", "--timeout=1m", "-f", "-")
		end()
	}
}

// operator installs another project's controller with its own chart, and runs it beside the cluster until stop is called,
// with its certificate in a folder. Without its binary the test is skipped.
//
// The API server calls its webhooks at the address of their Service, where the program listens. It makes its own
// certificate, and the test puts it where a kubelet would. Of what the chart has, the Deployment is left out, and so is
// what needs an API server of its own, such as Kueue's list of who waits at which place.
func (c *cluster) operator(name, certs, config string, args ...string) (stop func()) {
	c.t.Helper()
	for _, need := range []string{name, name + "-chart"} {
		if _, err := os.Stat(filepath.Join(c.bin, need)); err != nil {
			c.t.Skipf("no %s: its module could not be built; see what cloud/e2e/build says", name)
		}
	}
	namespace, service, secret := name+"-system", name+"-webhook-service", name+"-webhook-server-cert"
	c.must("", "create", "namespace", namespace)
	var manifests strings.Builder
	for part := range strings.SplitSeq("\n"+c.run("helm", "template", name, filepath.Join(c.bin, name+"-chart"), "-n", namespace, "--include-crds"), "\n---\n") {
		var object struct{ Kind string }
		if err := yaml.Unmarshal([]byte(part), &object); err != nil {
			c.t.Fatal(err)
		}
		if object.Kind != "" && object.Kind != "Deployment" && object.Kind != "APIService" {
			manifests.WriteString("\n---\n" + part)
		}
	}
	c.must(manifests.String(), "apply", "--server-side", "-f", "-")
	config += fmt.Sprintf("webhook: {host: %s, port: 443, certDir: %s}\ninternalCertManagement: {enable: true, webhookServiceName: %s, webhookSecretName: %s}\n",
		c.must("", "get", "service", "-n", namespace, service, "-o", "jsonpath={.spec.clusterIP}"), certs, service, secret)
	file := filepath.Join(c.t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		c.t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(c.dir, "log", name+"-"+c.t.Name()+".log"))
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(c.bin, name), append([]string{"--config", file}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig())
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.mount(namespace, secret, certs)
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		log.Close()
		c.must(manifests.String(), "delete", "--ignore-not-found", "--timeout=2m", "-f", "-")
		c.must("", "delete", "namespace", namespace, "--timeout=2m")
	}
}

// mount puts the files of a Secret into a folder as soon as it has some: each whole or not at all, and the certificate last, for that is what operators
// wait for.
func (c *cluster) mount(namespace, name, dir string) {
	c.t.Helper()
	c.eventually(2*time.Minute, "a certificate", func() bool {
		secret := &corev1.Secret{}
		c.get(secret, "secret", "-n", namespace, name)
		for _, file := range []string{"ca.crt", "ca.key", "tls.key", "tls.crt"} {
			fresh := filepath.Join(dir, "."+file)
			if len(secret.Data[file]) == 0 {
				continue
			}
			if err := errors.Join(os.WriteFile(fresh, secret.Data[file], 0o600), os.Rename(fresh, filepath.Join(dir, file))); err != nil {
				c.t.Fatal(err)
			}
		}
		return len(secret.Data["tls.crt"]) > 0
	})
}

// queues is a queue of so much cpu.
func queues(cpu, preemption string) string {
	return fmt.Sprintf(`apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: any}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: all}
spec:
  namespaceSelector: {}
  preemption: {withinClusterQueue: %s}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors: [{name: any, resources: [{name: cpu, nominalQuota: %q}, {name: memory, nominalQuota: 64Gi}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: nightly, namespace: default}
spec: {clusterQueue: all}
`, preemption, cpu)
}

// usage is what pods have requested of a quota, looked at each second.
type usage struct {
	most, leaving, over, samples int // thousandths of a cpu; with pods that are being deleted; samples above the quota
	began                        map[string]time.Time
	ended                        map[string]time.Time
}

// watchQuota looks at all pods of Jobs each second until stop is called.
func (c *cluster) watchQuota(quota int) (stop func() *usage) {
	c.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	if err != nil {
		c.t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		c.t.Fatal(err)
	}
	u := &usage{began: map[string]time.Time{}, ended: map[string]time.Time{}}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			if pods, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "job-name"}); err == nil {
				u.sample(pods.Items, quota)
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	})
	return func() *usage {
		cancel()
		done.Wait()
		return u
	}
}

func (u *usage) sample(pods []corev1.Pod, quota int) {
	now, n, leaving := 0, 0, 0
	for i := range pods {
		p := &pods[i]
		job := p.Labels["job-name"]
		if u.began[job].IsZero() {
			u.began[job] = time.Now()
		}
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		u.ended[job] = time.Now() // so far
		size := int(p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue())
		if p.DeletionTimestamp != nil {
			leaving += size
			continue
		}
		now += size
		n++
	}
	u.samples++
	u.most, u.leaving = max(u.most, now), max(u.leaving, now+leaving)
	if now > quota {
		u.over++
	}
}

var kueueGates = flag.String("kueue-gates", "", "more feature gates of Kueue in TestKueue, such as ReclaimablePods=false")

// kueueQuota is the cpu of the queue, in thousandths: eight pods of kueueCPU.
const (
	kueueQuota = 2000
	kueueCPU   = "250m"
)

// Beside Kueue, with its own controller and webhooks, the priority boosts of its queue are the controller's.
func TestKueue(t *testing.T) {
	c := newCluster(t)
	c.must(reporters, "apply", "-f", "-")
	defer c.kueue("PriorityBoost=true,"+*kueueGates, "batch/job")()
	c.must("", "create", "namespace", "kept")
	defer c.must("", "delete", "namespace", "kept", "--wait=false")
	defer c.controller("--kueue-boost=srpt", "--history-namespace=kept")()
	for _, part := range []struct {
		name string
		test func(c *cluster)
	}{{"Quota", (*cluster).kueueQuota}, {"Preemption", (*cluster).kueuePreemption}, {"Order", (*cluster).kueueOrder}, {"CronJob", (*cluster).kueueCronJob}} {
		t.Run(part.name, func(t *testing.T) { part.test(&cluster{t, c.bin, c.dir}) })
	}
	c.valid()
}

// queued makes a Job that waits for Kueue.
func (c *cluster) queued(w work) work {
	c.t.Helper()
	w.cpu, w.queue = kueueCPU, "nightly"
	if out := c.must(c.manifest(w), "create", "-o", "jsonpath={.spec.suspend}", "-f", "-"); out != "true" {
		c.t.Errorf("%s is not suspended when it is made: %q", w.name, out)
	}
	return w
}

// within says what was used of the quota, and fails if it was more at any second.
func (c *cluster) within(u *usage) {
	c.t.Helper()
	c.t.Logf("pods requested at most %d of %d thousandths of a cpu, %d with those that were being deleted; more than all in %d of %d samples", u.most, kueueQuota, u.leaving, u.over, u.samples)
	if u.over > 0 {
		c.t.Errorf("pods requested %d thousandths of a cpu, and the quota is %d", u.most, kueueQuota)
	}
}

// Kueue admits Jobs of ours and of Kubernetes' own controller from one queue. Stragglers of a Job get clones at its end, while others use what it has
// given back, and the pods of all Jobs together never request more than the quota.
func (c *cluster) kueueQuota() {
	c.must(queues("2", "Never"), "apply", "-f", "-")
	jobs := map[string]work{"kueue-a": {tasks: 16, parallelism: 8, policy: "spark:quantile=0.5,multiplier=2", slow: 30}}
	for _, name := range []string{"kueue-b", "kueue-c", "kueue-d", "kueue-e", "kueue-own"} {
		jobs[name] = work{tasks: 6, parallelism: 2, policy: "spark:quantile=0.5,multiplier=2", slow: 1}
	}
	stop, began := c.watchQuota(kueueQuota), time.Now()
	for _, name := range slices.Sorted(maps.Keys(jobs)) {
		w := jobs[name]
		if w.name = name; name == "kueue-own" {
			w.policy = ""
		}
		if jobs[name] = c.queued(w); name == "kueue-a" {
			c.eventually(time.Minute, "admitted", func() bool { return c.job(name).Status.Active > 0 })
		}
	}
	for name, w := range jobs {
		c.wait(name, "complete", 5*time.Minute)
		c.complete(w)
	}
	u := stop()
	c.t.Logf("all were complete after %.1f s, kueue-a after %v", time.Since(began).Seconds(), c.took("kueue-a"))
	c.within(u)
	c.timeline("kueue-a")
	if c.started("kueue-a") == 0 {
		c.t.Error("no clone was started")
	}
	for _, w := range jobs {
		c.whole(w)
	}
}

// took returns how long a Job took that is complete.
func (c *cluster) took(name string) time.Duration {
	c.t.Helper()
	job := c.job(name)
	return job.Status.CompletionTime.Sub(job.CreationTimestamp.Time)
}

// A Job that Kueue suspends for another of a higher priority ends its pods, and goes on where it was when it is admitted again: what was done is done
// once.
func (c *cluster) kueuePreemption() {
	c.must(queues("2", "LowerPriority")+"---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: high}\nvalue: 1000\n", "apply", "-f", "-")
	stop := c.watchQuota(kueueQuota)
	low := c.queued(work{name: "kueue-low", tasks: 16, parallelism: 8, policy: "default", takes: "6s", slow: 1})
	c.eventually(2*time.Minute, "half done", func() bool { return c.job(low.name).Status.Succeeded >= 8 })
	high := c.queued(work{name: "kueue-high", tasks: 8, parallelism: 8, policy: "default", slow: 1, class: "high"})
	c.eventually(2*time.Minute, "suspended", func() bool { return *c.job(low.name).Spec.Suspend })
	at, done := time.Now(), c.job(low.name).Status.CompletedIndexes
	c.wait(high.name, "complete", 3*time.Minute)
	if n := c.job(low.name).Status.Succeeded; int(n) == low.tasks {
		c.t.Errorf("the preempted Job was complete before the one that preempted it")
	}
	c.wait(low.name, "complete", 5*time.Minute)
	c.t.Logf("suspended when %s were done", done)
	c.complete(low)
	c.complete(high)
	for _, p := range c.pods("job-name=" + low.name) {
		index, _ := strconv.Atoi(p.Annotations["batch.kubernetes.io/job-completion-index"])
		if p.CreationTimestamp.After(at) && slices.Contains(indexes(done), index) {
			c.t.Errorf("index %d was done and ran again", index)
		}
	}
	if st := c.job(low.name).Status; st.Failed != 0 {
		c.t.Errorf("%d failures are counted", st.Failed)
	}
	c.within(stop())
	c.whole(low)
	c.whole(high)
}

// indexes lists what status.completedIndexes says.
func indexes(text string) (all []int) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if isRange {
			last, _ = strconv.Atoi(to)
		}
		for i := first; err == nil && i <= last; i++ {
			all = append(all, i)
		}
	}
	return all
}

// A short Job overtakes long ones in the queue, whoever runs it, when earlier runs have shown what is short. The queue is StrictFIFO: otherwise Kueue
// admits what it is looking at when quota is given back.
func (c *cluster) kueueOrder() {
	c.must(strings.Replace(queues("2", "Never"), "namespaceSelector", "queueingStrategy: StrictFIFO\n  namespaceSelector", 1), "apply", "-f", "-")
	long := work{tasks: 8, parallelism: 8, slow: 1, takes: "20s"}
	short := work{tasks: 8, parallelism: 8, slow: 1, takes: "500ms"}
	run := func(w work, name, policy string) work {
		w.name, w.policy = name, policy
		return c.queued(w)
	}
	// of Kubernetes' own controller, which leaves no history of its own, and of ours
	for _, w := range []work{run(long, "kueue-long-1", ""), run(short, "kueue-short-1", ""), run(short, "kueue-brief-1", "default")} {
		c.wait(w.name, "complete", 3*time.Minute)
	}
	c.eventually(time.Minute, "a history of each", func() bool {
		kept := c.must("", "get", "configmap", "-n", "kept", "-l", "tailcut.dev/history", "-o", "name")
		return strings.Contains(kept, ".kueue-long\n") && strings.Contains(kept, ".kueue-short\n") && strings.Contains(kept, ".kueue-brief\n")
	})
	names := []string{"kueue-long-2", "kueue-long-3", "kueue-long-4", "kueue-short-2", "kueue-brief-2"}
	for i, name := range names {
		switch {
		case i < 2:
			run(long, name, "")
		case i == 2:
			run(long, name, "default")
		case i == 3:
			run(short, name, "")
		default:
			run(short, name, "default")
		}
		if i == 0 {
			c.eventually(time.Minute, "running", func() bool { return c.job(name).Status.Active > 0 })
		}
	}
	c.eventually(time.Minute, "a boost of each", func() bool {
		out := c.must("", "get", "workloads.kueue.x-k8s.io", "-o", `jsonpath={range .items[*]}{.metadata.ownerReferences[0].name} {.metadata.annotations.kueue\.x-k8s\.io/priority-boost} {.metadata.annotations.tailcut\.dev/pod-seconds}{"\n"}{end}`)
		for _, name := range names {
			if !strings.Contains(out, name+" 1") && !regexp.MustCompile(name+` \d+ \d`).MatchString(out) {
				return false
			}
		}
		c.t.Log("boosts and pod-seconds:\n" + out)
		return true
	})
	starts := map[string]time.Time{}
	for _, name := range names {
		c.wait(name, "complete", 5*time.Minute)
		starts[name] = c.job(name).Status.StartTime.Time
		c.t.Logf("%s started after %v, and took %v", name, starts[name].Sub(c.job(name).CreationTimestamp.Time), c.took(name))
	}
	for _, quick := range names[3:] {
		for _, slow := range names[1:3] {
			if !starts[quick].Before(starts[slow]) {
				c.t.Errorf("%s, which is shorter, started %v after %s", quick, starts[quick].Sub(starts[slow]), slow)
			}
		}
	}
	for _, name := range names[1:] {
		if !starts[names[0]].Before(starts[name]) {
			c.t.Errorf("%s ran when %s came, and started later", names[0], name)
		}
	}
	c.must("", append([]string{"delete", "job", "kueue-long-1", "kueue-short-1", "kueue-brief-1", "--cascade=foreground", "--timeout=3m"}, names...)...)
}

// What a CronJob makes waits for Kueue, runs under our controller, and is known by the next run.
func (c *cluster) kueueCronJob() {
	c.must(queues("2", "Never"), "apply", "-f", "-")
	text := c.manifest(work{name: "template", tasks: 8, parallelism: 4, slow: 1, takes: "1s", policy: "default", cpu: kueueCPU, queue: "nightly"})
	_, spec, _ := strings.Cut(text, "\nspec:\n")
	c.must("apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: kueue-cron}\nspec:\n  schedule: '* * * * *'\n  concurrencyPolicy: Forbid\n  jobTemplate:\n    metadata: {labels: {kueue.x-k8s.io/queue-name: nightly}}\n    spec:\n"+
		regexp.MustCompile("(?m)^").ReplaceAllString(spec, "    "), "apply", "-f", "-")
	first := ""
	c.eventually(2*time.Minute, "a Job of the CronJob", func() bool {
		for name := range strings.FieldsSeq(c.must("", "get", "jobs", "-o", "name")) {
			if strings.Contains(name, "/kueue-cron-") {
				_, first, _ = strings.Cut(name, "/")
			}
		}
		return first != ""
	})
	c.must("", "patch", "cronjob", "kueue-cron", "-p", `{"spec":{"suspend":true}}`)
	c.wait(first, "complete", 3*time.Minute)
	if n := c.job(first).Status.Succeeded; n != 8 {
		c.t.Errorf("%d succeeded", n)
	}
	c.must("", "create", "job", "kueue-cron-again", "--from=cronjob/kueue-cron")
	size := ""
	c.eventually(time.Minute, "a size", func() bool {
		size = c.must("", "get", "workloads.kueue.x-k8s.io", "-o", `jsonpath={.items[?(@.metadata.ownerReferences[0].name=="kueue-cron-again")].metadata.annotations.tailcut\.dev/pod-seconds}`)
		return size != ""
	})
	c.t.Logf("the second run was taken for %s pod-seconds", size)
	c.wait("kueue-cron-again", "complete", 3*time.Minute)
	c.must("", "delete", "cronjob", "kueue-cron", "--cascade=foreground", "--timeout=3m")
	c.must("", "delete", "job", first, "kueue-cron-again", "--cascade=foreground", "--ignore-not-found", "--timeout=3m")
}

// TestBeside with Kueue as another, whose quota is what twelve pods request: it admits whole Jobs in the order in which they come, passing those that do
// not fit.
func TestBesideKueue(t *testing.T) {
	c := newCluster(t)
	c.must(reporters, "apply", "-f", "-")
	defer c.kueue("", "batch/job")()
	c.must(queues("6", "Never"), "apply", "-f", "-")
	c.besideRounds([]manager{{name: "Kubernetes alone"}, {name: "Kueue alone", queue: "nightly", bounded: true}})
}
