package e2e

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

var (
	besidePolicies = flag.String("beside-policies", "srpt srew fair", "policies of the pools that TestBeside measures, separated by blanks")
	besideTask     = flag.String("beside-task", "10s", "how long a task of TestBeside takes")
	besideSlow     = flag.Int("beside-slow", 1, "how many times as long the third node takes in TestBeside")
)

// besideSlots is how many pods of TestBeside fit onto the three nodes at once.
const besideSlots = 12

// besideWait is maxWait of the pools of TestBeside.
const besideWait = 90 * time.Second

// besideSizes are the tasks of the Jobs of TestBeside.
var besideSizes = []int{1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 8, 10, 14, 20, 30}

// Fifteen Jobs of mixed sizes come at once, in an order drawn for each round, to nodes with room for twelve pods: under Kubernetes alone, and in a pool of
// twelve slots under each of some policies. No Job fails, each index is done once, there are never more pods than slots, no Job waits for its first pod
// longer than maxWait allows. From five rounds on srpt has to take at most 0.7 of the mean time that Jobs take otherwise, by the whole 95 % interval.
func TestBeside(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	c := newCluster(t)
	c.must(reporters, "apply", "-f", "-")
	c.besideRounds([]manager{{name: "Kubernetes alone"}})
}

// manager is who runs the Jobs of TestBeside: Kubernetes alone, Kueue by a queue, or a pool under a policy.
type manager struct{ name, queue, pool, policy string }

// besideRounds measures pools beside others.
func (c *cluster) besideRounds(others []manager) {
	c.t.Helper()
	c.definePools()
	defer c.controller()()
	all := slices.Clone(others)
	for i, policy := range strings.Fields(*besidePolicies) {
		x := manager{name: policy, pool: fmt.Sprintf("beside-%d", i), policy: "default"}
		all = append(all, x)
		c.must(fmt.Sprintf("apiVersion: tailcut.dev/v1alpha1\nkind: SlotPool\nmetadata: {name: %s}\nspec: {slots: %d, policy: %q, maxWait: %v}\n", x.pool, besideSlots, policy, besideWait), "apply", "-f", "-")
	}
	flows := make([][]float64, len(all))
	for round := range *rounds {
		sizes := slices.Clone(besideSizes)
		rand.New(rand.NewPCG(uint64(round), 0)).Shuffle(len(sizes), func(i, k int) { sizes[i], sizes[k] = sizes[k], sizes[i] })
		for k := range all {
			at := (round + k) % len(all)
			flow := c.beside(round, at, all[at], sizes)
			flows[at] = append(flows[at], flow.Seconds())
			c.t.Logf("round %d, %s: a Job takes %.1f s on average", round, all[at].name, flow.Seconds())
		}
	}
	for k, than := range others {
		c.t.Logf("manager | mean seconds of a Job, median (range) of the rounds | of %s: mean, 95 %% interval", than.name)
		for i, x := range all {
			var ratios []float64
			for round := range *rounds {
				ratios = append(ratios, flows[i][round]/flows[k][round])
			}
			mean, low, high := interval(ratios)
			c.t.Logf("%s | %s | %.2f, %.2f–%.2f", x.name, spread(flows[i], "%.1f"), mean, low, high)
			if x.name == "srpt" && *rounds >= 5 && high > 0.7 {
				c.t.Errorf("%s: Jobs take %.2f–%.2f of their time under %s, want at most 0.7", x.name, low, high, than.name)
			}
		}
	}
	c.valid()
}

// definePools makes the resource SlotPool known to the API server.
func (c *cluster) definePools() {
	c.t.Helper()
	c.must(c.program("tailcut-controller", "--print-manifests=pools"), "apply", "-f", "-")
	c.must("", "wait", "--for=condition=established", "--timeout=30s", "crd/slotpools.tailcut.dev")
}

// beside runs one Job of each size, in this order, and returns the mean time that they take.
func (c *cluster) beside(round, at int, x manager, sizes []int) time.Duration {
	c.t.Helper()
	jobs := map[string]work{}
	var all strings.Builder
	for i, n := range sizes {
		w := work{name: fmt.Sprintf("beside-%d-%d-%d", round, at, i), tasks: n, parallelism: min(n, besideSlots), slow: *besideSlow, takes: *besideTask, cpu: "500m"}
		w.policy, w.pool, w.queue = x.policy, x.pool, x.queue
		jobs[w.name] = w
		all.WriteString("---\n" + c.manifest(w))
	}
	began := time.Now()
	c.must(all.String(), "create", "-f", "-")
	ends := c.watchJobs(jobs)
	total, last := time.Duration(0), time.Duration(0)
	for name, w := range jobs {
		c.complete(w)
		total, last = total+ends[name].Sub(began), max(last, ends[name].Sub(began))
	}
	c.t.Logf("all %d Jobs were complete after %.1f s", len(jobs), last.Seconds())
	c.must("", append(append([]string{"delete", "job"}, slices.Collect(maps.Keys(jobs))...), "--cascade=foreground", "--timeout=5m")...)
	return total / time.Duration(len(jobs))
}

// watchJobs looks at Jobs each second until all are complete, and returns when each was.
func (c *cluster) watchJobs(jobs map[string]work) map[string]time.Time {
	c.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	if err != nil {
		c.t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		c.t.Fatal(err)
	}
	ends, waited, ctx := map[string]time.Time{}, map[string]bool{}, context.Background()
	for begun := time.Now(); len(ends) < len(jobs); time.Sleep(time.Second) {
		pods, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			c.t.Fatal(err)
		}
		n := 0
		for i := range pods.Items {
			p := &pods.Items[i]
			w := jobs[p.Labels["job-name"]]
			waited[w.name] = true
			if w.policy != "" || w.tasks > 0 && p.Spec.NodeName != "" { // Kubernetes alone makes all pods at once, and most of them wait for a node
				if hasSlot(p) {
					n++
				}
			}
		}
		if n > besideSlots {
			c.t.Fatalf("%d pods in %d slots", n, besideSlots)
		}
		list, err := client.BatchV1().Jobs("default").List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			c.t.Fatal(err)
		}
		for i := range list.Items {
			job := &list.Items[i]
			w := jobs[job.Name]
			if w.tasks == 0 {
				continue
			}
			for _, k := range job.Status.Conditions {
				if k.Type == batchv1.JobFailed && k.Status == "True" {
					c.t.Fatalf("%s has failed: %s", job.Name, k.Message)
				}
				if k.Type == batchv1.JobComplete && k.Status == "True" && ends[job.Name].IsZero() {
					ends[job.Name] = time.Now()
				}
			}
			if w.policy != "" && !waited[job.Name] && time.Since(begun) > besideWait+20*time.Second {
				c.t.Errorf("%s still has no pod after %v", job.Name, time.Since(begun))
				waited[job.Name] = true
			}
		}
		if time.Since(begun) > 10*time.Minute {
			c.t.Fatalf("after 10 minutes %d of %d Jobs are complete", len(ends), len(jobs))
		}
	}
	return ends
}
