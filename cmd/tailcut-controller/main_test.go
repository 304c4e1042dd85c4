package main

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
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

// Each manifest is a YAML document with kind and name, and the Deployment has the image that was asked for.
func TestManifests(t *testing.T) {
	var out, err strings.Builder
	if status := run([]string{"--print-manifests", "--image", "example.org/c:7"}, &out, &err); status != 0 {
		t.Fatal(status, err.String())
	}
	kinds := map[string]bool{}
	for text := range strings.SplitSeq(out.String(), "\n---\n") {
		var doc struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil || doc.Kind == "" || doc.Metadata.Name == "" {
			t.Errorf("%v in:\n%s", err, text)
		}
		kinds[doc.Kind] = true
	}
	if !kinds["Deployment"] || !strings.Contains(out.String(), "image: example.org/c:7\n") || strings.Contains(out.String(), "IMAGE") {
		t.Error(out.String())
	}
}
