//go:build linux && long

package contest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/internal/serve"
)

// TestTenThousandQueued: a server in which 10,000 jobs wait behind two long ones costs next to nothing.
func TestTenThousandQueued(t *testing.T) {
	const (
		queued  = 10_000
		watched = 20 * time.Second
		share   = 0.01      // of a core
		memory  = 200 << 20 // resident bytes
	)
	x := tool{build(t), t.TempDir()}
	socket := filepath.Join(x.home, "socket")
	server := x.command("serve", "--dir", filepath.Join(x.home, "queue"), "--socket", socket, "--slots", "2")
	listening(t, server)
	defer func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	}()

	client, err := serve.NewClient(socket)
	if err != nil {
		t.Fatal(err)
	}
	submit := func(name, command string, tasks int) {
		j := jobfile.Job{Name: name, Retries: 3, Array: &jobfile.Array{Stages: []jobfile.Stage{{Name: "tasks", Tasks: tasks, Command: []string{"sh", "-c", command}}}}}
		_, err := client.Submit(context.Background(), serve.NewKey(), &run.Submission{Job: j, Name: name, Dir: x.home, Env: os.Environ(), Output: filepath.Join(x.home, "out", name)})
		if err != nil {
			t.Error(err)
		}
	}
	submit("long", "sleep 600", 2)
	begin := time.Now()
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := w; i < queued; i += 8 {
				submit(fmt.Sprint("j", i), "sleep 1", 1+i%20)
			}
		})
	}
	all.Wait()
	t.Logf("%.0f submissions per second", queued/time.Since(begin).Seconds())

	time.Sleep(15 * time.Second) // the last promises and collections of what the submissions left
	before := ticks(t, server.Process.Pid)
	time.Sleep(watched)
	busy := float64(ticks(t, server.Process.Pid)-before) / 100 / watched.Seconds()
	resident := resident(t, server.Process.Pid)
	t.Logf("%.2f %% of a core, %d MB resident", 100*busy, resident>>20)
	if busy > share {
		t.Errorf("the idle server takes %.2f %% of a core, expected at most %.0f %%", 100*busy, 100*share)
	}
	if resident > memory {
		t.Errorf("the idle server has %d MB, expected at most %d", resident>>20, memory>>20)
	}
	a, err := client.About(context.Background())
	if err != nil || a.Jobs[serve.Queued] != queued {
		t.Errorf("%d jobs are queued (%v)", a.Jobs[serve.Queued], err)
	}
}

// ticks returns the processor time of a process in hundredths of a second.
func ticks(t *testing.T, pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+2:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return user + system
}

// resident returns the bytes of a process that are in memory.
func resident(t *testing.T, pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	pages, _ := strconv.Atoi(strings.Fields(string(text))[1])
	return pages * os.Getpagesize()
}
