package proc

import (
	"os"
	"path/filepath"
	"testing"
)

// A process in the middle of execve has neither arguments nor environment: it may have the mark that is looked for.
func TestChangesProgram(t *testing.T) {
	for name, c := range map[string]struct {
		exe, args, stat string
		want            bool
	}{
		"in execve":                        {"/bin/sh", "", "7 (a) b) R 1 7 7", true},
		"in execve, waiting for the disk":  {"/bin/sh", "", "7 (sh) D 1 7 7", true},
		"computes, without an environment": {"/bin/sh", "sh\x00", "7 (sh) R 1 7 7", false},
		"has wiped its arguments":          {"/bin/sh", "", "7 (sh) S 1 7 7", false},
		"of the kernel":                    {"", "", "7 (kworker/0:1) R 2 0 0", false},
		"a zombie":                         {"", "", "7 (sh) Z 1 7 7", false},
		"gone meanwhile":                   {"/bin/sh", "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.exe != "" {
				if err := os.Symlink(c.exe, filepath.Join(dir, "exe")); err != nil {
					t.Fatal(err)
				}
			}
			for file, text := range map[string]string{"cmdline": c.args, "stat": c.stat} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if got := changesProgram(dir); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
