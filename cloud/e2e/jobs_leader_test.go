package e2e

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
)

// Of two controllers one leads. When it is killed, the other takes over with the lease, and the Job completes.
func TestSecondController(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	c := newCluster(t)
	c.must(reporters, "apply", "-f", "-")
	lease := func() *coordinationv1.LeaseSpec {
		l := &coordinationv1.Lease{}
		c.get(l, "lease", "tailcut-controller")
		return &l.Spec
	}
	stop := c.controller("--leader-election-namespace", "default")
	c.eventually(time.Minute, "led", func() bool {
		_, err := c.kubectl("", "get", "lease", "tailcut-controller")
		return err == nil && ptr.Deref(lease().HolderIdentity, "") != ""
	})
	first := *lease().HolderIdentity
	defer c.controller("--leader-election-namespace", "default")()
	w := work{name: "led", tasks: 12, parallelism: 4, policy: "spark", slow: 2}
	c.begin(w)
	c.eventually(3*time.Minute, "begun", func() bool { return c.job(w.name).Status.Succeeded > 1 })
	if now := *lease().HolderIdentity; now != first {
		t.Errorf("%s leads, although %s lives", now, first)
	}
	stop()
	killed := time.Now()
	c.eventually(time.Minute, "taken over", func() bool { return ptr.Deref(lease().HolderIdentity, "") != first })
	t.Logf("the second controller took over after %v", time.Since(killed).Round(time.Second))
	c.wait(w.name, "complete", 5*time.Minute)
	c.whole(w)
	c.valid()
}
