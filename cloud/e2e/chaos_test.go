package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// While five Jobs run, the controller is killed and a pod deleted by hand every few seconds, a node loses its power for so short a time that nobody
// notices, another for so long that its pods are moved, a third for good, and the API server is killed. All Jobs complete, with
// each index done and committed once, and nothing is left of them.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	c := newCluster(t)
	stop := c.controller()
	defer func() { stop() }()
	var jobs []work
	for i := range 5 {
		jobs = append(jobs, work{name: fmt.Sprintf("chaos-%d", i), tasks: 12, parallelism: 4, policy: []string{"spark", "srew:slot=1s"}[i%2], backoffLimit: 100})
		c.begin(jobs[i])
	}
	blows := map[int]func(){ // by second
		6:  func() { c.kill("node-13") },
		9:  func() { c.start("node-13") },
		14: func() { c.kill("node-11") },
		22: func() { c.kill("apiserver") },
		25: func() { c.start("apiserver") },
		36: func() { c.start("node-11") },
		42: func() { c.kill("node-12") },
	}
	random := rand.New(rand.NewPCG(1, 1))
	began := time.Now()
	for second := 0; second < 60; second++ {
		time.Sleep(time.Until(began.Add(time.Duration(second) * time.Second)))
		if blow := blows[second]; blow != nil {
			blow()
		}
		if second%3 == 0 {
			c.deleteAny(random)
			stop()
			stop = c.controller()
		}
	}
	for _, w := range jobs {
		c.wait(w.name, "complete", 10*time.Minute)
	}
	t.Logf("all complete %v after the first blow", time.Since(began).Round(time.Second))
	c.start("node-12")
	c.must("", "wait", "--for=condition=Ready", "--timeout=5m", "node", "--all")
	for _, w := range jobs {
		c.whole(w)
	}
	c.valid()
}

// deleteAny deletes one of the pods that there are, if the API server lets itself be asked.
func (c *cluster) deleteAny(random *rand.Rand) {
	out, err := c.kubectl("", "get", "pods", "-o", "json", "-l", "tailcut.dev/attempt", "--request-timeout=2s")
	var pods corev1.PodList
	if err != nil || json.Unmarshal([]byte(out), &pods) != nil || len(pods.Items) == 0 {
		return
	}
	p := pods.Items[random.IntN(len(pods.Items))]
	_, _ = c.kubectl("", "delete", "pod", p.Name, "--wait=false", "--request-timeout=2s") // it may be gone by now
}
