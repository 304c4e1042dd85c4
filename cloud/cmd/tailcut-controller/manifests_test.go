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
	if c.Image != "example.org/c:7" || !slices.Equal(slices.Sorted(slices.Values(c.Args)), want) || c.Resources.Limits["memory"] == "" || d.Spec.Template.Spec.Affinity["podAntiAffinity"] == nil {
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

// A controller that orders Kueue's queues may patch Workloads, and another does not even see them.
func TestManifestsBesideKueue(t *testing.T) {
	for _, args := range [][]string{{"--kueue-boost=srpt"}, {"--kueue-boost=srpt", "--namespace=team"}, nil} {
		_, text := manifestsOf(t, args...)
		if got := strings.Contains(text, "resources: [workloads]\n  verbs: [get, list, watch, patch]\n"); got != (args != nil) {
			t.Errorf("%q: %v", args, got)
		}
	}
}

// Whoever runs it for one namespace gives it no right to others.
func TestManifestsOfOneNamespace(t *testing.T) {
	all, text := manifestsOf(t, "--namespace", "team", "--history-namespace", "kept", "--leader-election-namespace", "ours", "--clone-priority-class", "low",
		"--probe-address", "0", "--winners=false", "--lost-node-after=0")
	want := []string{"ServiceAccount tailcut-controller ours", "Role tailcut-controller-jobs team", "RoleBinding tailcut-controller-jobs team",
		"Role tailcut-controller ours", "RoleBinding tailcut-controller ours", "Role tailcut-controller-history kept", "RoleBinding tailcut-controller-history kept",
		"NetworkPolicy tailcut-controller ours", "PodDisruptionBudget tailcut-controller ours", "Deployment tailcut-controller ours"}
	if got := named(all); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if c := all[len(all)-1].Spec.Template.Spec.Containers[0]; c.Ports != nil || c.LivenessProbe != nil || strings.Contains(text, "JOB-winners") {
		t.Errorf("%+v", c)
	}
	all, _ = manifestsOf(t, "--history-namespace=", "--clone-priority-class=", "--metrics-address=127.0.0.1:9", "--namespace=team")
	if !slices.Contains(named(all), "ClusterRole tailcut-controller-nodes-tailcut-system") {
		t.Error(named(all))
	}
	for _, name := range named(all) {
		if strings.Contains(name, "history") || strings.Contains(name, "metrics") || strings.Contains(name, "Priority") {
			t.Error(name)
		}
	}
}

// Two installations, each for a namespace of its own, share no object: whoever upgrades or uninstalls one of them leaves
// the other its rights.
func TestManifestsOfTwoNamespaces(t *testing.T) {
	a, _ := manifestsOf(t, "--namespace=a", "--leader-election-namespace=a", "--metrics-address=:9")
	b, _ := manifestsOf(t, "--namespace=b", "--leader-election-namespace=b", "--metrics-address=:9")
	if len(a) < 12 || len(a) != len(b) {
		t.Fatalf("%q, %q", named(a), named(b))
	}
	for _, name := range named(a) {
		if slices.Contains(named(b), name) {
			t.Errorf("both have %s", name)
		}
	}
}

// object is what the tests look at of how manifests refer to each other.
type object struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	RoleRef  struct{ Kind, Name string } `yaml:"roleRef"`
	Subjects []struct{ Kind, Name, Namespace string }
	Rules    []struct {
		Resources, Verbs []string
		URLs             []string `yaml:"nonResourceURLs"`
	}
	Spec struct {
		PodSelector struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		} `yaml:"podSelector"`
		Selector struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		}
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				ServiceAccountName string `yaml:"serviceAccountName"`
				Containers         []struct{ Args []string }
			}
		}
	}
}

