package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os/exec"
	"slices"
	"syscall"

	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/sched"
)

// noProgram is the error of a program that could not be started.
type noProgram struct {
	name string
	err  error
}

func (e noProgram) Error() string {
	if errors.Is(e.err, exec.ErrNotFound) {
		return fmt.Sprintf("cannot start %s: no such program in PATH", e.name)
	}
	return fmt.Sprintf("cannot start %s: %v", e.name, e.err)
}

func (e noProgram) Unwrap() error { return e.err }

// verdict is what it means for a task that an attempt of it has come to nothing.
type verdict struct {
	kind  sched.EventKind // AttemptFailed, AttemptDoomed, AttemptRefused
	short bool            // the machine lacked something, which may be why: see live.Report
}

// unborn judges an attempt that could not be started. What the machine lacks now it may have later; a program that
// cannot be started now cannot be started by the next attempt either; all else is tried again.
func unborn(err error) verdict {
	if scarce(err) {
		return verdict{kind: sched.AttemptRefused}
	}
	if errors.Is(err, errStale) {
		return verdict{kind: sched.AttemptDoomed}
	}
	if e := (noProgram{}); errors.As(err, &e) && hopeless(e.err) {
		return verdict{kind: sched.AttemptDoomed}
	}
	return unfinished(err)
}

// unfinished judges an attempt whose output could not be made a result. As long as the disk is full no other could.
func unfinished(err error) verdict {
	if full(err) {
		return verdict{sched.AttemptDoomed, true}
	}
	return verdict{sched.AttemptFailed, scarce(err)}
}

// ofExit judges an attempt of map/reduce work by its exit status.
func ofExit(status int) verdict {
	switch status {
	case mapreduce.ExitDoomed, mapreduce.ExitStale:
		return verdict{kind: sched.AttemptDoomed}
	case mapreduce.ExitFull:
		return verdict{sched.AttemptDoomed, true}
	case mapreduce.ExitScarce:
		return verdict{sched.AttemptFailed, true}
	}
	return verdict{kind: sched.AttemptFailed}
}

// scarce tells whether an error is want of processes, descriptors or memory.
func scarce(err error) bool {
	return anyOf(err, syscall.EAGAIN, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM)
}

// hopeless tells whether a program will not start another time: it is not there, may not be run, or is none.
func hopeless(err error) bool {
	return anyOf(err, exec.ErrNotFound, fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, syscall.ENOEXEC, syscall.EISDIR, syscall.ELOOP,
		syscall.ENAMETOOLONG, syscall.E2BIG, syscall.EINVAL)
}

func anyOf(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
}

// mostReserved is how many descriptors are kept for what attempts need at their ends, and for the engine.
const mostReserved = 256

// mostDescriptors returns the number above which descriptors are kept: half of the limit, or mostReserved below it. An
// attempt that cannot open a file at its end would lose what it has done.
func mostDescriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32
	}
	return int(min(math.MaxInt32, max(limit.Cur/2, limit.Cur-min(limit.Cur, mostReserved))))
}

// descriptorsOfAttempt are those that the engine holds for an attempt: its folder, its standard output, both ends of
// two pipes, its process, and one that is free for its end.
const descriptorsOfAttempt = 8

// MostAttempts returns how many attempts the limits on the program's processes and descriptors let run at once.
func MostAttempts() int {
	n := mostDescriptors() / descriptorsOfAttempt
	if limit := processLimit(); limit < math.MaxInt {
		n = min(n, (limit-userThreads()-threadsSpare)/threadsOfArray)
	}
	return max(1, n)
}
