package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

var (
	chaosFor    = flag.Duration("chaos-for", 3*time.Minute, "how long TestChaosPools hurts the cluster")
	chaosSeed   = flag.Uint64("chaos-seed", 1, "of what befalls TestChaosPools")
	chaosPolicy = flag.String("chaos-policy", "auto", "of the pool that TestChaosPools hurts")
)

// chaosSlots are those of the pool that TestChaosPools hurts.
const chaosSlots = 8

// Jobs share a pool, and a new one comes for each that completes. At random the controller is killed, a pod or a whole Job is deleted by hand, the API
// server, etcd, the scheduler and the controller manager are killed and come back, and so does one node at a time. There are never more pods than slots, as
// sampled every second. Each Job that nobody deletes completes with each index done and committed once, and nothing is left of any, finalizers included.
func TestChaosPools(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	c := newCluster(t)
	c.definePools()
	c.must("apiVersion: tailcut.dev/v1alpha1\nkind: SlotPool\nmetadata: {name: chaos}\nspec: {slots: "+fmt.Sprint(chaosSlots)+", policy: "+*chaosPolicy+", maxWait: 2m}\n", "apply", "-f", "-")
	h := &havoc{cluster: c, random: rand.New(rand.NewPCG(*chaosSeed, 2)), down: map[string]time.Time{}, blows: map[string]int{}}
	h.stop = c.controller()
	defer func() { h.stop() }()
	for range 4 {
		h.job()
	}
	began := time.Now()
	for next := began; time.Since(began) < *chaosFor; next = next.Add(time.Second) {
		time.Sleep(time.Until(next))
		h.mend(time.Now())
		if h.random.IntN(3) == 0 {
			h.strike(time.Now())
		}
		h.look()
	}
	h.mend(time.Now().Add(time.Hour))
	c.eventually(5*time.Minute, "an API server that answers", func() bool { _, err := c.kubectl("", "get", "--raw", "/readyz"); return err == nil })
	c.must("", "wait", "--for=condition=Ready", "--timeout=5m", "node", "--all")
	for _, w := range h.jobs {
		c.wait(w.name, "complete", 10*time.Minute)
	}
	done := append(h.done, h.jobs...)
	for _, w := range done {
		c.complete(w)
	}
	c.gone()
	t.Logf("%v: %d Jobs complete, %d deleted, at most %d pods in %d slots, seen %d times; %v", time.Since(began).Round(time.Second), len(done), h.deleted, h.most, chaosSlots, h.seen, h.blows)
	if h.most < chaosSlots || h.seen < int(chaosFor.Seconds())/10 {
		t.Errorf("the pool was not under load: at most %d pods, seen %d times", h.most, h.seen)
	}
	c.valid()
}

// havoc is a cluster that is being hurt.
type havoc struct {
	*cluster
	random              *rand.Rand
	stop                func() // the controller
	jobs, done          []work // that nobody has deleted: those that nobody has seen complete, and the others
	made, deleted, most int
	seen                int                  // how often the pods could be counted
	down                map[string]time.Time // until when
	blows               map[string]int
}

func (h *havoc) job() {
	h.t.Helper()
	w := work{name: fmt.Sprintf("chaos-pool-%d", h.made), tasks: 2 + h.random.IntN(12), parallelism: 6, policy: "default", pool: "chaos", backoffLimit: 100, takes: "4s", slow: 2, cpu: "200m"}
	if _, err := h.kubectl(h.manifest(w), "create", "-f", "-", "--request-timeout=3s"); err != nil {
		if _, err := h.kubectl("", "get", "job", w.name, "--request-timeout=3s"); err != nil {
			return // it could not be made, or nobody can tell: another name is next
		}
	}
	h.made++
	h.jobs = append(h.jobs, w)
}

// chaosServers are those that are killed. Some end by themselves when they find no API server.
var chaosServers = []string{"apiserver", "etcd", "scheduler", "kcm"}

