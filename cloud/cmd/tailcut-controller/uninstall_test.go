package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// jobs are what kubectl prints of a cluster with Jobs of ours and of others.
const jobs = `{"apiVersion": "v1", "kind": "List", "items": [
	{"kind": "Job", "metadata": {"name": "report", "namespace": "team"}, "spec": {"managedBy": "tailcut.dev/controller"}},
	{"kind": "Job", "metadata": {"name": "other", "namespace": "team"}, "spec": {"managedBy": "example.org/other"}},
	{"kind": "Job", "metadata": {"name": "plain", "namespace": "team"}, "spec": {}},
	{"kind": "Job", "metadata": {"name": "nightly-29", "namespace": "batch"}, "spec": {"managedBy": "tailcut.dev/controller"}}
]}`

// The commands with which docs/howto/kubernetes.md uninstalls the controller delete its Jobs, wait for their pods, and then
// delete what the manifests hold.
func TestUninstallAsDocumented(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip(err)
	}
	text, err := os.ReadFile("../../../docs/howto/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Uninstall\n")
	var script []string
	for line := range strings.Lines(section) {
		if command, ok := strings.CutPrefix(line, "    "); ok {
			script = append(script, command)
		} else if len(script) > 0 {
			break
		}
	}
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	for name, does := range map[string]string{
		"kubectl":            `case "$1 $2" in "get jobs") cat "$JOBS";; "delete -f") echo "$@" "$(head -1)" >>"$LOG";; *) echo "$@" >>"$LOG";; esac`,
		"tailcut-controller": `echo manifests of "$@"`,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+does+"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	list := filepath.Join(bin, "jobs")
	if err := os.WriteFile(list, []byte(jobs), 0o666); err != nil {
		t.Fatal(err)
	}
	sh := exec.Command("sh", "-ec", strings.Join(script, ""))
	sh.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "LOG="+log, "JOBS="+list)
	if out, err := sh.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	said, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"delete job --cascade=foreground -n team report", "delete job --cascade=foreground -n batch nightly-29", "delete -f - manifests of --print-manifests=controller", "",
	}
	if got := strings.Split(string(said), "\n"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
