package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// children returns how many children a process has, and how many of them are zombies, from fields 3 and 4 of all stats.
func children(parent int) (all, zombies int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, _ := os.ReadFile(path)
		_, rest, _ := bytes.Cut(stat, []byte(") "))
		var state string
		var ppid int
		if _, err := fmt.Sscan(string(rest), &state, &ppid); err != nil || ppid != parent {
			continue
		}
		all++
		if state == "Z" {
			zombies++
		}
	}
	return all, zombies
}

// As the first process of a container tailcut takes orphans off the system's list, hands on signals and ends as the engine does.
func TestFirstProcess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := `for i in 1 2 3 4 5; do sh -c 'sleep 0.01 &'; done; sleep 0.2; touch ready; sleep 100`
	var said bytes.Buffer
	cmd := &exec.Cmd{
		Path: self, Args: []string{"tailcut", "run", "--tasks", "1", "--output", "out", "--", "sh", "-c", script}, Dir: dir,
		Stdout: &said, Stderr: &said, SysProcAttr: &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID},
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no process namespace: %v", err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	eventually := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				t.Fatalf("never: %s; it said %s", what, &said)
			}
		}
	}
	eventually("the attempt ran", func() bool { _, err := os.Stat(filepath.Join(dir, "ready")); return err == nil })
	eventually("an engine and no zombies", func() bool { all, zombies := children(cmd.Process.Pid); return all == 1 && zombies == 0 })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != exitInterrupted || !bytes.Contains(said.Bytes(), []byte("Rerun the same command to resume")) {
		t.Errorf("exit status %d; it said %s", status, &said)
	}
}
