//go:build long

package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

var (
	poolPolicies = flag.String("pool-policies", "srpt srew fair", "policies of TestScalePool, separated by blanks")
	poolSlots    = flag.Int("pool-slots", 150, "slots of the pool of TestScalePool")
	poolJobs     = flag.String("pool-workload", "synth:jobs=500;tasks=truncated:lo=1,hi=30,of=(pareto:alpha=1.1,xm=1.2);"+
		"law=truncated:lo=15,hi=150,of=(pareto:alpha=1.3,xm=15);arrivals=poisson:rate=1.4;seed=1", "workload of TestScalePool, of jobs of one stage")
)

// scaleAttempts bounds the attempts of a task of which it is laid down how long they take.
const scaleAttempts = 5

// Five hundred Jobs arrive at a pool on a thousand simulated nodes, under each of some policies. The mean time that a Job takes is within a tenth of what
// tailcut simulate predicts for the same jobs, arrivals and durations of each attempt. The simulator is told how long a pod holds its slot without
// running, as measured.
func TestScalePool(t *testing.T) {
	c := newCluster(t)
	t.Setenv("TAILCUT_E2E_GRACE", "24h") // as in TestScale, and so are the next lines
	c.kill("kcm")
	c.start("kcm")
	for _, n := range []string{"11", "12", "13"} {
		c.kill("node-" + n)
	}
	w, err := trace.Synthesize(*poolJobs, 1)
	if err != nil {
		t.Fatal(err)
	}
	c.simulate()
	c.definePools()
	stop, who := c.measured()
	defer stop()
	file := unknown(t, w)
	service, err := sim.Resample(w, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, policy := range strings.Fields(*poolPolicies) {
		r := c.pool(fmt.Sprintf("scale-%d", i), policy, *poolSlots)
		requests, seconds := who.requests(t), who.seconds(t)
		r.run(w, func(j int) *batchv1.Job { return r.job(w, j, service) })
		took, mean, sd := r.measure()
		predicted := c.predict(file, policy, *poolSlots, "--launch-delay", fmt.Sprintf("lognormal:mean=%.3f,sd=%.3f", mean, sd))
		t.Logf("%s: a Job takes %.1f s on average; predicted %.1f s, with pods that hold their slots %.2f s longer than their tasks run (standard deviation %.2f s); %.1f s without that",
			policy, took, predicted, mean, sd, c.predict(file, policy, *poolSlots))
		t.Logf("%s: %s; %s needed %.1f s of processor time and %.0f requests, %.1f a pod, and has had %d MB at most", policy, r, who.name,
			who.seconds(t)-seconds, who.requests(t)-requests, (who.requests(t)-requests)/float64(len(r.made)), who.peak(t)>>20)
		if math.Abs(took/predicted-1) > 0.1 {
			t.Errorf("%s: Jobs take %.2f of the predicted time", policy, took/predicted)
		}
		c.must("", "delete", "job", "-l", "tailcut.dev/pool="+r.name, "--cascade=foreground", "--timeout=20m")
	}
	c.valid()
}

// unknown writes a workload to a file that says nothing of how long tasks are going to take, as Jobs do not either.
func unknown(t *testing.T, w *trace.Workload) string {
	t.Helper()
	var all strings.Builder
	for j := range w.Jobs {
		var seconds []float64
		for _, d := range w.DurationsOf(&w.StagesOf(j)[0]) {
			seconds = append(seconds, d.Seconds())
		}
		line, err := json.Marshal(map[string]any{"arrival_seconds": w.Jobs[j].Arrival.Seconds(), "stages": []any{map[string]any{"durations_seconds": seconds}}})
		if err != nil {
			t.Fatal(err)
		}
		all.Write(append(line, '\n'))
	}
	file := filepath.Join(t.TempDir(), "jobs.jsonl")
	if err := os.WriteFile(file, []byte(all.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// predict returns what the simulator takes for the mean time of a job, in seconds.
func (c *cluster) predict(file, policy string, slots int, flags ...string) float64 {
	c.t.Helper()
	var said struct {
		Results []struct {
			Mean float64 `json:"mean_flow_seconds"`
		} `json:"results"`
	}
	out := c.program("tailcut", append([]string{"simulate", file, "--machines", fmt.Sprint(slots), "--policy", policy, "--slot", "0s", "--progress", "none", "--format", "json"}, flags...)...)
	if err := json.Unmarshal([]byte(out), &said); err != nil || len(said.Results) == 0 {
		c.t.Fatal(err, out)
	}
	mean := 0.0
	for i := range said.Results {
		mean += said.Results[i].Mean / float64(len(said.Results))
	}
	return mean
}

// poolRun is what was seen of the Jobs of a workload on the cluster.
type poolRun struct {
	*cluster
	name string // of the pool

	mu      sync.Mutex
	made    map[types.UID]*poolPod
	arrived []time.Time          // when Jobs were made, in order
	done    map[string]time.Time // when Jobs were complete
}

// poolPod is a pod as it was seen: zero for what has not been.
type poolPod struct {
	first, won        bool // attempt of its task; and it has succeeded
	takes             float64
	made, began, over time.Time
	job               string
	index             int
}

// pool makes a pool, of which nothing has been seen.
func (c *cluster) pool(name, policy string, slots int) *poolRun {
	c.t.Helper()
	c.must(fmt.Sprintf("apiVersion: tailcut.dev/v1alpha1\nkind: SlotPool\nmetadata: {name: %s}\nspec: {slots: %d, policy: %q}\n", name, slots, policy), "apply", "-f", "-")
	return &poolRun{cluster: c, name: name, made: map[types.UID]*poolPod{}, done: map[string]time.Time{}}
}

func (r *poolRun) String() string {
	clones := 0
	for _, p := range r.made {
		if !p.first {
			clones++
		}
	}
	return fmt.Sprintf("%d Jobs, %d pods, %d of them clones", len(r.done), len(r.made), clones)
}

// run has the Jobs of a workload arrive, and waits until all are complete.
func (r *poolRun) run(w *trace.Workload, of func(j int) *batchv1.Job) {
	t := r.t
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", r.kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.Burst = 500, 500
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.watch(ctx, client)
	began := time.Now()
	for j := range w.Jobs {
		job := of(j)
		time.Sleep(time.Until(began.Add(time.Duration(w.Jobs[j].Arrival))))
		now := time.Now()
		if _, err := client.BatchV1().Jobs("default").Create(ctx, job, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		r.mu.Lock()
		r.arrived = append(r.arrived, now)
		r.mu.Unlock()
	}
	r.eventually(time.Hour, "complete", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.done) == len(w.Jobs)
	})
}

// job makes a Job of which it is laid down how long each attempt takes: as the simulator draws it.
func (r *poolRun) job(w *trace.Workload, j int, service sim.Service) *batchv1.Job {
	durations := w.DurationsOf(&w.StagesOf(j)[0])
	takes := make([][scaleAttempts]float64, len(durations))
	for i := range takes {
		for k := range takes[i] {
			d := service.Duration(&sim.Attempt{Seed: sim.RunSeed(1, 0), Job: uint32(j), Task: uint32(i), Number: uint32(k), Index: i, Recorded: durations, Share: 1})
			takes[i][k] = math.Round(d.Seconds()*1000) / 1000
		}
	}
	text, err := json.Marshal(takes)
	if err != nil {
		r.t.Fatal(err)
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", r.name, j), Labels: map[string]string{"tailcut.dev/pool": r.name}},
		Spec: batchv1.JobSpec{
			ManagedBy: ptr.To("tailcut.dev/controller"), CompletionMode: ptr.To(batchv1.IndexedCompletion),
			Completions: ptr.To(int32(len(takes))), Parallelism: ptr.To(int32(*poolSlots)),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{takesAnnotation: string(text)}},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, NodeSelector: map[string]string{"type": "kwok"},
					Containers: []corev1.Container{{Name: "task", Image: "none", Resources: corev1.ResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
					}}},
				},
			},
		},
	}
}

