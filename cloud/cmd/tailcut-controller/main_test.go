package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		name, args, out, err string
		status               int
	}{
		{"help", "--help", "kubectl apply", "", 0},
		{"no such policy", "--policy sparc", "", "--policy: unknown policy", 2},
		{"no live policy", "--policy wlaps:energy=3", "", "--policy: the policy sets the speed of the machines", 2},
		{"wrong parameter", "--policy shed:law=pareto", "", "--policy: ", 2},
		{"no such flag", "--polcy x", "", "unknown flag", 2},
		{"no speed", "--clones-per-second 0", "", "above 0", 2},
		{"no such order", "--kueue-boost fair", "", `--kueue-boost: "fair" is not srpt`, 2},
		{"no such wait", "--kueue-max-wait -1s", "", "must not be negative", 2},
		{"kubeconfig in manifests", "--print-manifests --kubeconfig x", "", "--kubeconfig does not go with --print-manifests", 2},
		{"no policy in manifests", "--print-manifests --policy sparc", "", "--policy: unknown policy", 2},
		{"no lease in manifests", "--print-manifests --leader-election-namespace=", "", "--leader-election-namespace: ", 2},
		{"no name in manifests", "--print-manifests --namespace A_b", "", `--namespace: "A_b" is no name in Kubernetes`, 2},
		{"no such part", "--print-manifests=pod", "", `--print-manifests: "pod" is none of`, 2},
		{"pools alone", "--print-manifests=pools", "slotpools.tailcut.dev", "", 0},
		{"admission alone", "--print-manifests=admission", "validationActions: [Warn]", "", 0},
		{"no port in manifests", "--print-manifests --probe-address x", "", "--probe-address: ", 2},
		{"no cluster", "--kubeconfig testdata/none", "", "testdata/none", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, err strings.Builder
			status := run(strings.Fields(c.args), &out, &err)
			if status != c.status || !strings.Contains(out.String(), c.out) || !strings.Contains(err.String(), c.err) {
				t.Errorf("status %d, stdout %q, stderr %q; want %d, %q, %q", status, out.String(), err.String(), c.status, c.out, c.err)
			}
		})
	}
}

// Each flag that the pages of the controller name is its own, or of a program that stands beside it.
func TestDocs(t *testing.T) {
	others := map[string]bool{"cascade": true /* kubectl */, "expendable-pods-priority-cutoff": true /* the cluster autoscaler */, "set": true /* helm */, "runtime-config": true /* the API server */}
	var started bool
	flags := newCommand(&started).Flags()
	for _, page := range []struct {
		name  string
		least int // flags
	}{{"kubernetes.md", 10}, {"kubernetes-kueue.md", 2}} {
		text, err := os.ReadFile("../../../docs/howto/" + page.name)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, m := range regexp.MustCompile("`--([a-z][a-z-]*)").FindAllStringSubmatch(string(text), -1) {
			if n++; flags.Lookup(m[1]) == nil && !others[m[1]] {
				t.Errorf("%s: the controller has no --%s", page.name, m[1])
			}
		}
		if n < page.least {
			t.Errorf("%s: only %d flags seen", page.name, n)
		}
	}
}
