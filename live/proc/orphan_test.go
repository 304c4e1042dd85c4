//go:build linux

package proc

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tailcut/tailcut/live"
)

// engine runs attempts of every unruly kind, says so, and waits to be killed.
func engine(root, run string) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	scripts := []string{
		`echo up >$TAILCUT_OUTPUT/up; exec sleep 100`,
		`trap '' TERM INT HUP; sleep 100 & sleep 100 & echo up >$TAILCUT_OUTPUT/up; wait`,
		`setsid sh -c 'trap "" HUP; echo up >$TAILCUT_OUTPUT/up; sleep 100' & wait`,
		`echo up >$TAILCUT_OUTPUT/up; kill -STOP $$; sleep 100`,
	}
	work := &Array{}
	for i, s := range scripts {
		work.Stages = append(work.Stages, ArrayStage{Name: fmt.Sprint(i), Tasks: 1, Command: []string{"sh", "-c", s}})
	}
	f := Folders{Root: root}
	e, err := New(Config{Folders: f, Work: &Work{Dir: root, Array: work}, Stages: len(scripts), Run: run, Self: []string{self}})
	if err != nil {
		panic(err)
	}
	for i := range scripts {
		a := live.Attempt{ID: 1, Stage: i}
		e.Start(a)
		for {
			if _, err := os.Stat(filepath.Join(f.attempt(a), "up")); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	fmt.Println("ready")
	select {}
}

// marked counts the processes of a run.
func marked(run string) (n int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range dirs {
		env, err := os.ReadFile(path)
		if err == nil && strings.Contains("\x00"+string(env), "\x00"+runVariable+"="+run+"/") {
			n++
		}
	}
	return n
}

// When the engine is killed, all that it started is gone within a second: what left its group, what ignores signals, what is stopped.
func TestEngineKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := fmt.Sprintf("orphans-%d", os.Getpid())
	cmd := exec.Command(self, "engine", t.TempDir(), run)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the engine said %q, %v", line, err)
	}
	if n := marked(run); n < 6 {
		t.Errorf("%d processes run, want at least 6", n)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "the end of all its processes", 5*time.Second, func() bool { return marked(run) == 0 })
}

// A new engine ends what the one before left, before it starts anything.
func TestNewEngineSweeps(t *testing.T) {
	run := fmt.Sprintf("left-%d", os.Getpid())
	left := exec.Command("sleep", "100")
	left.Env = append(os.Environ(), runVariable+"="+run+"/1")
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = left.Wait() }()
	other := exec.Command("sleep", "100")
	other.Env = append(os.Environ(), runVariable+"="+run+"0/1") // a run whose name only begins like ours
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	eventually(t, "the processes' start", patience, func() bool { return marked(run) == 1 && marked(run+"0") == 1 })
	newRig(t, func(c *Config) { c.Run = run }, "true")
	if marked(run) != 0 || marked(run+"0") != 1 {
		t.Errorf("%d processes are left, %d of another run", marked(run), marked(run+"0"))
	}
}

// A mark is that of what is below it, and of nothing that only begins alike.
func TestCarries(t *testing.T) {
	for env, want := range map[string]bool{
		"A=1\x00TAILCUT_RUN=r/1\x00B=2\x00": true, "TAILCUT_RUN=r/1": true, "TAILCUT_RUN=r/1/0-00000.1\x00": true,
		"TAILCUT_RUN=r/10\x00": false, "TAILCUT_RUN=r\x00": false, "XTAILCUT_RUN=r/1\x00": false, "A=TAILCUT_RUN=r/1\x00": false, "": false,
	} {
		if got := carries([]byte(env), []byte("TAILCUT_RUN=r/1")); got != want {
			t.Errorf("%q: %v", env, got)
		}
	}
}

// Somebody may kill the guard. The run has ended well all the same.
func TestGuardKilled(t *testing.T) {
	r := newRig(t, nil, "true")
	r.win(0, 0, 0)
	if err := r.guard.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the guard", patience, func() bool { return !runs(r.guard.cmd.Process.Pid) })
	r.close()
}
