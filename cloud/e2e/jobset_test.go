//go:build kueue

package e2e

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// jobSetCerts is where JobSet looks for its certificate, and nowhere else.
const jobSetCerts = "/tmp/k8s-webhook-server/serving-certs"

// jobSet installs JobSet and runs its manager until stop is called.
func (c *cluster) jobSet() (stop func()) {
	c.t.Helper()
	if err := os.MkdirAll(jobSetCerts, 0o755); err != nil {
		c.t.Fatal(err)
	}
	end := c.operator("jobset", jobSetCerts, `apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
health: {healthProbeBindAddress: "127.0.0.1:18082"}
metrics: {bindAddress: "127.0.0.1:18444"}
leaderElection: {leaderElect: false}
clientConnection: {qps: 500, burst: 1000}
`)
	c.eventually(3*time.Minute, "a JobSet that its webhook has seen", func() bool {
		_, err := c.kubectl(c.set("probe", "", work{name: "probe-a-0", tasks: 1, parallelism: 1}), "create", "--dry-run=server", "-f", "-")
		return err == nil
	})
	return func() {
		c.must("", "delete", "jobsets", "--all", "--cascade=foreground", "--timeout=3m")
		end()
		_ = os.RemoveAll(jobSetCerts) // a key that nobody needs any more
	}
}

// set writes a JobSet of one Job for each work, each after the one before it. The name of each is that of its Job, SET-NAME-0.
func (c *cluster) set(name, labels string, all ...work) string {
	c.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: %s, labels: {%s}}\nspec:\n"+
		"  network: {enableDNSHostnames: false}\n  failurePolicy: {maxRestarts: 1}\n  replicatedJobs:\n", name, labels)
	before := ""
	for _, w := range all {
		part := strings.TrimSuffix(strings.TrimPrefix(w.name, name+"-"), "-0")
		head, spec, _ := strings.Cut(c.manifest(w), "\nspec:")
		_, metadata, _ := strings.Cut(head, "\n  name: "+w.name+"\n")
		fmt.Fprintf(&b, "  - name: %s\n    replicas: 1\n", part)
		if before != "" {
			fmt.Fprintf(&b, "    dependsOn: [{name: %s, status: Complete}]\n", before)
		}
		indent := regexp.MustCompile("(?m)^")
		fmt.Fprintf(&b, "    template:\n      metadata:\n%s\n      spec:%s\n", indent.ReplaceAllString(metadata, "      "), indent.ReplaceAllString(spec, "      "))
		before = part
	}
	return b.String()
}

// ends waits for a condition of a JobSet.
func (c *cluster) ends(set, condition string) {
	c.t.Helper()
	c.must("", "wait", "--for=condition="+condition, "--timeout=5m", "jobset/"+set)
}

// removed deletes a JobSet, with which all of its Jobs and pods have to go.
func (c *cluster) removed(set string) {
	c.t.Helper()
	c.must("", "delete", "jobset", set, "--cascade=foreground", "--timeout=3m")
	if left := c.pods("jobset.sigs.k8s.io/jobset-name=" + set); len(left) > 0 {
		c.t.Errorf("%d pods have outlived JobSet %s", len(left), set)
	}
}

// The Jobs of a JobSet, with its own controller and webhooks: stragglers get clones, a Job whose JobSet starts all anew is a new one, Jobs join a pool by
// the label of their template, and Kueue admits the JobSet as one.
func TestJobSet(t *testing.T) {
	c := newCluster(t)
	c.must(reporters, "apply", "-f", "-")
	defer c.jobSet()()
	defer c.kueue("PriorityBoost=true", "batch/job", "jobset.x-k8s.io/jobset")()
	c.must("", "create", "namespace", "kept")
	defer c.must("", "delete", "namespace", "kept", "--wait=false")
	c.definePools()
	defer c.controller("--kueue-boost=srpt", "--history-namespace=kept")()
	for _, part := range []struct {
		name string
		test func(c *cluster)
	}{{"Queue", (*cluster).setQueue}, {"Clones", (*cluster).setClones}, {"Restart", (*cluster).setRestart}, {"Pool", (*cluster).setPool}} {
		t.Run(part.name, func(t *testing.T) { part.test(&cluster{t, c.bin, c.dir}) })
	}
	c.valid()
}

// setClones fills all nodes: by now the controller knows the third to be slow, and pods prefer the others.
func (c *cluster) setClones() {
	first := work{name: "set-first-0", tasks: 2, parallelism: 2, policy: "default", slow: 1, takes: "1s"}
	then := work{name: "set-then-0", tasks: 14, parallelism: 12, policy: "spark:quantile=0.5,multiplier=2", slow: 30, cpu: "500m"}
	c.must(c.set("set", "", first, then), "create", "-f", "-")
	c.ends("set", "Completed")
	c.complete(first)
	c.complete(then)
	c.timeline(then.name)
	if c.started(then.name) == 0 {
		c.t.Error("no clone was started")
	}
	if took := c.took(then.name); took > 80*time.Second { // of its slow node alone it would take 90
		c.t.Errorf("it took %v", took)
	}
	c.removed("set")
}

