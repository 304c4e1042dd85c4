package mapreduce

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// TestUnreadable asks for files without the right to, at planning and when an attempt runs. Root may read all, so the
// thread takes another user's identity for file access; it ends with its goroutine, which stays locked to it.
func TestUnreadable(t *testing.T) {
	dir := makeInput(t, map[string]string{"open/f": "x\n", "closed/f": "x\n"})
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file, folder := filepath.Join(dir, "open", "f"), filepath.Join(dir, "closed")
	plan, err := NewPlan(t.Context(), Request{Operator: Operator{Name: "wordcount"}, Inputs: []string{file}, Reducers: 1})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := plan.Attempt(0, 0, nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(folder, 0o755)
	var errs [3]error
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if os.Geteuid() == 0 {
			if err := syscall.Setfsuid(65534); err != nil {
				done <- err
				return
			}
		}
		_, errs[0] = ListInputs(t.Context(), []string{dir + "/open"})
		_, errs[1] = ListInputs(t.Context(), []string{folder})
		errs[2] = (&worker{ctx: t.Context(), spec: spec, meter: &meter{}}).pieces(nil, nil)
		done <- nil
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	oneLine(t, "file at planning", errs[0], file, "permission denied")
	oneLine(t, "folder at planning", errs[1], folder, "permission denied")
	oneLine(t, "file at the attempt", errs[2], file, "permission denied")
}
