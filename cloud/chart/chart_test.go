package chart

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The chart is of the version that the module requires, which is the one to come.
func TestVersion(t *testing.T) {
	text, err := files.ReadFile("Chart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var about struct {
		Version    string
		AppVersion string `yaml:"appVersion"`
	}
	if err := yaml.Unmarshal(text, &about); err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`(?m)^\s*github\.com/tailcut/tailcut v(\S+)$`).FindStringSubmatch(string(module))
	if len(want) != 2 || about.Version != want[1] || about.AppVersion != want[1] {
		t.Errorf("chart %s of tailcut %s; cloud/go.mod requires %v", about.Version, about.AppVersion, want)
	}
}

// What Helm gives as values: numbers and booleans, and what goes through to the pod. Without an image there is nothing.
func TestRender(t *testing.T) {
	var out strings.Builder
	err := Render(&out, "ours", map[string]any{
		"image": "x", "replicas": 1, "metricsPort": 0, "probePort": 0,
		"flags": map[string]any{"max-clones": float64(2000000), "winners": false, "history-namespace": ""},
		"pod":   map[string]any{"hostNetwork": true, "nodeSelector": map[string]any{"a": "b"}},
	}, Controller)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"--max-clones=2000000"`, `"--winners=false"`, `"--history-namespace="`, `"--metrics-address=0"`, `"--probe-address=0"`, "hostNetwork: true\n", `nodeSelector: {"a":"b"}`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in:\n%s", want, &out)
		}
	}
	for _, not := range []string{"kind: Namespace", "tailcut-controller-history", "JOB-winners", "readinessProbe", "containerPort"} {
		if strings.Contains(out.String(), not) {
			t.Errorf("%s in:\n%s", not, &out)
		}
	}
	if err := Render(&out, "ours", nil, Controller); err == nil || !strings.Contains(err.Error(), "image: the controller's") {
		t.Error(err)
	}
}
