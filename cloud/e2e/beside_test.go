package e2e

import (
	"context"
	"flag"
	"fmt"
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
	besideJobs     = flag.String("beside-jobs", "mixed", "the Jobs of TestBeside: mixed or backfill")
)

// besideSlots is how many pods of TestBeside fit onto the three nodes at once.
const besideSlots = 12

// besideWait is maxWait of the pools of TestBeside.
const besideWait = 90 * time.Second

// besideLead is how long before the others the first Job of a mix comes, if it has one.
const besideLead = 2 * time.Second

// mix is fifteen Jobs.
type mix struct {
	first  int      // tasks of the Job that comes besideLead before all others; 0 for none
	tasks  []int    // of the others, which come at once, in an order drawn for each round
	whole  bool     // a Job has all its pods at once, as far as its manager lets it, else as many as there are slots
	claims []string // policies that have to take at most 0.7 of the mean time
}

// besideMixes are the Jobs of TestBeside.
var besideMixes = map[string]mix{
	"mixed":    {tasks: []int{1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 8, 10, 14, 20, 30}, claims: []string{"srpt"}},
	"backfill": {first: 80, tasks: []int{1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 8, 12}, whole: true, claims: []string{"auto", "srpt", "srew", "fair"}},
}

// Fifteen Jobs come to nodes with room for twelve pods: under Kubernetes alone, and in a pool of twelve slots under each of some policies. They are of mixed
// sizes and come at once, in an order drawn for each round, or a large one comes before the others. No Job fails, each index is done once, there are never
// more pods than slots, no Job waits for its first pod longer than maxWait allows. From five rounds on the policies that the mix names have to take at most 0.7
// of the mean time that Jobs take otherwise, by the whole 95 % interval.
func TestBeside(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	c := newCluster(t)
	c.must(reporters, "apply", "-f", "-")
	c.besideRounds([]manager{{name: "Kubernetes alone"}})
}

// manager is who runs the Jobs of TestBeside: Kubernetes alone, Kueue by a queue, or a pool under a policy.
type manager struct {
	name, queue, pool, policy string
	bounded                   bool // a Job may have besideSlots pods at most, as Kueue, with quota for as many, admits no others
	apart                     bool // no claim is made of it
}

// besideRounds measures pools beside others.
func (c *cluster) besideRounds(others []manager) {
	c.t.Helper()
	jobs, ok := besideMixes[*besideJobs]
	if !ok {
		c.t.Fatalf("-beside-jobs %s: want mixed or backfill", *besideJobs)
	}
	if jobs.whole {
		others = append(others, manager{name: "Kubernetes alone, Jobs of twelve pods", bounded: true, apart: true})
	}
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
		drawn := jobs.draw(round)
		for k := range all {
			at := (round + k) % len(all)
			flow := c.beside(round, at, all[at], drawn)
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
			if slices.Contains(jobs.claims, x.name) && !than.apart && *rounds >= 5 && high > 0.7 {
				c.t.Errorf("%s: Jobs take %.2f–%.2f of their time under %s, want at most 0.7", x.name, low, high, than.name)
			}
		}
	}
	c.valid()
}

// arrival is a Job of TestBeside.
type arrival struct {
	at                 time.Duration // since the round began
	tasks, parallelism int
}

// draw draws the order of the Jobs of a round.
func (m *mix) draw(round int) (all []arrival) {
	r := rand.New(rand.NewPCG(uint64(round), 0))
	come := func(at time.Duration, n int) {
		a := arrival{at, n, n}
		if !m.whole {
			a.parallelism = min(n, besideSlots)
		}
		all = append(all, a)
	}
	tasks, at := slices.Clone(m.tasks), time.Duration(0)
	r.Shuffle(len(tasks), func(i, k int) { tasks[i], tasks[k] = tasks[k], tasks[i] })
	if m.first > 0 {
		come(0, m.first)
		at = besideLead
	}
	for _, n := range tasks {
		come(at, n)
	}
	return all
}

// definePools makes the resource SlotPool known to the API server.
func (c *cluster) definePools() {
	c.t.Helper()
	c.must(c.program("tailcut-controller", "--print-manifests=pools"), "apply", "-f", "-")
	c.must("", "wait", "--for=condition=established", "--timeout=30s", "crd/slotpools.tailcut.dev")
}

