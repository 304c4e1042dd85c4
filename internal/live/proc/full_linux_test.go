package proc

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// An attempt that fails on a full disk cannot say why in a file there. The reason is told all the same.
func TestFullDiskIsNamed(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no small disk can be made here: %v", err)
	}
	defer func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }()
	e := &Executor{cfg: Config{Folders: Folders{Root: dir, Run: "r"}}}
	if err := os.MkdirAll(e.cfg.Folders.attempts(), 0o777); err != nil {
		t.Fatal(err)
	}
	if got, full := e.fullDisk("exit status 1"); full || got != "exit status 1" {
		t.Errorf("with room: %q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 2<<20), 0o666); err == nil {
		t.Fatal("the disk takes twice what it has")
	}
	if got, full := e.fullDisk("exit status 1"); !full || !strings.HasPrefix(got, "exit status 1; write "+dir) || !strings.HasSuffix(got, ": no space left on device") {
		t.Errorf("without: %q", got)
	}
	if got, full := e.fullDisk("exit status 1: sort: No space left on device"); !full || strings.Contains(got, ";") {
		t.Errorf("said twice: %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(e.cfg.Folders.attempts(), "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
