package e2e

import (
	"fmt"
	"strings"
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
	}{{"quiet", 3 * time.Second}, {"reporting", 5 * time.Second}, {"gone", time.Minute}} {
		if x.name == "quiet" { // tasks that tell nothing of their progress; kubelets see to a pod that changes each second up to two seconds later
			c.must(strings.Replace(fmt.Sprintf(straggling, x.name, ""), "terminationGracePeriodSeconds: 1", "terminationGracePeriodSeconds: 30", 1), "create", "-f", "-")
			c.wait(x.name, "complete", 3*time.Minute)
			c.held(x.name, x.most)
			c.must("", "delete", "job", x.name, "--cascade=foreground", "--timeout=2m")
			continue
		}
		w := work{name: x.name, tasks: 6, parallelism: 6, policy: "spark:quantile=0.5,multiplier=1.5", slow: 60}
		c.begin(w)
		if x.name == "gone" {
			c.eventually(time.Minute, "clones", func() bool { return c.started(w.name) > 0 })
			c.kill("node-13")
		}
		c.wait(w.name, "complete", 3*time.Minute)
		c.timeline(w.name)
		c.held(w.name, x.most)
		if x.name == "gone" {
			c.start("node-13")
			c.must("", "wait", "--for=condition=Ready", "--timeout=5m", "node", "--all")
		}
		c.whole(w)
	}
	c.valid()
}

// held checks how long after its decision a Job was complete.
func (c *cluster) held(job string, most time.Duration) {
	c.t.Helper()
	var decided, complete time.Time
	for _, k := range c.job(job).Status.Conditions {
		switch k.Type {
		case batchv1.JobSuccessCriteriaMet:
			decided = k.LastTransitionTime.Time
		case batchv1.JobComplete:
			complete = k.LastTransitionTime.Time
		}
	}
	c.t.Logf("%s: complete %v after it was decided", job, complete.Sub(decided))
	if complete.Sub(decided) > most {
		c.t.Errorf("%s: complete %v after it was decided, want at most %v", job, complete.Sub(decided), most)
	}
}
