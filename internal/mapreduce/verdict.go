package mapreduce

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// Exit statuses by which a process that calls Run says what its error means for the task.
const (
	ExitFailed = 1  // the next attempt may do better
	ExitDoomed = 10 // no attempt can: a command is not there, a line is too long
	ExitStale  = 11 // no attempt can before the input is planned anew: ErrInputChanged
	ExitFull   = 12 // a disk is full, or a quota used up
	ExitScarce = 13 // the machine lacked processes, descriptors or memory
)

// ExitStatus returns the exit status for an error of Run, 0 for none.
func ExitStatus(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrInputChanged):
		return ExitStale
	case errors.As(err, new(hopeless)):
		return ExitDoomed
	case isAny(err, syscall.ENOSPC, syscall.EDQUOT):
		return ExitFull
	case isAny(err, syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE):
		return ExitScarce
	}
	return ExitFailed
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
}

// hopeless is an error that every attempt of the task would meet.
type hopeless struct{ error }

func (h hopeless) Unwrap() error { return h.error }

// What the shell's exit status says of a command, as POSIX has it.
const (
	shellNotFound = 127
	shellNoRun    = 126
	shellSyntax   = 2 // of dash and bash, and of much else
)

// judged makes the error of a script hopeless if the shell could not run it: a program is not there or may not be run,
// or the script is none. With the last command of a pipeline only is the first seen.
func judged(script string, err error, stderr *tail) error {
	var exit *exec.ExitError
	switch {
	case isAny(err, exec.ErrNotFound): // of the shell itself
		return hopeless{err}
	case !errors.As(err, &exit):
		return err
	case exit.ExitCode() == shellNotFound,
		exit.ExitCode() == shellNoRun && strings.Contains(string(stderr.text), "ermission denied"),
		exit.ExitCode() == shellSyntax && exec.Command("sh", "-n", "-c", script).Run() != nil:
		return hopeless{err}
	}
	return err
}
