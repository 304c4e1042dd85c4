//go:build long

package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/trace"
)

var (
	knownSeeds    = flag.Int("known-seeds", 4, "workloads of TestPoolPredicted")
	knownPolicies = flag.String("known-policies", "fifo srpt", "policies of TestPoolPredicted, separated by blanks; the first one's runs predict the others")
	knownJobs     = flag.String("known-workload", "synth:jobs=12;tasks=truncated:lo=1,hi=20,of=(pareto:alpha=1.1,xm=1.5);law=uniform:lo=3,hi=9;"+
		"scale=lognormal:mean=1,sd=0.4;arrivals=poisson:rate=0.3", "workload of TestPoolPredicted, of jobs of one stage")
)

// knownSlots is how many pods of TestPoolPredicted run at once.
const knownSlots = 8

// Twelve Jobs arrive at a pool on three real nodes, under one policy after the other. What was seen of their pods under the first predicts how long Jobs
// take on average, and what the other policies gain.
func TestPoolPredicted(t *testing.T) {
	c := newCluster(t)
	c.definePools()
	defer c.controller()()
	policies := strings.Fields(*knownPolicies)
	var live, predicted, without [][]float64 // mean seconds of a Job, by seed and policy
	for seed := range *knownSeeds {
		w, err := trace.Synthesize(*knownJobs, uint64(seed+1))
		if err != nil {
			t.Fatal(err)
		}
		took := make([]float64, len(policies))
		var record *poolRun
		for k := range policies {
			at := (seed + k) % len(policies)
			r := c.pool(fmt.Sprintf("known-%d-%d", seed, at), policies[at], knownSlots)
			r.run(w, func(j int) *batchv1.Job { return r.sleeps(w, j) })
			took[at], _, _ = r.measure()
			c.must("", "delete", "job", "-l", "tailcut.dev/pool="+r.name, "--cascade=foreground", "--timeout=5m")
			if at == 0 {
				record = r
			}
		}
		file, mean, sd, closing := record.record()
		delay := []string{"--runs", "20", "--launch-delay", fmt.Sprintf("lognormal:mean=%.3f,sd=%.3f", mean, sd)}
		var model, bare []float64
		for k, policy := range policies {
			model, bare = append(model, c.predict(file, policy, knownSlots, delay...)), append(bare, c.predict(file, policy, knownSlots))
			t.Logf("seed %d, %s: a Job takes %.2f s on average; predicted %.2f s, %.2f s without the launch delay", seed, policy, took[k], model[k], bare[k])
		}
		t.Logf("seed %d, %s: pods need %.2f s to begin (standard deviation %.2f s), and a Job is complete %.2f s after its last pod", seed, policies[0], mean, sd, closing)
		live, predicted, without = append(live, took), append(predicted, model), append(without, bare)
	}
	if *knownSeeds < 2 {
		return // no interval
	}
	for k, policy := range policies {
		off := percents(predicted, live, func(p, l []float64) float64 { return p[k]/l[k] - 1 })
		gain := percents(live, live, func(l, _ []float64) float64 { return l[k]/l[0] - 1 })
		said := percents(predicted, live, func(p, _ []float64) float64 { return p[k]/p[0] - 1 })
		wrong := percents(predicted, live, func(p, l []float64) float64 { return p[k]/p[0] - l[k]/l[0] })
		bare := percents(without, live, func(p, l []float64) float64 { return p[k]/l[k] - 1 })
		t.Logf("%s | off by %s | gain %s | predicted %s | error %s | without the launch delay off by %s", policy, off, gain, said, wrong, bare)
		if math.Abs(off.mean)-off.half > 10 {
			t.Errorf("%s: the time that Jobs take is off by %s", policy, off)
		}
	}
	c.valid()
}

// share is a mean and half of its 95 % interval, in percent.
type share struct{ mean, half float64 }

func (s share) String() string { return fmt.Sprintf("%+.1f ± %.1f %%", s.mean, s.half) }

// percents sums up what f makes of the seeds.
func percents(a, b [][]float64, f func(a, b []float64) float64) share {
	var all []float64
	for i := range a {
		all = append(all, 100*f(a[i], b[i]))
	}
	mean, half := laws.MeanInterval(all, 0.95)
	return share{mean, half}
}

// sleeps makes a Job whose tasks sleep as long as the workload says.
func (r *poolRun) sleeps(w *trace.Workload, j int) *batchv1.Job {
	durations := w.DurationsOf(&w.StagesOf(j)[0])
	args := []string{"exit", "0s"}
	for i, d := range durations {
		args = append(args, fmt.Sprintf("%d=%.3fs", i, d.Seconds()))
	}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", r.name, j), Labels: map[string]string{"tailcut.dev/pool": r.name}},
		Spec: batchv1.JobSpec{
			ManagedBy: ptr.To("tailcut.dev/controller"), CompletionMode: ptr.To(batchv1.IndexedCompletion),
			Completions: ptr.To(int32(len(durations))), Parallelism: ptr.To(int32(knownSlots)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, HostNetwork: true,
				Containers: []corev1.Container{{
					Name: "task", Image: "localhost/task:e2e", ImagePullPolicy: corev1.PullNever, Args: args,
					Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("16Mi")}},
				}},
			}},
		},
	}
}

// record writes what was seen of the pods as a workload, and returns how long they took to begin and the Jobs to be complete after that, in seconds.
func (r *poolRun) record() (file string, mean, sd, closing float64) {
	last := map[string]*poolPod{}
	seconds := map[string]map[int]float64{}
	n, sum, squares := 0.0, 0.0, 0.0
	for _, p := range r.made {
		if !p.won {
			continue
		}
		if seconds[p.job] == nil {
			seconds[p.job] = map[int]float64{}
		}
		seconds[p.job][p.index] = p.over.Sub(p.began).Seconds()
		if last[p.job] == nil || last[p.job].over.Before(p.over) {
			last[p.job] = p
		}
		x := p.began.Sub(p.made).Seconds()
		n, sum, squares = n+1, sum+x, squares+x*x
	}
	var all strings.Builder
	for j, at := range r.arrived {
		name := fmt.Sprintf("%s-%d", r.name, j)
		durations := make([]float64, len(seconds[name]))
		for i := range durations {
			durations[i] = seconds[name][i]
		}
		line, err := json.Marshal(map[string]any{"arrival_seconds": at.Sub(r.arrived[0]).Seconds(), "stages": []any{map[string]any{"durations_seconds": durations}}})
		if err != nil || last[name] == nil {
			r.t.Fatal(name, "has no pod that has succeeded", err)
		}
		all.Write(append(line, '\n'))
		closing += r.done[name].Sub(last[name].over).Seconds() / float64(len(r.arrived))
	}
	file = filepath.Join(r.t.TempDir(), "seen.jsonl")
	if err := os.WriteFile(file, []byte(all.String()), 0o666); err != nil {
		r.t.Fatal(err)
	}
	mean = sum / n
	return file, mean, math.Sqrt(max(0, squares/n-mean*mean)), closing
}