// takesAnnotation is known to simulated.yaml.
const takesAnnotation = "e2e.tailcut.dev/takes"

// watch notes when pods are made and over, and when Jobs are complete.
func (r *poolRun) watch(ctx context.Context, client kubernetes.Interface) {
	r.t.Helper()
	f := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "tailcut.dev/pool=" + r.name }))
	for _, informer := range []cache.SharedIndexInformer{f.Core().V1().Pods().Informer(), f.Batch().V1().Jobs().Informer()} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: r.see, UpdateFunc: func(_, x any) { r.see(x) }}); err != nil {
			r.t.Fatal(err)
		}
	}
	f.Start(ctx.Done())
	f.WaitForCacheSync(ctx.Done())
}

func (r *poolRun) see(x any) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch x := x.(type) {
	case *batchv1.Job:
		for _, k := range x.Status.Conditions {
			if k.Type == batchv1.JobComplete && k.Status == "True" && r.done[x.Name].IsZero() {
				r.done[x.Name] = now
			}
		}
	case *corev1.Pod:
		p := r.made[x.UID]
		if p == nil {
			p = &poolPod{made: now, first: x.Labels["tailcut.dev/attempt"] == "0", takes: takesOf(x), job: x.Labels["job-name"]}
			_, _ = fmt.Sscan(x.Labels["batch.kubernetes.io/job-completion-index"], &p.index)
			r.made[x.UID] = p
		}
		if p.began.IsZero() && x.Status.Phase != corev1.PodPending {
			p.began = now
		}
		if p.over.IsZero() && (x.DeletionTimestamp != nil || x.Status.Phase == corev1.PodSucceeded || x.Status.Phase == corev1.PodFailed) {
			p.over, p.won = now, x.DeletionTimestamp == nil && x.Status.Phase == corev1.PodSucceeded
		}
	}
}

// takesOf returns how long it is laid down that a pod takes, in seconds.
func takesOf(p *corev1.Pod) float64 {
	var takes [][]float64
	var index, attempt int
	if json.Unmarshal([]byte(p.Annotations[takesAnnotation]), &takes) != nil {
		return 0
	}
	_, _ = fmt.Sscan(p.Labels["batch.kubernetes.io/job-completion-index"], &index)
	_, _ = fmt.Sscan(p.Labels["tailcut.dev/attempt"], &attempt)
	return takes[index][min(attempt, scaleAttempts-1)]
}

// measure returns the mean time that a Job took, and how long pods held their slots beyond the times of their tasks: from a pod's making to the news of
// its end, less its task's time. That slots are empty while tasks wait does not count: a policy with slots of time leaves them so, in the simulator as well.
func (r *poolRun) measure() (took, mean, sd float64) {
	for j, at := range r.arrived {
		took += r.done[fmt.Sprintf("%s-%d", r.name, j)].Sub(at).Seconds() / float64(len(r.arrived))
	}
	n, sum, squares := 0.0, 0.0, 0.0
	for _, p := range r.made {
		if p.won {
			x := p.over.Sub(p.made).Seconds() - p.takes
			n, sum, squares = n+1, sum+x, squares+x*x
		}
	}
	mean = sum / n
	return took, mean, math.Sqrt(max(0, squares/n-mean*mean))
}
