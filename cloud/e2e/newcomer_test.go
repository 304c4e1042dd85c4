package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// command is a program that finds the cluster and its plugins as a user's does.
func (c *cluster) command(name string, args ...string) *exec.Cmd {
	c.t.Helper()
	cmd := exec.Command(filepath.Join(c.bin, name), args...)
	home := c.t.TempDir()
	cmd.Env = append(os.Environ(), "PATH="+c.bin+":"+os.Getenv("PATH"), "KUBECONFIG="+c.kubeconfig(), "HOME="+home,
		"XDG_CACHE_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home)
	return cmd
}

// run returns what such a program prints.
func (c *cluster) run(name string, args ...string) string {
	c.t.Helper()
	out, err := c.command(name, args...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// board returns what the page of the plugin is answered, which Ctrl-C ends.
func (c *cluster) board() string {
	c.t.Helper()
	cmd := c.command("kubectl", "tailcut", "page")
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	address := ""
	if _, err := fmt.Fscanln(out, &address); err != nil {
		c.t.Errorf("no address: %v", err)
	}
	base, token, _ := strings.Cut(address, "/login?token=")
	text := ""
	if req, err := http.NewRequest("GET", base+"/v1/pools", nil); err != nil {
		c.t.Error(err)
	} else {
		req.Header.Set("Authorization", "Bearer "+token)
		if answer, err := http.DefaultClient.Do(req); err != nil {
			c.t.Error(err)
		} else {
			all, _ := io.ReadAll(answer.Body)
			text = string(all)
			answer.Body.Close()
		}
	}
	_ = cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		c.t.Errorf("the page ended with %v", err)
	}
	return text
}

// says fails unless a text contains others.
func (c *cluster) says(text string, parts ...string) {
	c.t.Helper()
	c.t.Log(text)
	for _, part := range parts {
		if !strings.Contains(text, part) {
			c.t.Errorf("it does not say %q:\n%s", part, text)
		}
	}
}

// One command installs the chart, a Job runs, kubectl tailcut tells why its pods run and wait, the chart is upgraded and rolled back while Jobs run, and
// is uninstalled as the documentation says, after which nothing is left.
func TestNewcomer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	c := newCluster(t)
	before := c.ours()
	// The nodes share their network, so there are no ports.
	install := []string{"tailcut", "../chart", "-n", "tailcut-system", "--set", "image=localhost/tailcut-controller:e2e,pod.hostNetwork=true,metricsPort=0,probePort=0", "--wait", "--timeout=3m"}
	c.run("helm", append([]string{"install", "--create-namespace"}, install...)...)
	first := work{name: "newcomer", tasks: 6, parallelism: 3, policy: "default", takes: "4s", slow: 1}
	c.begin(first)
	running, waits := "", ""
	c.eventually(2*time.Minute, "a pod that runs", func() bool {
		for _, p := range c.pods("job-name=newcomer") {
			if p.Status.Phase == "Running" {
				running = p.Name
			}
		}
		return running != ""
	})
	c.says(c.run("kubectl", "tailcut", "why", running), "Pod "+running+" is attempt 0 of index ", "of Job newcomer, its original.")
	c.says(c.run("kubectl", "tailcut", "explain", "job", "newcomer"), "runs under its own policy, the controller's default", "of 6 tasks are done")

	c.must("apiVersion: tailcut.dev/v1alpha1\nkind: SlotPool\nmetadata: {name: small}\nspec: {slots: 2}\n", "apply", "-f", "-")
	huge := work{name: "huge", tasks: 2, parallelism: 2, policy: "default", takes: "1s", cpu: "100", pool: "small"}
	small := work{name: "small", tasks: 8, parallelism: 4, policy: "default", takes: "2s", slow: 1, pool: "small"}
	c.begin(huge)
	c.eventually(2*time.Minute, "a pod without a node", func() bool {
		for _, p := range c.pods("job-name=huge") {
			for _, cond := range p.Status.Conditions {
				if cond.Reason == "Unschedulable" {
					waits = p.Name
				}
			}
		}
		return waits != ""
	})
	c.says(c.run("kubectl", "tailcut", "why", waits), "It waits for a node, for ", "Insufficient cpu", "It has a slot of pool small.")
	c.begin(small)
	c.eventually(time.Minute, "a Job that waits for slots", func() bool {
		return strings.Contains(c.run("kubectl", "tailcut", "explain", "job/small"), "all 2 slots are taken")
	})
	c.says(c.run("kubectl", "tailcut", "pool"), "small", "2 slots", "auto")
	c.says(c.run("kubectl", "tailcut", "pool", "small"), "huge", "all 2 slots are taken, and auto has given them to others")
	c.says(c.board(), `"name":"small"`, "of 2 slots", `"name":"huge"`, "all 2 slots are taken, and auto has given them to others")
	c.must("", "delete", "job", "huge", "--cascade=foreground", "--timeout=2m")

	c.run("helm", append([]string{"upgrade", "--set", "flags.policy=srew"}, install...)...)
	if args := c.must("", "get", "deployment", "-n", "tailcut-system", "tailcut-controller", "-o", "jsonpath={..args}"); !strings.Contains(args, "--policy=srew") {
		t.Errorf("after the upgrade: %s", args)
	}
	c.run("helm", "rollback", "tailcut", "1", "-n", "tailcut-system", "--wait", "--timeout=3m")
	if args := c.must("", "get", "deployment", "-n", "tailcut-system", "tailcut-controller", "-o", "jsonpath={..args}"); strings.Contains(args, "--policy=srew") {
		t.Errorf("after the rollback: %s", args)
	}
	for _, w := range []work{first, small} {
		c.wait(w.name, "complete", 3*time.Minute)
		c.says(c.run("kubectl", "tailcut", "explain", "job", w.name), "is complete, after")
		c.whole(w)
	}

	c.run("helm", "uninstall", "tailcut", "-n", "tailcut-system", "--wait", "--timeout=3m")
	if out := c.must("", "get", "slotpool", "small", "-o", "name"); out == "" {
		t.Error("the pools are gone with the chart")
	}
	c.must("", "delete", "crd", "slotpools.tailcut.dev", "--timeout=1m")
	c.must("", "delete", "namespace", "tailcut-system", "--timeout=2m")
	if after := c.ours(); !slices.Equal(after, before) {
		t.Errorf("left are %q, and before there were %q", after, before)
	}
}

// ours are the names of all objects of the cluster that are called after Tailcut, but for events.
func (c *cluster) ours() (all []string) {
	c.t.Helper()
	for kind := range strings.FieldsSeq(c.must("", "api-resources", "--verbs=list", "-o", "name")) {
		if strings.HasPrefix(kind, "events") {
			continue
		}
		for name := range strings.FieldsSeq(c.must("", "get", kind, "-A", "-o", "name", "--ignore-not-found")) {
			if strings.Contains(name, "tailcut") {
				all = append(all, name)
			}
		}
	}
	return all
}

// Helm makes the same objects of the chart as tailcut-controller prints.
func TestChart(t *testing.T) {
	c := newServers(t)
	for _, flags := range [][]string{nil, {"--namespace=team", "--winners=false"}, {"--kueue-boost=srpt"}, {"--policy=spark:quantile=0.5,order=srpt", "--clone-priority-class=low", "--max-clones=7"}} {
		printed := c.program("tailcut-controller", append([]string{"--print-manifests", "--image=x:1"}, flags...)...)
		args := []string{"template", "tailcut", "../chart", "--kube-version=1.34", "-n", "tailcut-system", "--set", "image=x:1,createNamespace=true"}
		for _, f := range flags {
			name, value, _ := strings.Cut(strings.TrimPrefix(f, "--"), "=")
			args = append(args, "--set", "flags."+name+"="+strings.ReplaceAll(value, ",", `\,`))
		}
		if got, want := objects(t, c.run("helm", args...)), objects(t, printed); !slices.Equal(got, want) {
			t.Errorf("%q: Helm makes\n%s\nand not\n%s", flags, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// objects returns each object of some manifests in the same form, in order.
func objects(t *testing.T, text string) (all []string) {
	t.Helper()
	for part := range strings.SplitSeq("\n"+text, "\n---\n") {
		var object any
		if err := yaml.Unmarshal([]byte(part), &object); err != nil {
			t.Fatal(err)
		}
		if object == nil {
			continue
		}
		data, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(data))
	}
	slices.Sort(all)
	return all
}
