package workload

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What can be read once only, stdin or a pipe, may be a log or a workload, also a compressed one.
func TestStreams(t *testing.T) {
	const lines = "0 1 1 1\n5 2 1 1 4\n"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(sparkLog)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		name, text  string
		jobs, tasks int
	}{
		{"a workload", lines, 2, 3},
		{"a workload beyond the beginning", lines + strings.Repeat("9 1 1 1\n", beginning/4), 2 + beginning/4, 3 + beginning/4},
		{"a log", sparkLog, 1, 2}, // a task and its driver
		{"a log in gzip", packed.String(), 1, 2},
	} {
		w, _, err := load(t, Source{}, "-", c.text)
		if err != nil || len(w.Jobs) != c.jobs || w.Tasks() != c.tasks || w.Name != "stdin" {
			t.Errorf("%s on stdin: %v", c.name, err)
		}
		go func() { _ = os.WriteFile(pipe, []byte(c.text), 0) }()
		w, _, err = load(t, Source{}, pipe, "")
		if err != nil || len(w.Jobs) != c.jobs || w.Tasks() != c.tasks || w.Name != pipe {
			t.Errorf("%s in a pipe: %v", c.name, err)
		}
	}
	if _, _, err := load(t, Source{}, "-", strings.ReplaceAll(sparkLog, "Success", "ExceptionFailure")); err == nil ||
		err.Error() != "stdin: expected tasks that have succeeded, and when they began" {
		t.Errorf("nothing to play: %v", err)
	}
	if _, _, err := load(t, Source{}, "-", ""); err == nil || err.Error() != "stdin: expected at least one job, found none" {
		t.Errorf("empty: %v", err)
	}
}

// A pipe in a folder of logs is none of them: nobody waits for a writer.
func TestPipeInFolder(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "app-1"), []byte(sparkLog), 0o600); err != nil {
		t.Fatal(err)
	}
	w, notes, err := load(t, Source{}, dir, "")
	if err != nil || len(w.Jobs) != 1 || !strings.Contains(strings.Join(notes, "\n"), "skipped 1 file that") {
		t.Errorf("%v, %q, %v", w, notes, err)
	}
}
