//go:build linux

package proc

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
)

// engine runs attempts of every unruly kind, says so, and waits to be killed.
func engine(root, run string) {
	scripts := []string{
		`echo up >$TAILCUT_OUTPUT/up; exec sleep 100`,
		`trap '' TERM INT HUP; sleep 100 & sleep 100 & echo up >$TAILCUT_OUTPUT/up; wait`,
		`setsid sh -c 'trap "" HUP; echo up >$TAILCUT_OUTPUT/up; sleep 100' & wait`,
		`echo up >$TAILCUT_OUTPUT/up; kill -STOP $$; sleep 100`,
	}
	host, err := NewHost(HostConfig{Name: run})
	if err != nil {
		panic(err)
	}
	for _, job := range []string{run, run + "-other"} { // two jobs of one host
		work := &jobfile.Array{}
		for i, s := range scripts {
			work.Stages = append(work.Stages, jobfile.Stage{Name: fmt.Sprint(i), Tasks: 1, Command: []string{"sh", "-c", s}})
		}
		f := Folders{Root: filepath.Join(root, job)}
		e, err := New(Config{Folders: f, Work: &jobfile.Work{Dir: root, Array: work}, Stages: len(scripts), Run: job, Host: host})
		if err != nil {
			panic(err)
		}
		for i := range scripts {
			a := live.Attempt{ID: 1, Stage: i}
			e.Start(a)
			for {
				if _, err := os.Stat(filepath.Join(f.Attempt(a), "up")); err == nil {
					break
				}
				time.Sleep(time.Millisecond)
			}
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

// startEngine starts a process that is engine.
func startEngine(t *testing.T, run string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
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
	return cmd
}

// When the engine is killed, all that it started is gone within a second: what left its group, what ignores signals, what is stopped.
func TestEngineKilled(t *testing.T) {
	run := fmt.Sprintf("orphans-%d", os.Getpid())
	cmd := startEngine(t, run)
	for _, job := range []string{run, run + "-other"} {
		if n := marked(job); n < 6 {
			t.Errorf("%s: %d processes run, want at least 6", job, n)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "the end of all its processes", 5*time.Second, func() bool { return marked(run)+marked(run+"-other") == 0 })
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
	newRig(t, func(c *Config) {
		if c.Run = run; c.Folders.create(1) != nil {
			t.Fatal("no folders")
		}
	}, "true")
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
		if got := carries([]byte(env), "r/1"); got != want {
			t.Errorf("%q: %v", env, got)
		}
	}
	for mark, want := range map[string]bool{"r/h/1/0-00000.1": true, "q/h/1": true, "r/h/2": false, "r/i/1": false, "r/h": false, "h/1": false} {
		if got := below(mark, "*/h/1"); got != want {
			t.Errorf("%s below */h/1: %v", mark, got)
		}
	}
}

// Somebody may kill the guard. Another one takes its place, and the run ends well.
func TestGuardKilled(t *testing.T) {
	r := newRig(t, nil, "true")
	r.win(0, 0, 0)
	pid := func() int {
		r.host.guard.mu.Lock()
		defer r.host.guard.mu.Unlock()
		return r.host.guard.pid
	}
	first := pid()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another guard", patience, func() bool { return pid() != first && pid() != 0 && runs(pid()) })
	r.close()
}

// Whoever stops or kills the guard and then, a little later, the engine leaves no process of the run.
func TestGuardThenEngine(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"stopped": syscall.SIGSTOP, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			run := fmt.Sprintf("guard-%s-%d", name, os.Getpid())
			cmd := startEngine(t, run)
			guards := guardsOf(run)
			if len(guards) != 1 {
				t.Fatalf("guards: %v", guards)
			}
			if err := syscall.Kill(guards[0], signal); err != nil {
				t.Fatal(err)
			}
			// It stops when it next has a processor: until then it looks well. The engine may be quicker than we are, too.
			for end := time.Now().Add(time.Second); time.Now().Before(end) && stateOf(guards[0]) != 'T'; {
				time.Sleep(time.Millisecond)
			}
			eventually(t, "a guard that is well", patience, func() bool {
				now := guardsOf(run)
				return len(now) == 1 && (signal == syscall.SIGKILL) == (now[0] != guards[0]) && stateOf(now[0]) != 'T'
			})
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // killed
			eventually(t, "the end of all", patience, func() bool { return marked(run) == 0 && len(guardsOf(run)) == 0 })
		})
	}
}

// guardsOf returns the guards of a run.
func guardsOf(run string) (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range dirs {
		args, err := os.ReadFile(path)
		if err == nil && strings.HasPrefix(string(args), guardName+"\x00*/"+run+"/") {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// stateOf returns a letter for what a process does, as ps does; T for one that is stopped.
func stateOf(pid int) byte {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if at := strings.LastIndexByte(string(text), ')'); err == nil && at+2 < len(text) {
		return text[at+2]
	}
	return 0
}
