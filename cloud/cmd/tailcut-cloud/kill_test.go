package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An engine is killed after _SUCCESS is written and before it has tidied up: while it reads the history, which is a pipe
// into which nobody writes. The same command finishes that.
func TestKilledBeforeTidying(t *testing.T) {
	bin, dir := t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/tailcut/tailcut/cmd/tailcut").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "tailcut-cloud")); err != nil {
		t.Fatal(err)
	}
	past, out := filepath.Join(dir, "past"), filepath.Join(dir, "out")
	if err := os.Mkdir(past, 0o777); err != nil {
		t.Fatal(err)
	}
	history := filepath.Join(past, "nightly.json")
	if err := syscall.Mkfifo(history, 0o666); err != nil {
		t.Fatal(err)
	}
	command := func(stdout, stderr *bytes.Buffer) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, "tailcut"), "run", "--tasks", "3", "--name", "nightly", "--history", past, "--output", "file://"+out,
			"--", "sh", "-c", "echo {} >$TAILCUT_OUTPUT/f; echo {}")
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir)
		cmd.Stdout, cmd.Stderr = stdout, stderr
		return cmd
	}
	var said bytes.Buffer
	first := command(&said, &said)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = first.Process.Kill() })
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(out, "_SUCCESS")); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("no result: %s", said.String())
		}
	}
	_ = first.Process.Kill()
	if err := first.Wait(); err == nil {
		t.Fatalf("the engine has come to its end: %s", said.String())
	}
	left := func() []string {
		names, _ := filepath.Glob(filepath.Join(out, "_tailcut", "*", "*"))
		return names
	}
	if len(left()) == 0 {
		t.Fatal("it had tidied up")
	}
	if err := os.Remove(history); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var stdout, stderr bytes.Buffer
		if err := command(&stdout, &stderr).Run(); err != nil {
			t.Fatalf("%v: %s", err, stderr.String())
		}
		if !strings.Contains(stdout.String(), "succeeded in ") || !strings.Contains(stderr.String(), "holds the finished result of this command") {
			t.Errorf("it says: %s%s", stdout.String(), stderr.String())
		}
		if names := left(); len(names) > 0 {
			t.Errorf("left of the run: %v", names)
		}
		text, err := os.ReadFile(history)
		if n := strings.Count(string(text), `"id"`); err != nil || n != 1 {
			t.Errorf("the history has the run %d times, %v; want it once", n, err)
		}
	}
}
