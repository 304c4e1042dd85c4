package main

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// document is what the tests look at of a manifest.
type document struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		Template struct {
			Spec struct {
				Affinity   map[string]any
				Containers []struct {
					Image         string
					Args          []string
					Ports         []map[string]any
					LivenessProbe map[string]any `yaml:"livenessProbe"`
					Resources     struct{ Limits map[string]string }
				}
			}
		}
	}
}

func manifestsOf(t *testing.T, args ...string) (all []document, text string) {
	t.Helper()
	var out, err strings.Builder
	if status := run(append([]string{"--print-manifests"}, args...), &out, &err); status != 0 {
		t.Fatal(status, err.String())
	}
	for text := range strings.SplitSeq(out.String(), "\n---\n") {
		var doc document
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil || doc.Kind == "" || doc.Metadata.Name == "" {
			t.Errorf("%v in:\n%s", err, text)
		}
		all = append(all, doc)
	}
	return all, out.String()
}

func named(all []document) (names []string) {
	for _, d := range all {
		names = append(names, strings.TrimSpace(d.Kind+" "+d.Metadata.Name+" "+d.Metadata.Namespace))
	}
	return names
}

// The Deployment has the flags of the command line, and beside it there is what keeps it up and out of reach.
func TestManifests(t *testing.T) {
	all, text := manifestsOf(t, "--image", "example.org/c:7", "--max-clones", "7", "--policy", "spark:quantile=0.5", "--kube-api-qps=12.5")
	d := all[len(all)-1]
	c := d.Spec.Template.Spec.Containers[0]
	want := []string{"--clone-priority-class=tailcut-expendable", "--history-namespace=tailcut-system", "--kube-api-qps=12.5", "--leader-election-namespace=tailcut-system",
		"--max-clones=7", "--metrics-address=:8443", "--policy=spark:quantile=0.5", "--probe-address=:8081"}
	if c.Image != "example.org/c:7" || !slices.Equal(c.Args, want) || c.Resources.Limits["memory"] == "" || d.Spec.Template.Spec.Affinity["podAntiAffinity"] == nil {
		t.Errorf("%+v", c)
	}
	for _, want := range []string{
		"ClusterRole tailcut-controller", "ClusterRoleBinding tailcut-controller", "ClusterRoleBinding tailcut-controller-metrics-auth", "PriorityClass tailcut-expendable",
		"NetworkPolicy tailcut-controller tailcut-system", "PodDisruptionBudget tailcut-controller tailcut-system", "Role tailcut-controller-history tailcut-system",
	} {
		if !slices.Contains(named(all), want) {
			t.Errorf("no %s in:\n%s", want, text)
		}
	}
}

// Whoever runs it for one namespace gives it no right to others.
func TestManifestsOfOneNamespace(t *testing.T) {
	all, text := manifestsOf(t, "--namespace", "team", "--history-namespace", "kept", "--leader-election-namespace", "ours", "--clone-priority-class", "low",
		"--probe-address", "0", "--winners=false", "--lost-node-after=0")
	want := []string{"Namespace ours", "ServiceAccount tailcut-controller ours", "Role tailcut-controller-jobs team", "RoleBinding tailcut-controller-jobs team",
		"Role tailcut-controller ours", "RoleBinding tailcut-controller ours", "Role tailcut-controller-history kept", "RoleBinding tailcut-controller-history kept",
		"NetworkPolicy tailcut-controller ours", "PodDisruptionBudget tailcut-controller ours", "Deployment tailcut-controller ours"}
	if got := named(all); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if c := all[len(all)-1].Spec.Template.Spec.Containers[0]; c.Ports != nil || c.LivenessProbe != nil || strings.Contains(text, "JOB-winners") {
		t.Errorf("%+v", c)
	}
	all, _ = manifestsOf(t, "--history-namespace=", "--clone-priority-class=", "--metrics-address=127.0.0.1:9", "--namespace=team")
	if !slices.Contains(named(all), "ClusterRole tailcut-controller-nodes") {
		t.Error(named(all))
	}
	for _, name := range named(all) {
		if strings.Contains(name, "history") || strings.Contains(name, "metrics") || strings.Contains(name, "Priority") {
			t.Error(name)
		}
	}
}

// What a flag says is a string in YAML, whatever it looks like.
func TestManifestsQuote(t *testing.T) {
	for _, text := range []string{"a: b", "{x}", "yes", "1", "# c", "a\nb", "--policy=fork:p=0.1,r=2", "\"", "x/y:1", "null", ""} {
		var got []any
		if err := yaml.Unmarshal([]byte("- "+quoted(text)), &got); err != nil || len(got) != 1 || got[0] != text {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
