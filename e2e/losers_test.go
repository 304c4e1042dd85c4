package e2e

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

// A Job is complete as soon as it is decided, although its losers ignore SIGTERM and have a grace period of 30 s, and soon after it although the node of the losers is gone for good.
func TestLosers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	c := newCluster(t)
	defer c.controller()()
	c.must(reporters, "apply", "-f", "-")
	for _, x := range []struct {
		name string
		most time.Duration
	}{{"stubborn", 3 * time.Second}, {"gone", time.Minute}} {
		w := work{name: x.name, tasks: 6, parallelism: 6, policy: "spark:quantile=0.5,multiplier=1.5", slow: 60}
		c.begin(w)
		if x.name == "gone" {
			c.eventually(time.Minute, "clones", func() bool { return c.started(w.name) > 0 })
			c.kill("node-13")
		}
		c.wait(w.name, "complete", 3*time.Minute)
		c.timeline(w.name)
		var decided, complete time.Time
		for _, k := range c.job(w.name).Status.Conditions {
			switch k.Type {
			case batchv1.JobSuccessCriteriaMet:
				decided = k.LastTransitionTime.Time
			case batchv1.JobComplete:
				complete = k.LastTransitionTime.Time
			}
		}
		t.Logf("%s: complete %v after it was decided", w.name, complete.Sub(decided))
		if complete.Sub(decided) > x.most {
			t.Errorf("%s: complete %v after it was decided, want at most %v", w.name, complete.Sub(decided), x.most)
		}
		if x.name == "gone" {
			c.start("node-13")
			c.must("", "wait", "--for=condition=Ready", "--timeout=5m", "node", "--all")
		}
		c.whole(w)
	}
	c.valid()
}
