//go:build long && linux

package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestTenMillionTasks loads ten million tasks of several formats, each in a process of its own, and looks at how much memory that had at its peak.
func TestTenMillionTasks(t *testing.T) {
	if path := os.Getenv("TAILCUT_TEST_LOAD"); path != "" {
		w, err := Load(path, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		if n := w.Tasks(); n < 10_000_000 {
			t.Fatalf("%d tasks", n)
		}
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		_, peak, _ := strings.Cut(string(status), "VmHWM:")
		fmt.Println("peak", strings.Fields(peak)[0])
		return
	}
	dir := t.TempDir()
	w, err := Synthesize("synth:jobs=100000;tasks=100;law=lognormal:mean=100,sd=200;arrivals=poisson:rate=1", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		write func(io.Writer, *Workload) error
	}{
		{"jobs.tr", WriteTR}, {"jobs.tr.zst", WriteTR}, {"jobs.jsonl", WriteJSONLines}, {"jobs.csv.zst", WriteCSV},
		{"task_events.csv.zst", writeTaskEvents}, {"batch_task.csv", writeBatchTasks},
	} {
		path := filepath.Join(dir, c.name)
		size := writeFile(t, path, func(out io.Writer) error { return c.write(out, w) })
		checkPeak(t, path, size)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	checkPeak(t, "synth:google;jobs=90000", 0)
	runtime.KeepAlive(w)
}

// checkPeak loads a workload in a process of its own.
func checkPeak(t *testing.T, path string, size int64) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestTenMillionTasks$")
	cmd.Env = append(os.Environ(), "TAILCUT_TEST_LOAD="+path)
	out, err := cmd.CombinedOutput()
	var peak int64 // kB
	if _, scanned := fmt.Sscanf(string(out), "peak %d", &peak); err != nil || scanned != nil {
		t.Errorf("%s: %v, %v\n%s", path, err, scanned, out)
		return
	}
	peak *= 1024
	seconds := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	t.Logf("%s: peak %d MB; %.1f s of CPU, %.2f million tasks/s, %.0f MB/s of text", filepath.Base(path), peak/1e6, seconds, 10/seconds,
		float64(size)/1e6/seconds)
	if peak >= 1e9 {
		t.Errorf("%s: ten million tasks took %d MB at the peak, want less than 1,000", path, peak/1e6)
	}
}

// writeFile creates a file, compressed if its name says so, and returns the size of the text.
func writeFile(t *testing.T, path string, write func(io.Writer) error) (size int64) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := io.WriteCloser(file)
	if filepath.Ext(path) == ".zst" {
		if out, err = zstd.NewWriter(file, zstd.WithEncoderLevel(zstd.SpeedFastest)); err != nil {
			t.Fatal(err)
		}
	}
	n := &counter{w: out}
	b := bufio.NewWriterSize(n, 1<<20)
	err = errors.Join(write(b), b.Flush(), out.Close())
	if out != io.WriteCloser(file) {
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return n.n
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.w.Write(p)
}

// writeTaskEvents writes the events of a task table in which a job's tasks begin together and end in order of index.
func writeTaskEvents(out io.Writer, w *Workload) error {
	now := int64(1)
	for j := range w.Jobs {
		for kind := range 3 {
			for i := range w.TasksOf(j) {
				now++
				if _, err := fmt.Fprintf(out, "%d,,%d,%d,17,%d,u,0,9,0.1,0.1,0.1,0\n", now, 6_000_000_000+j, i, []int{0, 1, 4}[kind]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// writeBatchTasks writes a table of stages of ten instances, as Alibaba does.
func writeBatchTasks(out io.Writer, w *Workload) error {
	for j := range w.Jobs {
		at := int(w.Jobs[j].Arrival.Seconds())
		for i := range w.TasksOf(j) / 10 {
			name := fmt.Sprintf("M%d", i+1)
			if i > 0 {
				name = fmt.Sprintf("R%d_%d", i+1, i)
			}
			if _, err := fmt.Fprintf(out, "%s,10,j_%d,1,Terminated,%d,%d,100,0.3\n", name, j, at, at+5+i); err != nil {
				return err
			}
		}
	}
	return nil
}