// setRestart has a JobSet whose first Job fails, so that JobSet makes its Jobs anew under the same names, and fails again.
func (c *cluster) setRestart() {
	w := work{name: "again-a-0", tasks: 4, parallelism: 4, policy: "default", slow: 1, takes: "1s"}
	text := c.set("again", "", w)
	text = regexp.MustCompile(`args: \[.*\]`).ReplaceAllString(text, `args: [exit, 2s, "1=3"]`)
	text = regexp.MustCompile(`backoffLimit: \d+`).ReplaceAllString(text, "backoffLimit: 0")
	c.must(text, "create", "-f", "-")
	c.ends("again", "Failed")
	if n := c.must("", "get", "jobset", "again", "-o", "jsonpath={.status.restarts}"); n != "1" {
		c.t.Errorf("%s restarts, want 1", n)
	}
	c.eventually(2*time.Minute, "pods without finalizers", func() bool {
		for _, p := range c.pods("jobset.sigs.k8s.io/jobset-name=again") {
			if len(p.Finalizers) > 0 {
				return false
			}
		}
		return true
	})
	c.removed("again")
}

// setPool has two JobSets share a pool of four slots.
func (c *cluster) setPool() {
	c.must("apiVersion: tailcut.dev/v1alpha1\nkind: SlotPool\nmetadata: {name: sets}\nspec: {slots: 4}\n", "apply", "-f", "-")
	of := func(set string, tasks int) []work {
		a := work{name: set + "-a-0", tasks: tasks, parallelism: tasks, policy: "default", slow: 1, takes: "2s", pool: "sets"}
		b := a
		b.name = set + "-b-0"
		return []work{a, b}
	}
	all := map[string][]work{"large": of("large", 9), "small": of("small", 3)}
	for _, set := range []string{"large", "small"} {
		c.must(c.set(set, "", all[set]...), "create", "-f", "-")
	}
	most, over := 0, map[string]bool{}
	for begun := time.Now(); len(over) < 2; time.Sleep(500 * time.Millisecond) {
		n := 0
		for _, p := range c.pods("tailcut.dev/pool=sets") {
			if hasSlot(&p) {
				n++
			}
		}
		if most = max(most, n); n > 4 {
			c.t.Fatalf("%d pods in 4 slots", n)
		}
		for set := range all {
			done := c.must("", "get", "jobset", set, "-o", `jsonpath={.status.conditions[?(@.type=="Completed")].status}`) == "True"
			if done && set == "large" && !over["small"] {
				c.t.Error("the small JobSet is not complete before the large one")
			}
			if done {
				over[set] = true
			}
		}
		if time.Since(begun) > 5*time.Minute {
			c.t.Fatalf("after 5 minutes only %v are complete", over)
		}
	}
	if most < 4 {
		c.t.Errorf("at most %d pods in 4 slots", most)
	}
	for set, jobs := range all {
		for _, w := range jobs {
			c.complete(w)
		}
		c.removed(set)
	}
}

// setQueue has Kueue admit JobSets into a quota of eight pods, one of which has a slow node to deal with.
func (c *cluster) setQueue() {
	c.must(queues("2", "Never"), "apply", "-f", "-")
	of := func(set string, slow int) []work {
		a := work{name: set + "-a-0", tasks: 12, parallelism: 6, policy: "spark:quantile=0.5,multiplier=2", slow: slow, cpu: kueueCPU}
		b := work{name: set + "-b-0", tasks: 2, parallelism: 2, policy: "default", slow: 1, cpu: kueueCPU}
		return []work{a, b}
	}
	all := map[string][]work{"one": of("one", 30), "two": of("two", 1)}
	stop := c.watchQuota(kueueQuota)
	for _, set := range []string{"one", "two"} {
		if out := c.must(c.set(set, "kueue.x-k8s.io/queue-name: nightly", all[set]...), "create", "-o", "jsonpath={.spec.suspend}", "-f", "-"); out != "true" {
			c.t.Errorf("JobSet %s is not suspended when it is made: %q", set, out)
		}
	}
	boosts := ""
	c.eventually(time.Minute, "a boost of the JobSet that waits", func() bool {
		boosts = c.must("", "get", "workloads.kueue.x-k8s.io", "-o", `jsonpath={range .items[*]}{.metadata.ownerReferences[0].kind} {.metadata.ownerReferences[0].name} {.metadata.annotations.kueue\.x-k8s\.io/priority-boost} {.metadata.annotations.tailcut\.dev/pod-seconds}{"\n"}{end}`)
		return regexp.MustCompile(`JobSet two \d+ \d`).MatchString(boosts)
	})
	c.t.Log("boosts and pod-seconds:\n" + boosts)
	for _, set := range []string{"one", "two"} {
		c.ends(set, "Completed")
	}
	c.within(stop())
	c.timeline("one-a-0")
	if c.started("one-a-0") == 0 {
		c.t.Error("no clone was started")
	}
	for set, jobs := range all {
		for _, w := range jobs {
			c.complete(w)
		}
		c.removed(set)
	}
}
