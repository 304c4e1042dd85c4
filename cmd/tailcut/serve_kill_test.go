//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/internal/serve"
)

// victim is a real server that is killed again and again.
type victim struct {
	t            *testing.T
	dir, program string
	marker       string // in the command line of every process that it starts
	cmd          *exec.Cmd
}

func newVictim(t *testing.T) *victim {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	v := &victim{t: t, dir: dir, program: filepath.Join(dir, "tailcut"), marker: fmt.Sprintf("victim-%d-%d", os.Getpid(), time.Now().UnixNano())}
	if err := os.Symlink(self, v.program); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if v.cmd != nil {
			v.kill()
		}
	})
	return v
}

func (v *victim) socket() string { return filepath.Join(v.dir, "socket") }

// start starts the server, on three slots under fifo unless the flags say otherwise, and returns when it listens.
func (v *victim) start(flags ...string) {
	v.t.Helper()
	cmd := exec.Command(v.program, append([]string{"serve", "--dir", filepath.Join(v.dir, "queue"), "--socket", v.socket(), "--slots", "3", "--policy", "fifo"}, flags...)...)
	cmd.Env = append(os.Environ(), "HOME="+v.dir, "XDG_STATE_HOME="+v.dir, "GORACE=atexit_sleep_ms=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		v.t.Fatal(err)
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	v.cmd = cmd
	line := make([]byte, 200)
	n, _ := out.Read(line)
	if !strings.HasPrefix(string(line[:n]), "listening on ") {
		_ = cmd.Wait()
		v.t.Fatalf("the server says %q, %s", line[:n], &log)
	}
}

func (v *victim) kill() {
	_ = v.cmd.Process.Kill()
	_ = v.cmd.Wait()
	v.cmd = nil
}

// client returns a client of the server.
func (v *victim) client() *serve.Client {
	c, err := serve.NewClient(v.socket())
	if err != nil {
		v.t.Fatal(err)
	}
	return c
}

// job is a job of some tasks, each of which writes its index.
func (v *victim) job(name string, tasks int) *run.Submission {
	return &run.Submission{
		Job:  jobfile.Job{Name: name, Retries: 2, Array: &jobfile.Array{Stages: []jobfile.Stage{{Name: "tasks", Tasks: tasks, Command: []string{"sh", "-c", "sleep 0.02; echo $1", v.marker, "{}"}}}}},
		Name: name, Dir: v.dir, Output: filepath.Join(v.dir, "out", name), History: run.NoHistory,
	}
}

// orphans counts the processes that something of the server has left.
func (v *victim) orphans() (n int) {
	entries, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range entries {
		if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte(v.marker)) {
			n++
		}
	}
	return n
}

// TestServeSurvivesKills: a server is killed under a stream of submissions. Whatever it has accepted ends with exactly
// one result of each task; what it has not answered is there once or not at all.
func TestServeSurvivesKills(t *testing.T) {
	v := newVictim(t)
	v.start()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	const tasks = 3
	var mu sync.Mutex
	accepted, doubtful := map[string]int64{}, map[string]bool{}
	var all sync.WaitGroup
	for w := range 3 {
		all.Go(func() {
			client := v.client()
			for i := 0; ctx.Err() == nil; i++ {
				name := fmt.Sprintf("j%d-%d", w, i)
				j, err := client.Submit(context.Background(), serve.NewKey(), v.job(name, tasks))
				var p *serve.Problem
				mu.Lock()
				switch {
				case err == nil:
					accepted[name] = j.ID
				case errors.As(err, &p) && p.Status < 500:
					t.Errorf("%s: %v", name, err)
				default:
					doubtful[name] = true
				}
				mu.Unlock()
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	enough := func() bool { mu.Lock(); defer mu.Unlock(); return len(accepted) >= kills }
	random := rand.New(rand.NewPCG(16, 7))
	killed := 0
	for ; killed < kills || killed < 5*kills && !enough(); killed++ { // a busy machine accepts less between two kills
		time.Sleep(time.Duration(random.Int64N(int64(250 * time.Millisecond))))
		v.kill()
		v.start()
	}
	stop()
	all.Wait()
	client := v.client()
	names := map[string]int{}
	list, err := client.Jobs(t.Context(), serve.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range list.Jobs {
		names[j.Name]++
	}
	for name, n := range names {
		if _, ok := accepted[name]; n != 1 || !ok && !doubtful[name] {
			t.Errorf("%d jobs are called %s, accepted: %v", n, name, ok)
		}
		j, err := client.Wait(t.Context(), name)
		if err != nil || j.State != serve.Succeeded || j.Done != tasks {
			t.Errorf("%s: %+v (%v)", name, j, err)
			continue
		}
		for i := range tasks {
			text, err := os.ReadFile(filepath.Join(j.Output, fmt.Sprintf("part-%05d", i)))
			if err != nil || string(text) != fmt.Sprintln(i) {
				t.Errorf("%s, task %d: %q (%v)", name, i, text, err)
			}
		}
	}
	for name, id := range accepted {
		if names[name] == 0 {
			t.Errorf("job %d (%s) was accepted and is lost", id, name)
		}
	}
	t.Logf("%d kills, %d jobs accepted, %d not answered, %d of them there", killed, len(accepted), len(doubtful), len(names)-len(accepted))
	if !enough() {
		t.Errorf("only %d jobs were accepted: the test tests nothing", len(accepted))
	}
	if err := v.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := v.cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM the server ends with %v", err)
	}
	v.cmd = nil
	if n := v.orphans(); n > 0 {
		t.Errorf("%d processes are left", n)
	}
}
