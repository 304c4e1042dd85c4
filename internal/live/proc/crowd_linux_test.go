package proc

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// A child's threads are the family's.
func TestFamilyThreads(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if s := readStatus(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)); s != (status{uid: os.Getuid(), parent: os.Getpid(), threads: 1}) {
		t.Errorf("a child: %+v", s)
	}
	if own := ownThreads(); familyThreads() <= own {
		t.Errorf("%d threads of its own are all, with a child", own)
	}
}
