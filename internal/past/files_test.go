package past

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

func TestFileOfDurations(t *testing.T) {
	path := Files{Folder: t.TempDir()}.FileOf("a/../b c")
	for run := range 3 {
		past, err := ReadFile(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		past.Add("b c", "", []string{"map"}, [][]sched.Time{{sched.Time(run) * sched.Second}}, make([][]sched.Time, 1))
		if err := WriteFile(t.Context(), path, past); err != nil {
			t.Fatal(err)
		}
	}
	past, err := ReadFile(t.Context(), path)
	if err != nil || len(past.Runs) != 3 {
		t.Errorf("%+v, %v", past, err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".new-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := os.WriteFile(path, []byte(`{"schema":"tailcut.history/v2"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(t.Context(), path); err == nil || !strings.HasPrefix(err.Error(), path+": field schema: ") {
		t.Error(err)
	}
}
