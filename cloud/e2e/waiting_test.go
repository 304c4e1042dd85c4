package e2e

import (
	"testing"
	"time"
)

// The three nodes have room for fifteen of sixty equal tasks that all have pods at once. A pod that waits for a node is no straggler: no policy clones one.
func TestWaitingIsNotStraggling(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	c := newCluster(t)
	c.must(reporters, "apply", "-f", "-")
	defer c.controller()()
	for name, policy := range map[string]string{"wait-default": "default", "wait-spark": "spark:quantile=0.5,multiplier=1.5,min_runtime=10s", "wait-spark3": "spark3", "wait-late": "late"} {
		w := work{name: name, tasks: 60, parallelism: 60, policy: policy, takes: "4s", slow: 1}
		start := time.Now()
		c.begin(w)
		c.wait(w.name, "complete", 10*time.Minute)
		clones := c.started(w.name)
		t.Logf("%s: %.1f s, %d clones", policy, time.Since(start).Seconds(), clones)
		if clones > 0 {
			c.timeline(w.name)
			t.Errorf("%s: %d clones of equal tasks", policy, clones)
		}
		c.whole(w)
	}
	c.valid()
}