// All that the manifests refer to is among them, or is every cluster's. With --namespace no right to what is in
// namespaces goes beyond that one and the controller's own. And the controller takes the flags that its Deployment has.
func TestManifestsFit(t *testing.T) {
	for _, args := range [][]string{
		nil, {"--namespace=team"}, {"--namespace=team", "--metrics-address=:9", "--history-namespace=kept", "--leader-election-namespace=ours"},
		{"--namespace=tailcut-system", "--history-namespace=", "--clone-priority-class=low", "--winners=false", "--lost-node-after=0"},
	} {
		_, text := manifestsOf(t, args...)
		var all []object
		there := map[string]bool{"ClusterRole system:auth-delegator ": true}
		for part := range strings.SplitSeq(text, "\n---\n") {
			var o object
			if err := yaml.Unmarshal([]byte(part), &o); err != nil {
				t.Fatal(err)
			}
			all = append(all, o)
			there[o.Kind+" "+o.Metadata.Name+" "+o.Metadata.Namespace] = true
		}
		d := all[len(all)-1]
		labels := d.Spec.Template.Metadata.Labels
		fits := func(selector map[string]string) bool {
			for k, v := range selector {
				if labels[k] != v {
					return false
				}
			}
			return len(selector) > 0
		}
		for _, o := range all {
			name := o.Kind + " " + o.Metadata.Name
			wide := slices.Contains([]string{"CustomResourceDefinition", "Namespace", "PriorityClass", "ClusterRole", "ClusterRoleBinding"}, o.Kind)
			if wide == (o.Metadata.Namespace != "") {
				t.Errorf("%q: %s is in namespace %q", args, name, o.Metadata.Namespace)
			}
			if ref := o.RoleRef; ref.Kind != "" {
				in := o.Metadata.Namespace
				if ref.Kind == "ClusterRole" {
					in = ""
				}
				if !there[ref.Kind+" "+ref.Name+" "+in] {
					t.Errorf("%q: %s refers to %s %s", args, name, ref.Kind, ref.Name)
				}
			}
			for _, s := range o.Subjects {
				if !there[s.Kind+" "+s.Name+" "+s.Namespace] {
					t.Errorf("%q: %s is for %s %s in %s", args, name, s.Kind, s.Name, s.Namespace)
				}
			}
			for _, r := range o.Rules {
				if o.Kind == "ClusterRole" && args != nil && !slices.Equal(r.Resources, []string{"nodes"}) && r.URLs == nil {
					t.Errorf("%q: %s gives a right to %v everywhere", args, name, r.Resources)
				}
			}
			if o.Kind == "NetworkPolicy" && !fits(o.Spec.PodSelector.MatchLabels) || (o.Kind == "PodDisruptionBudget" || o.Kind == "Deployment") && !fits(o.Spec.Selector.MatchLabels) {
				t.Errorf("%q: %s does not select the controller", args, name)
			}
		}
		if d.Kind != "Deployment" || !there["ServiceAccount "+d.Spec.Template.Spec.ServiceAccountName+" "+d.Metadata.Namespace] {
			t.Errorf("%q: %s runs as %q", args, d.Kind, d.Spec.Template.Spec.ServiceAccountName)
		}
		if _, again := manifestsOf(t, d.Spec.Template.Spec.Containers[0].Args...); again != text {
			t.Errorf("%q: with the Deployment's flags there are other manifests", args)
		}
		if !strings.Contains(text, "kind: Namespace\n") != slices.Contains(args, "--leader-election-namespace=ours") {
			t.Errorf("%q: the manifests bring a namespace along that is not theirs, or lack their own", args)
		}
	}
}

// What a flag says is a string in YAML, whatever it looks like.
func TestManifestsQuote(t *testing.T) {
	for _, text := range []string{"a: b", "{x}", "yes", "1", "# c", "a\nb", "--policy=fork:p=0.1,r=2", "\"", "x/y:1", "null", "{{.Values}}"} {
		all, _ := manifestsOf(t, "--image", text)
		if got := all[len(all)-1].Spec.Template.Spec.Containers[0].Image; got != text {
			t.Errorf("%q is printed as %q", text, got)
		}
	}
}
