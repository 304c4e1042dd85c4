package e2e

import (
	"strings"
	"testing"
	"time"
)

// Four Jobs of mixed sizes share four slots under srpt, although each may have six pods. There are never more pods than
// slots, the smaller Jobs are complete before the largest, and a controller that is killed changes nothing of that. The
// API server refuses pools that make no sense.
func TestPool(t *testing.T) {
	c := newCluster(t)
	stop := c.controller() // before there is the resource
	defer func() { stop() }()
	c.definePools()
	pool := func(spec string) string {
		return "apiVersion: tailcut.dev/v1alpha1\nkind: SlotPool\nmetadata: {name: shared}\nspec: {" + spec + "}\n"
	}
	for _, bad := range []string{"slots: 0", "policy: srpt", "slots: 4, preemption: All", "slots: 4, maxWait: soon", "slots: 4, cloneBudget: -1"} {
		if out, err := c.kubectl(pool(bad), "apply", "-f", "-"); err == nil {
			t.Errorf("{%s} was taken: %s", bad, out)
		}
	}
	c.must(pool("slots: 4, policy: srpt, maxWait: 5m"), "apply", "-f", "-")
	c.must("", "label", "namespace", "default", "tailcut.dev/pool=shared")
	defer c.must("", "label", "namespace", "default", "tailcut.dev/pool-")
	names := map[string]int{"pool-a": 16, "pool-b": 3, "pool-c": 6, "pool-d": 2}
	for name, tasks := range names {
		c.begin(work{name: name, tasks: tasks, parallelism: 6, policy: "default", slow: 1})
		defer c.must("", "delete", "job", name, "--wait=false")
	}
	ends := map[string]time.Time{}
	most, killed, shown := 0, false, ""
	for begun := time.Now(); len(ends) < len(names); time.Sleep(500 * time.Millisecond) {
		if time.Since(begun) > 5*time.Minute {
			t.Fatalf("after 5 minutes only %v are complete", ends)
		}
		n := 0
		for _, p := range c.pods("job-name") {
			if names[p.Labels["job-name"]] > 0 && hasSlot(&p) {
				n++
			}
		}
		if most = max(most, n); n > 4 {
			t.Fatalf("%d pods in 4 slots", n)
		}
		for name, tasks := range names {
			if _, known := ends[name]; !known && int(c.job(name).Status.Succeeded) == tasks {
				ends[name] = time.Now()
			}
		}
		if len(ends) == 1 && !killed {
			shown = c.must("", "get", "slotpool", "shared", "-o", "yaml")
			t.Log(c.must("", "get", "slotpool"), shown)
			stop()
			stop, killed = c.controller(), true
		}
	}
	for _, name := range []string{"pool-b", "pool-c", "pool-d"} {
		if !ends[name].Before(ends["pool-a"]) {
			t.Errorf("%s, the smaller one, was complete %v after pool-a", name, ends[name].Sub(ends["pool-a"]))
		}
	}
	if most < 4 || !strings.Contains(shown, "name: pool-a") {
		t.Errorf("at most %d pods; %s", most, shown)
	}
	for name := range names {
		c.wait(name, "complete", time.Minute)
	}
	c.valid()
}
