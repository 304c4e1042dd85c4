package proc

import (
	"errors"
	"math"
	"syscall"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// As many attempts run as leave each its processes, and one always can.
func TestCrowd(t *testing.T) {
	for _, c := range []struct{ limit, used, most int }{{math.MaxInt, 0, math.MaxInt}, {100, 10, 20}, {20, 10, 1}, {5, 10, 1}} {
		if got := newCrowd(c.limit, c.used, 4).most; got != c.most {
			t.Errorf("limit %d, %d used: %d attempts, want %d", c.limit, c.used, got, c.most)
		}
	}
	c := newCrowd(100, 10, 4)
	if c.running = 19; c.room() != nil {
		t.Error(c.room())
	}
	if c.running = 20; !errors.Is(c.room(), syscall.EAGAIN) || unborn(c.room()) != (verdict{kind: sched.AttemptRefused}) {
		t.Error(c.room())
	}
}

// A limit that the program itself uses up is told; nobody waits for what cannot come.
func TestCrowdHopeless(t *testing.T) {
	c := newCrowd(16, 15, 4)
	if err := c.hopeless(syscall.EAGAIN, 11); err == nil || err.Error() != "ulimit -u 16 leaves no process for a task: tailcut itself needs 16; raise the limit" {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"one is left": c.hopeless(syscall.EAGAIN, 10), "descriptors": c.hopeless(syscall.EMFILE, 11), "no limit": newCrowd(math.MaxInt, 0, 4).hopeless(syscall.EAGAIN, 11),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c.running = 1; c.hopeless(syscall.EAGAIN, 11) != nil {
		t.Error("hopeless beside another attempt")
	}
}

// What shells and Go say that find no process is known; what they say otherwise is the task's own.
func TestCouldNotFork(t *testing.T) {
	c := newCrowd(math.MaxInt, 0, 4)
	for text, want := range map[string]bool{
		"sh: 0: Cannot fork\n": true, "bash: fork: retry: Resource temporarily unavailable\n": true, "sh: can't fork: Resource temporarily unavailable\n": true,
		"runtime: failed to create new OS thread (have 5 already; errno=11)\n": true, "": false, "no such file\n": false, "the fork is bent\n": false,
	} {
		if got := c.short([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
