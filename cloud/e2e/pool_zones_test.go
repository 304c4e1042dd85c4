package e2e

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Two Jobs share slots in three zones, of a node each, under a policy that chooses zones: one reads in zone-b, the other
// has to be in zone-c. Pods are where their slots are, no zone has more of them than slots in any sample, and a
// controller that is killed changes nothing of that. The API server refuses zones that make no sense.
func TestPoolZones(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	c := newCluster(t)
	stop := c.controller()
	defer func() { stop() }()
	c.definePools()
	pool := func(spec string) string {
		return "apiVersion: tailcut.dev/v1alpha1\nkind: SlotPool\nmetadata: {name: zones}\nspec: {" + spec + "}\n"
	}
	for _, bad := range []string{
		"zones: []", "zones: [{name: a, slots: 0}]", "zones: [{name: a, slots: 1}, {name: a, slots: 1}]", "zones: [{name: 'a,b', slots: 1}]",
		"slots: 1, zones: [{name: a, slots: 1}]", "zones: [{name: a, slots: 60000}, {name: b, slots: 60000}]", "slots: 1, bandwidth: 1G", "zones: [{name: a, slots: 1}], bandwidth: -1",
	} {
		if out, err := c.kubectl(pool(bad), "apply", "-f", "-"); err == nil {
			t.Errorf("{%s} was taken: %s", bad, out)
		}
	}
	slots := map[string]int{"zone-a": 2, "zone-b": 2, "zone-c": 1}
	zones := c.label(t, "zone-a", "zone-b", "zone-c")
	c.must(pool("zones: [{name: zone-a, slots: 2}, {name: zone-b, slots: 2}, {name: zone-c, slots: 1}], bandwidth: 10M, policy: flutter"), "apply", "-f", "-")
	jobs := []work{
		{name: "zones-data", tasks: 9, parallelism: 4, policy: "default", slow: 1, pool: "zones", data: "zone-b=100M"},
		{name: "zones-pinned", tasks: 4, parallelism: 4, policy: "default", slow: 1, pool: "zones", zone: "zone-c"},
	}
	for _, w := range jobs {
		c.begin(w)
		defer c.must("", "delete", "job", w.name, "--wait=false")
	}
	most, killed, shown := map[string]int{}, false, ""
	for begun := time.Now(); ; time.Sleep(time.Second) {
		if time.Since(begun) > 5*time.Minute {
			t.Fatalf("after 5 minutes: %+v, %+v", c.job("zones-data").Status, c.job("zones-pinned").Status)
		}
		count := map[string]int{}
		for _, p := range c.pods("tailcut.dev/pool=zones") {
			zone := p.Labels["tailcut.dev/zone"]
			if at := p.Spec.NodeName; at != "" && zones[at] != zone {
				t.Fatalf("%s has a slot in %s and is on %s, in %s", p.Name, zone, at, zones[at])
			}
			if p.Labels["job-name"] == "zones-pinned" && zone != "zone-c" {
				t.Fatalf("%s is in %s", p.Name, zone)
			}
			if hasSlot(&p) {
				count[zone]++
			}
		}
		for zone, n := range count {
			if most[zone] = max(most[zone], n); n > slots[zone] {
				t.Fatalf("%d pods in %d slots of %s", n, slots[zone], zone)
			}
		}
		done := int(c.job("zones-data").Status.Succeeded)
		if done > 2 && !killed {
			shown = c.must("", "get", "slotpool", "zones", "-o", "yaml")
			t.Log(shown)
			stop()
			stop, killed = c.controller(), true
		}
		if done == jobs[0].tasks && int(c.job("zones-pinned").Status.Succeeded) == jobs[1].tasks {
			break
		}
	}
	t.Logf("pods at once at most: %v", most)
	if most["zone-b"] < 2 || most["zone-c"] < 1 || !strings.Contains(shown, "name: zone-b") {
		t.Errorf("at most %v; %s", most, shown)
	}
	for _, w := range jobs {
		c.wait(w.name, "complete", time.Minute)
	}
	c.valid()
}

// label puts each node into a zone until the test ends, and returns in which.
func (c *cluster) label(t *testing.T, zones ...string) map[string]string {
	nodes, of := &corev1.NodeList{}, map[string]string{}
	c.get(nodes, "nodes")
	for i, zone := range zones {
		if i >= len(nodes.Items) {
			t.Fatalf("%d nodes for %d zones", len(nodes.Items), len(zones))
		}
		name := nodes.Items[i].Name
		of[name] = zone
		c.must("", "label", "node", name, "topology.kubernetes.io/zone="+zone)
		t.Cleanup(func() { c.must("", "label", "node", name, "topology.kubernetes.io/zone-") })
	}
	return of
}
