package live

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tailcut/tailcut/trace"
)

// Nobody hears of an end that the disk has not: after a crash the job would be on its way again.
func TestEngineUnsyncedEnd(t *testing.T) {
	f := newFarm(t, 1)
	f.fate = func(*Job, Attempt) fate { return fate{takes: 10 * ms, fails: true} }
	tale(t, f, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := f.start(ctx)
		s.submit(t, jobOf("a", 1))
		unsyncable(t, trace.SegmentPath(f.folder, 1))
		time.Sleep(100 * ms)
		if o, _ := f.end("a"); o != nil {
			t.Errorf("the owner hears that the job has %s", o.Summary.State)
		}
		cancel()
		if err := <-s.ended; err == nil {
			t.Error("the engine goes on with a journal that cannot be synced")
		}
	})
}

// unsyncable puts a pipe in the place of an open file: what is written there is gone, and cannot be synced.
func unsyncable(t *testing.T, path string) {
	t.Helper()
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(pipe[0]); unix.Close(pipe[1]) })
	fds, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		to, err := os.Readlink(fd)
		if err != nil || to != path {
			continue
		}
		var n int
		for _, digit := range filepath.Base(fd) {
			n = 10*n + int(digit-'0')
		}
		if err := unix.Dup3(pipe[1], n, unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("%s is not open", path)
}