// mend starts what has been down long enough, and what has ended by itself.
func (h *havoc) mend(now time.Time) {
	for _, name := range chaosServers {
		if _, down := h.down[name]; !down {
			h.script("revive", name)
		}
	}
	for name, until := range h.down {
		if now.After(until) {
			h.start(name)
			delete(h.down, name)
		}
	}
}

// strike hurts one part. One node, and one of the servers, is down at a time.
func (h *havoc) strike(now time.Time) {
	nodes := []string{"node-11", "node-12", "node-13"}
	fell := func(some []string, most time.Duration) string {
		if slices.ContainsFunc(some, func(name string) bool { _, is := h.down[name]; return is }) {
			return ""
		}
		name := some[h.random.IntN(len(some))]
		h.kill(name)
		h.down[name] = now.Add(2*time.Second + time.Duration(h.random.Int64N(int64(most))))
		return name
	}
	blow := ""
	switch n := h.random.IntN(20); {
	case n < 8:
		h.stop()
		h.stop, blow = h.controller(), "controller"
	case n < 13:
		h.deleteAny(h.random)
		blow = "pod"
	case n < 14 && len(h.jobs) > 2:
		blow = h.deleteJob()
	case n < 17:
		blow = fell(chaosServers, 8*time.Second)
	default:
		blow = fell(nodes, 25*time.Second)
	}
	if blow != "" {
		h.blows[blow]++
	}
}

// deleteJob deletes a Job whose pods run, as a user does.
func (h *havoc) deleteJob() string {
	at := h.random.IntN(len(h.jobs))
	if _, err := h.kubectl("", "delete", "job", h.jobs[at].name, "--wait=false", "--ignore-not-found", "--request-timeout=3s"); err != nil {
		return ""
	}
	h.jobs = slices.Delete(h.jobs, at, at+1)
	h.deleted++
	return "job"
}

// look counts the pods, and makes new Jobs in place of those that are complete.
func (h *havoc) look() {
	h.t.Helper()
	h.count()
	if len(h.jobs) < 4 {
		h.job()
		return
	}
	w := h.jobs[h.random.IntN(len(h.jobs))]
	if out, err := h.kubectl("", "get", "job", w.name, "-o", `jsonpath={.status.conditions[?(@.type=="Complete")].status}`, "--request-timeout=2s"); err == nil && out == "True" {
		h.jobs = slices.DeleteFunc(h.jobs, func(x work) bool { return x.name == w.name })
		h.done = append(h.done, w)
	}
}

// count counts the pods that run or may come to run.
func (h *havoc) count() {
	h.t.Helper()
	out, err := h.kubectl("", "get", "pods", "-o", "json", "-l", "tailcut.dev/attempt", "--request-timeout=2s")
	var pods corev1.PodList
	if err != nil || json.Unmarshal([]byte(out), &pods) != nil {
		return
	}
	h.seen++
	n := 0
	for _, p := range pods.Items {
		if hasSlot(&p) {
			n++
		}
	}
	if h.most = max(h.most, n); n > chaosSlots {
		h.t.Errorf("%d pods in %d slots, after %v", n, chaosSlots, h.blows)
	}
}

// gone checks that no pod runs or has a finalizer, and that nothing is left when all Jobs have been deleted.
func (c *cluster) gone() {
	c.t.Helper()
	c.eventually(3*time.Minute, "without pods that run or have finalizers", func() bool {
		for _, p := range c.pods("tailcut.dev/attempt") {
			over := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
			if len(p.Finalizers) > 0 || !over {
				return false
			}
		}
		return true
	})
	c.must("", "delete", "jobs", "--all", "--cascade=foreground", "--timeout=5m")
	if left := c.pods("tailcut.dev/attempt"); len(left) > 0 {
		c.t.Errorf("%d pods have outlived their Jobs", len(left))
	}
}
