//go:build linux

package proc

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tailcut/tailcut/internal/jobfile"
)

// put makes a file with nothing in it, and the folders above it.
func put(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// A path is a path, and no pattern.
func TestTidyOnlyOwn(t *testing.T) {
	dir := t.TempDir()
	mine, other := Folders{Root: filepath.Join(dir, "part[1]", "private")}, Folders{Root: filepath.Join(dir, "part1", "private")}
	unclosed := Folders{Root: filepath.Join(dir, "out[", "private")}
	for _, f := range []Folders{mine, other, unclosed} {
		put(t, filepath.Join(f.Done(0, 0), jobfile.StdoutName))
	}
	for _, f := range []Folders{mine, unclosed} {
		if err := f.Tidy(); err != nil {
			t.Error(err)
		}
		if exists(f.Done(0, 0)) {
			t.Errorf("%s is still there", f.Done(0, 0))
		}
	}
	if !exists(filepath.Join(other.Done(0, 0), jobfile.StdoutName)) {
		t.Error("the result of another run is gone")
	}
}

// tidyAsNobody runs Tidy as a user who may not do everything.
func tidyAsNobody(t *testing.T, root string) error {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "tidy", root)
	if os.Geteuid() == 0 {
		const nobody = 65534
		if err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Name() != "foreign" {
				err = os.Chown(path, nobody, nobody)
			}
			return err
		}); err != nil {
			t.Skip(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	said, err := cmd.CombinedOutput()
	if text := strings.TrimSpace(string(said)); text != "" {
		return errors.New(text)
	}
	return err
}

// openRoot returns a folder that others may enter.
func openRoot(t *testing.T) string {
	t.Helper()
	root, err := os.MkdirTemp("", "tailcut")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

// Attempts leave folders that may not be written to, or not even be looked into.
func TestTidyReadOnly(t *testing.T) {
	root := openRoot(t)
	f := Folders{Root: root}
	for _, path := range []string{filepath.Join(f.Done(0, 0), jobfile.FilesName, "a", "b", "x"), filepath.Join(f.attempts(), "0-00001.0", "c", "x")} {
		put(t, path)
		if err := errors.Join(os.Chmod(filepath.Dir(path), 0o555), os.Chmod(filepath.Dir(filepath.Dir(path)), 0)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tidyAsNobody(t, root); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A Tidy that is cut short leaves no result of which a part is missing.
func TestTidyCutShort(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make files that the engine cannot remove")
	}
	root := openRoot(t)
	f := Folders{Root: root}
	put(t, filepath.Join(f.Done(0, 0), jobfile.FilesName, "foreign", "x"))
	put(t, filepath.Join(f.Done(0, 0), jobfile.StdoutName))
	if err := tidyAsNobody(t, root); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("Tidy says %v", err)
	}
	if exists(f.DoneStage(0)) {
		t.Error("a result is there of which a part is missing")
	}
	if err := f.Tidy(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
