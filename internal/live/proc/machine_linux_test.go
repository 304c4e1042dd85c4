package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

const (
	meminfo = "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    600 kB\n"
	procs   = "cpu  1 2 3\nintr 12345 0 0 0\nprocs_running 4\nprocs_blocked 2\n"
)

// What is free is that of the machine, or of the narrowest cgroup around the program.
func TestReadMachine(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  live.Reading
		wrong string
	}{
		"no cgroup": {nil, live.Reading{Total: 1000 << 10, Free: 600 << 10, Load: 5}, ""},
		"version 2": {map[string]string{
			"proc/self/cgroup":                       "0::/a/b\n",
			"sys/fs/cgroup/a/memory.max":             "409600\n",
			"sys/fs/cgroup/a/memory.current":         "204800\n",
			"sys/fs/cgroup/a/memory.stat":            "anon 5\ninactive_file 102400\n",
			"sys/fs/cgroup/a/b/memory.max":           "max\n",
			"sys/fs/cgroup/a/b/memory.current":       "1\n",
			"sys/fs/cgroup/unified/a/memory.max":     "1\n",
			"sys/fs/cgroup/unified/a/memory.current": "1\n",
		}, live.Reading{Total: 409600, Free: 307200, Load: 5}, ""},
		"version 1": {map[string]string{
			"proc/self/cgroup": "3:cpu,memory:/x\n0::/\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "300000\n",
			"sys/fs/cgroup/memory/x/memory.usage_in_bytes": "400000\n", // as when the limit was lowered
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   "9223372036854771712\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes":   "400000\n",
		}, live.Reading{Total: 300000, Free: 0, Load: 5}, ""},
		"nonsense": {map[string]string{
			"proc/self/cgroup":             "\n:\n0::/..\nx:memory\n",
			"sys/fs/cgroup/memory.max":     "-5\n",
			"sys/fs/cgroup/memory.current": "a\n",
		}, live.Reading{Total: 1000 << 10, Free: 600 << 10, Load: 5}, ""},
		"an old kernel": {map[string]string{"proc/meminfo": "MemTotal: 5 kB\n"}, live.Reading{}, "/proc/meminfo has no MemAvailable: this needs Linux 3.14 or later"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write := func(path, text string) {
				t.Helper()
				path = filepath.Join(root, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			write("proc/meminfo", meminfo)
			write("proc/stat", procs)
			for path, text := range c.files {
				write(path, text)
			}
			got, err := readMachine(root)
			if c.wrong != "" && (err == nil || err.Error() != c.wrong) || c.wrong == "" && (err != nil || got != c.want) {
				t.Errorf("got %+v, %v; want %+v, %s", got, err, c.want, c.wrong)
			}
		})
	}
	x, err := ReadMachine() // this one
	if err != nil || x.Free < 1<<20 || x.Total < x.Free {
		t.Errorf("this machine: %+v, %v", x, err)
	}
}

// The processes of an attempt may have so much memory together. What they share counts once.
func TestMemoryLimit(t *testing.T) {
	limits := func(n int64) func(*Config) {
		return func(c *Config) { c.Limits = []jobfile.Limits{{Memory: n}} }
	}
	// each shell fills some 30 MB and keeps them for a while; another forks them
	two := func(seconds int) string {
		return fmt.Sprintf(`for i in 1 2; do sh -c 'x=$(head -c 30000000 /dev/zero | tr "\0" x); sleep %d; echo ${#x}' & done; wait`, seconds)
	}
	r := newRig(t, limits(20<<20), two(30)) // a busy machine may look late
	if rep := r.end(r.begin(0, 0, 0)); rep.Kind != sched.AttemptFailed || !strings.HasPrefix(rep.Note, "used ") ||
		!strings.HasSuffix(rep.Note, "MiB of memory, more than the 20MiB that memory allows; raise it with --memory or in the job file") {
		t.Errorf("report %+v", rep)
	}
	r = newRig(t, limits(2<<30), two(1))
	a := r.begin(0, 0, 0)
	if rep := r.end(a); rep.Kind != sched.AttemptDone {
		t.Errorf("report %+v", rep)
	}
	if got := strings.Count(string(r.output[a.ID]), "30000000"); got != 2 {
		t.Errorf("output %q", r.output[a.ID])
	}
}

// A look that has to wait for a processor costs no more than one that has not: else a busy machine would be looked at
// less often.
func TestThreadTime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	time.Sleep(300 * time.Millisecond)
	if waited := threadTime() - before; waited > 100*time.Millisecond {
		t.Errorf("waiting took %v of a processor", waited)
	}
	for start := time.Now(); threadTime() == before && time.Since(start) < 10*time.Second; {
	}
	if threadTime() == before {
		t.Error("work takes nothing of a processor")
	}
}

// Looking at all processes must not take long: it is done ten times a second.
func TestResidentNowIsQuick(t *testing.T) {
	start := time.Now()
	for range 10 {
		if residentNow()[syscall.Getpgrp()] == nil {
			t.Fatal("this process is not among them")
		}
	}
	t.Logf("%v each", time.Since(start)/10)
}