// beside runs Jobs as they arrive, and returns the mean time that they take.
func (c *cluster) beside(round, at int, x manager, arrivals []arrival) time.Duration {
	c.t.Helper()
	all := make([]work, len(arrivals))
	for i, a := range arrivals {
		all[i] = work{name: fmt.Sprintf("beside-%d-%d-%d", round, at, i), tasks: a.tasks, parallelism: a.parallelism, slow: *besideSlow, takes: *besideTask, cpu: "500m"}
		if x.bounded {
			all[i].parallelism = min(a.parallelism, besideSlots)
		}
		all[i].policy, all[i].pool, all[i].queue = x.policy, x.pool, x.queue
	}
	began := time.Now()
	flows := c.watchJobs(all, arrivals)
	total, names := time.Duration(0), []string{}
	for _, w := range all {
		c.complete(w)
		total, names = total+flows[w.name], append(names, w.name)
	}
	c.t.Logf("all %d Jobs were complete after %.1f s", len(all), time.Since(began).Seconds())
	c.must("", append(append([]string{"delete", "job"}, names...), "--cascade=foreground", "--timeout=5m")...)
	return total / time.Duration(len(all))
}

// besideWatch looks at Jobs of TestBeside.
type besideWatch struct {
	*cluster
	client *kubernetes.Clientset
	all    []work
	begun  map[string]time.Time
	flows  map[string]time.Duration // of those that are complete
	waited map[string]bool          // those that have had a pod, or of which was told that they had none in time
}

// watchJobs makes Jobs when they are due, looks at them each second until all are complete, and returns how long each took.
func (c *cluster) watchJobs(all []work, arrivals []arrival) map[string]time.Duration {
	c.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	if err != nil {
		c.t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		c.t.Fatal(err)
	}
	w := &besideWatch{cluster: c, client: client, all: all, begun: map[string]time.Time{}, flows: map[string]time.Duration{}, waited: map[string]bool{}}
	for start := time.Now(); len(w.flows) < len(all); time.Sleep(time.Second) {
		w.submit(arrivals, time.Since(start))
		w.look()
		if time.Since(start) > 10*time.Minute {
			c.t.Fatalf("after 10 minutes %d of %d Jobs are complete", len(w.flows), len(all))
		}
	}
	return w.flows
}

// submit makes the Jobs that are due.
func (w *besideWatch) submit(arrivals []arrival, now time.Duration) {
	w.t.Helper()
	var due strings.Builder
	for i := len(w.begun); i < len(w.all) && now >= arrivals[i].at; i++ {
		w.begun[w.all[i].name] = time.Now()
		due.WriteString("---\n" + w.manifest(w.all[i]))
	}
	if due.Len() > 0 {
		w.must(due.String(), "create", "-f", "-")
	}
}

// look counts the pods that have slots, and sees which Jobs are complete.
func (w *besideWatch) look() {
	w.t.Helper()
	ctx, jobs, n := context.Background(), map[string]work{}, 0
	for _, x := range w.all[:len(w.begun)] {
		jobs[x.name] = x
	}
	pods, err := w.client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		x := jobs[p.Labels["job-name"]]
		w.waited[x.name] = true
		if hasSlot(p) && (x.policy != "" || x.tasks > 0 && p.Spec.NodeName != "") { // Kubernetes alone makes all pods at once, and most of them wait for a node
			n++
		}
	}
	if n > besideSlots {
		w.t.Fatalf("%d pods in %d slots", n, besideSlots)
	}
	list, err := w.client.BatchV1().Jobs("default").List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range list.Items {
		if job := &list.Items[i]; jobs[job.Name].tasks > 0 {
			w.judge(job, jobs[job.Name].policy)
		}
	}
}

// judge notes that a Job is complete, and tells if it has failed or waits longer than its pool allows.
func (w *besideWatch) judge(job *batchv1.Job, policy string) {
	w.t.Helper()
	for _, k := range job.Status.Conditions {
		if k.Type == batchv1.JobFailed && k.Status == "True" {
			w.t.Fatalf("%s has failed: %s", job.Name, k.Message)
		}
		if k.Type == batchv1.JobComplete && k.Status == "True" && w.flows[job.Name] == 0 {
			w.flows[job.Name] = time.Since(w.begun[job.Name])
		}
	}
	if age := time.Since(w.begun[job.Name]); policy != "" && !w.waited[job.Name] && age > besideWait+20*time.Second {
		w.t.Errorf("%s still has no pod after %v", job.Name, age)
		w.waited[job.Name] = true
	}
}
