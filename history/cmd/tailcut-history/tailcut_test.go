package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The real tailcut keeps its runs in the real database, and plans and simulates from it; without the program it says
// how to get it.
func TestTailcut(t *testing.T) {
	if testing.Short() {
		t.Skip("builds tailcut")
	}
	folder := install(t)
	tailcut := filepath.Join(t.TempDir(), "tailcut")
	if out, err := exec.Command("go", "build", "-o", tailcut, "github.com/tailcut/tailcut/cmd/tailcut").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dir := t.TempDir()
	call := func(fails bool, args ...string) (stdout, stderr string) {
		t.Helper()
		cmd := exec.Command(tailcut, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "TAILCUT_ADVICE=off", "TAILCUT_SERVER=", "XDG_RUNTIME_DIR="+dir)
		var out, said strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &said
		if err := cmd.Run(); (err != nil) != fails {
			t.Fatalf("tailcut %v: %v\n%s", args, err, &said)
		}
		return out.String(), said.String()
	}
	for _, out := range []string{"one", "two", "two"} { // the second time it is finished
		call(false, "run", "--name", "nightly-"+out[:1], "--history", folder, "--tasks", "12", "--slots", "4", "--policy", "fifo", "--output", out, "--", "sh", "-c", "sleep 0.0{}")
	}
	var got struct {
		Summary []struct {
			Policy string  `json:"policy"`
			Mean   float64 `json:"mean_flow_seconds"`
			Met    float64 `json:"deadline_met_ratio"`
		} `json:"summary"`
		Workload struct{ Jobs, Tasks int } `json:"workload"`
	}
	text, said := call(false, "simulate", "--from-history", "nightly-*", "--history", folder, "--last", "1d", "--policy", "fifo,srpt", "--deadline", "1h", "--format", "json")
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Workload.Jobs != 2 || got.Workload.Tasks != 24 || len(got.Summary) != 2 || got.Summary[0].Mean < 0.05 || got.Summary[0].Mean > 5 || got.Summary[1].Met != 1 {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(said, "nightly-*: 2 jobs, submitted from ") || !strings.Contains(said, "under fifo on 4 slots") {
		t.Errorf("said %s", said)
	}
	if text, said = call(false, "plan", "fork", "--from-history", "nightly-o", "--history", folder); !strings.Contains(text, "12 tasks, a machine for each, resampled from 12 durations") {
		t.Errorf("%s\n%s", text, said)
	}
	if text, said = call(false, "plan", "explain", "--from-history", "nightly-*", "--history", folder); !strings.Contains(text, "nightly-*") || !strings.Contains(said, "durations of its last 2 runs") {
		t.Errorf("%s\n%s", text, said)
	}
	for want, args := range map[string][]string{
		"no job named other":           {"simulate", "--from-history", "other", "--history", folder},
		"--last: expected a span such": {"simulate", "--from-history", "nightly-o", "--history", folder, "--last", "tomorrow"},
		"not both":                     {"plan", "fork", "--from-history", "nightly-o", "x.txt"},
		"--deadline: works with":       {"simulate", "x.tr", "--machines", "2", "--deadline", "1h"},
	} {
		if _, said := call(true, args...); !strings.Contains(said, want) || strings.Count(said, "\n") != 1 {
			t.Errorf("tailcut %v says %s", args, said)
		}
	}
	t.Setenv("PATH", "/usr/bin:/bin")
	call(false, "run", "--name", "nightly-o", "--history", folder, "--tasks", "12", "--slots", "4", "--output", "three", "--", "true")
	if _, said := call(true, "simulate", "--from-history", "nightly-o", "--history", folder); !strings.Contains(said, "go install github.com/tailcut/tailcut/history/cmd/tailcut-history@latest") {
		t.Error(said)
	}
	call(false, "plan", "fork", "--from-history", "nightly-o", "--history", folder) // from the file
}
