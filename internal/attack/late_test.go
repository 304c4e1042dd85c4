//go:build linux

package attack

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// await waits until a pattern matches something.
func await(t *testing.T, pattern string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if names, _ := filepath.Glob(pattern); len(names) > 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", pattern)
		}
	}
}

// started starts the tool, which is killed at the end of the test at the latest.
func started(t *testing.T, env string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(tailcut, args...)
	cmd.Env = append(os.Environ(), env)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

func killed(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	_ = cmd.Process.Kill()
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() >= 0 {
		t.Fatalf("the engine has come to its end: %v", err)
	}
}

// must runs the tool to its end, which has to be a good one, and returns what it says.
func must(t *testing.T, env string, args ...string) string {
	t.Helper()
	cmd := exec.Command(tailcut, args...)
	cmd.Env = append(os.Environ(), env)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("tailcut %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// An engine is killed after _SUCCESS is written and before it has tidied up: while it reads the history, which is a pipe
// into which nobody writes. The same command finishes that, and tells the history once.
func TestKilledBeforeTidying(t *testing.T) {
	dir := t.TempDir()
	past, out := filepath.Join(dir, "past"), filepath.Join(dir, "out")
	history := filepath.Join(past, "nightly.json")
	if err := os.Mkdir(past, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(history, 0o666); err != nil {
		t.Fatal(err)
	}
	command := []string{
		"run", "--tasks", "3", "--name", "nightly", "--history", past, "--output", out, "--", "sh", "-c", "echo {} >$TAILCUT_OUTPUT/f; echo {}",
	}
	first := started(t, "", command...)
	await(t, filepath.Join(out, "_SUCCESS"))
	killed(t, first)
	private := filepath.Join(out, "_tailcut", "*", "*")
	if names, _ := filepath.Glob(private); len(names) == 0 {
		t.Fatal("nothing is left of the run")
	}
	if err := os.Remove(history); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		said := must(t, "", command...)
		if !strings.Contains(said, "succeeded in ") || !strings.Contains(said, "holds the finished result of this command") {
			t.Errorf("it says: %s", said)
		}
		if names, _ := filepath.Glob(private); len(names) > 0 {
			t.Errorf("left of the run: %v", names)
		}
		text, err := os.ReadFile(history)
		if n := bytes.Count(text, []byte(`"id"`)); err != nil || n != 1 {
			t.Errorf("the history has the run %d times, %v; want it once", n, err)
		}
	}
	must(t, "", "verify", out)
	must(t, "", "replay", out)
}

// A run goes on where its folder has become the lower layer of an overlay, as that of a container's image is: there
// folders that the first engine has made cannot be renamed, for the system says EXDEV.
func TestPublishOnOverlay(t *testing.T) {
	words := t.TempDir()
	if err := os.WriteFile(filepath.Join(words, "text"), []byte("a b\nb c\nc d\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, waits string // what there is when only one task is left, which waits
		want        map[string]string
		command     []string
	}{
		{"array", "done/0/00001", map[string]string{"part-00000": "0\n", "part-00000.files/d/f": "file 0\n", "part-00002.files/d/f": "file 2\n"}, []string{
			"--tasks", "3", "--slots", "1", "--", "sh", "-c", "mkdir $TAILCUT_OUTPUT/d; echo file {} >$TAILCUT_OUTPUT/d/f; test {} != 2 || $LAST; echo {}",
		}},
		{"map and reduce", "done/1/00000", nil, []string{
			words, "--mapper", "cat", "--reducer", "mkdir $MARK/first 2>/dev/null || $LAST; cat", "--reducers", "2", "--split-size", "4B", "--slots", "1",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			dir := func(name string) string { return filepath.Join(home, name) }
			for _, name := range []string{"lower", "upper", "work", "merged", "mark", "mark2"} {
				if err := os.Mkdir(dir(name), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			command := func(out string) []string {
				return append([]string{"run", "--policy", "fifo", "--output", out}, c.command...)
			}
			t.Setenv("MARK", dir("mark2"))
			plain := dir("plain")
			must(t, "LAST=true", command(plain)...)
			t.Setenv("MARK", dir("mark"))
			first := started(t, "LAST=sleep 600", command(filepath.Join(dir("lower"), "out"))...)
			await(t, filepath.Join(dir("lower"), "out", "_tailcut", "*", c.waits))
			killed(t, first)

			probe := filepath.Join(dir("lower"), "probe")
			if err := os.Mkdir(probe, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mount("overlay", dir("merged"), "overlay", 0, "lowerdir="+dir("lower")+",upperdir="+dir("upper")+",workdir="+dir("work")); err != nil {
				t.Skipf("no overlay without root: %v", err)
			}
			defer syscall.Unmount(dir("merged"), syscall.MNT_DETACH)
			if err := os.Rename(filepath.Join(dir("merged"), "probe"), filepath.Join(dir("merged"), "probed")); !errors.Is(err, syscall.EXDEV) {
				t.Skipf("this overlay renames folders of its lower layer: %v", err)
			}
			out := filepath.Join(dir("merged"), "out")
			said := must(t, "LAST=true", command(out)...)
			if !strings.Contains(said, "recovered: ") || strings.Contains(said, "warning") {
				t.Errorf("it says: %s", said)
			}
			must(t, "", "verify", out)
			for path, want := range c.want {
				if got, err := os.ReadFile(filepath.Join(out, path)); err != nil || string(got) != want {
					t.Errorf("%s is %q, %v; want %q", path, got, err, want)
				}
			}
			for _, name := range []string{"part-00000", "part-00001"} {
				want, err := os.ReadFile(filepath.Join(plain, name))
				if err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(filepath.Join(out, name)); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s is %q, %v; on a plain disk it is %q", name, got, err, want)
				}
			}
			if names, _ := filepath.Glob(filepath.Join(out, "_tailcut", "*", "*")); len(names) > 0 && c.name == "array" {
				t.Errorf("left of the run: %v", names)
			}
		})
	}
}
