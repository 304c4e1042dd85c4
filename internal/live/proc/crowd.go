package proc

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/tailcut/tailcut/sched"
)

// What an attempt starts needs processes, too, and a shell that finds none ends with a status like any other. So not
// more attempts run at once than leave each some processes below the user's limit, and an attempt that fails while the
// limit is near, or says that it could not fork, may have failed for that reason.

const (
	threadsOfArray   = 4  // that a command and its children are expected to need
	threadsOfAttempt = 10 // that a map/reduce attempt is, with its threads and commands
	threadsSpare     = 10 // that engine and guard may still begin
	threadsOfGuard   = 5  // while it starts
)

// crowd knows how many processes the user may have.
type crowd struct {
	limit   int
	room    int // for threads of attempts
	taken   int // by the attempts that have begun and not ended; the keeper's
	running int // those; the keeper's
	oom     atomic.Int64
}

func newCrowd(limit, used int) *crowd {
	c := &crowd{limit: limit, room: math.MaxInt}
	if limit < math.MaxInt {
		c.room = limit - used - threadsSpare
	}
	c.oom.Store(int64(oomKills()))
	return c
}

// admit returns an error if an attempt of so many threads would leave too few processes for what the others start.
func (c *crowd) admit(threads int) error {
	if c.running == 0 || c.taken+threads <= c.room {
		return nil
	}
	return fmt.Errorf("ulimit -u %[3]d does not allow %[1]d processes for each of %[2]d attempts: %[4]w", threads, c.running+1, c.limit, syscall.EAGAIN)
}

// enter and leave count an attempt of so many threads that has begun, and ended.
func (c *crowd) enter(threads int) { c.running++; c.taken += threads }
func (c *crowd) leave(threads int) { c.running--; c.taken -= threads }

// tooFew is the error of a limit that never leaves a process for a task, whatever else of the user ends.
type tooFew struct{ own, limit int }

func (e tooFew) Error() string {
	return fmt.Sprintf("ulimit -u %d leaves no process for a task: tailcut itself needs %d; raise the limit", e.limit, e.own)
}

// hopeless returns the error to tell, if an attempt that runs beside no other could not begin, and none ever can, for
// want of processes; else nil. Only then it asks how many threads the program has, and how many with its children, of
// which the guard is one: those of a Go program do not end before it.
func (c *crowd) hopeless(err error, own, family func() int) error {
	if c.running > 0 || !errors.Is(err, syscall.EAGAIN) {
		return nil
	}
	if n := max(own()+threadsOfGuard, family()); n >= c.limit {
		return tooFew{n, c.limit}
	}
	return nil
}

// couldNotFork are what shells and Go say that find no process, thread or memory, in lower case.
var couldNotFork = []string{
	"cannot fork", "can't fork", "fork: ", "fork failed", "failed to create new os thread", "newosproc", "can't create new process",
	"resource temporarily unavailable", "cannot allocate memory", "runtime: out of memory",
}

// short tells whether an attempt that has failed may have found no process, or no memory for one, by what it said last
// and by how many processes there are.
func (c *crowd) short(said []byte, threads int) bool {
	text := strings.ToLower(string(said[max(0, len(said)-4096):]))
	for _, s := range couldNotFork {
		if strings.Contains(text, s) {
			return true
		}
	}
	return c.limit < math.MaxInt && c.limit-userThreads() < threads
}

// killed adds to what is said of an attempt that somebody killed that it was the kernel, for want of memory.
func (c *crowd) killed(note string) string {
	if now := int64(oomKills()); c.oom.Swap(now) < now {
		return note + " by the kernel, for want of memory"
	}
	return note
}

// crowdedOut judges an attempt that failed by itself by whether it may have lacked processes.
func (e *Executor) crowdedOut(p *process, exit int) {
	if exit < 128 && p.verdict.kind != sched.AttemptDoomed && !p.verdict.short && e.host.crowd.short(p.stderr(), e.threads) {
		p.verdict.short = true
	}
}
