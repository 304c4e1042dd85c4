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
	for _, c := range []struct{ limit, used, most int }{{math.MaxInt, 0, 100}, {100, 10, 20}, {20, 10, 1}, {5, 10, 1}} {
		crowd, n := newCrowd(c.limit, c.used), 0
		for ; n < 100 && crowd.admit(4) == nil; n++ {
			crowd.enter(4)
		}
		if n != c.most {
			t.Errorf("limit %d, %d used: %d attempts, want %d", c.limit, c.used, n, c.most)
		}
	}
	c := newCrowd(100, 10)
	for range 8 {
		c.enter(10)
	}
	if err := c.admit(4); !errors.Is(err, syscall.EAGAIN) || unborn(err) != (verdict{kind: sched.AttemptRefused}) {
		t.Error(err)
	}
	if c.leave(10); c.admit(10) != nil {
		t.Error(c.admit(10))
	}
}

// A limit that the program itself uses up is told; nobody waits for what cannot come.
func TestCrowdHopeless(t *testing.T) {
	c := newCrowd(16, 15)
	told := func(c *crowd, err error, own, family int) error {
		return c.hopeless(err, func() int { return own }, func() int { return family })
	}
	for _, n := range [][2]int{{11, 11}, {10, 16}} { // the guard is not there yet, or has a thread more than it has mostly
		if err := told(c, syscall.EAGAIN, n[0], n[1]); err == nil || err.Error() != "ulimit -u 16 leaves no process for a task: tailcut itself needs 16; raise the limit" {
			t.Error(n, err)
		}
	}
	for name, err := range map[string]error{
		"one is left": told(c, syscall.EAGAIN, 10, 15), "descriptors": told(c, syscall.EMFILE, 11, 16), "no limit": told(newCrowd(math.MaxInt, 0), syscall.EAGAIN, 11, 16),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c.running = 1; told(c, syscall.EAGAIN, 11, 16) != nil {
		t.Error("hopeless beside another attempt")
	}
}

// What shells and Go say that find no process is known; what they say otherwise is the task's own.
func TestCouldNotFork(t *testing.T) {
	c := newCrowd(math.MaxInt, 0)
	for text, want := range map[string]bool{
		"sh: 0: Cannot fork\n": true, "bash: fork: retry: Resource temporarily unavailable\n": true, "sh: can't fork: Resource temporarily unavailable\n": true,
		"runtime: failed to create new OS thread (have 5 already; errno=11)\n": true, "": false, "no such file\n": false, "the fork is bent\n": false,
	} {
		if got := c.short([]byte(text), 4); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
