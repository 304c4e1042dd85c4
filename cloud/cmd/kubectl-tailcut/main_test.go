package main

import (
	"os"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v3"
)

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args, out, err string
		status         int
	}{
		{"--help", "kubectl tailcut why", "", 0},
		{"why", "", "expected the name of a pod", 2},
		{"explain report", "", "expected job NAME", 2},
		{"explain job", "", "expected job NAME", 2},
		{"why p --kubeconfig testdata/none", "", "testdata/none", 1},
		{"page --help", "any that is free", "", 0},
		{"page --listen 0.0.0.0:80", "", "--listen: expected a loopback address and a port such as 127.0.0.1:8080, not \"0.0.0.0:80\"", 2},
		{"page --listen localhost", "", "expected a loopback address", 2},
		{"page batch", "", "batch", 2},
		{"page --kubeconfig testdata/none", "", "testdata/none", 1},
		{"explain job/report --kubeconfig testdata/none", "", "testdata/none", 1},
	} {
		var out, err strings.Builder
		if status := run(strings.Fields(c.args), &out, &err); status != c.status || !strings.Contains(out.String(), c.out) || !strings.Contains(err.String(), c.err) {
			t.Errorf("%s: status %d, stdout %q, stderr %q", c.args, status, &out, &err)
		}
	}
}

// Krew's manifest is YAML once a release has filled it in, and names archives as .goreleaser.yaml does.
func TestKrew(t *testing.T) {
	text, err := os.ReadFile("../../../.krew.yaml")
	if err != nil {
		t.Fatal(err)
	}
	filled := template.Must(template.New("krew").Funcs(template.FuncMap{"addURIAndSha": func(uri, tag string) string {
		return "uri: " + uri + "\n    sha256: 0"
	}}).Parse(string(text)))
	var out strings.Builder
	if err := filled.Execute(&out, map[string]string{"TagName": "v1.2.3"}); err != nil {
		t.Fatal(err)
	}
	var plugin struct {
		Spec struct {
			Version   string
			Platforms []struct {
				Selector struct {
					MatchLabels struct{ OS, Arch string } `yaml:"matchLabels"`
				}
				URI, SHA256, Bin string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(out.String()), &plugin); err != nil {
		t.Fatal(err)
	}
	if plugin.Spec.Version != "v1.2.3" || len(plugin.Spec.Platforms) != 4 {
		t.Errorf("%+v", plugin)
	}
	for _, p := range plugin.Spec.Platforms {
		want := "/v1.2.3/tailcut-cloud_1.2.3_" + p.Selector.MatchLabels.OS + "_" + p.Selector.MatchLabels.Arch + ".tar.gz"
		if !strings.HasSuffix(p.URI, want) || p.SHA256 == "" || p.Bin != "kubectl-tailcut" {
			t.Errorf("%+v, want %s", p, want)
		}
	}
}
