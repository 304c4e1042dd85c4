package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes makes the child the leader of a group that dies with the engine, and has a descriptor of it put in pidfd.
func attributes(pidfd *int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: pidfd}
}

// ended tells whether a child has ended, without waiting, and leaves it a zombie.
func ended(pid int) bool { return waited(pid, unix.WNOHANG) }

// awaitEnd waits until a child has ended, and leaves it a zombie.
func awaitEnd(pid int) {
	for !waited(pid, 0) {
	}
}

func waited(pid, options int) bool {
	var info unix.Siginfo // Signo stays 0 if there is nothing to tell
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|options, nil)
	return err != nil && err != unix.EINTR || info.Signo != 0
}

// pipe is the end of a pipe to read from.
type pipe int

// newPipe makes a pipe whose ends no child inherits unasked. Reading from it does not wait.
func newPipe() (r pipe, w int, err error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return 0, 0, err
	}
	return pipe(p[0]), p[1], unix.SetNonblock(p[0], true)
}

func (r pipe) descriptor() int { return int(r) }

func (r pipe) close() { unix.Close(int(r)) }

// left tells whether something of an attempt whose group was killed can still be seen: who has its progress pipe, or
// may write to its standard output.
func (p *process) left() bool { return !p.progress.hungUp() || somebodyWrites(p.stdout.handle) }

// hungUp tells whether nobody has the writing end any more.
func (r pipe) hungUp() bool {
	p := []unix.PollFd{{Fd: int32(r), Events: unix.POLLIN}}
	_, err := unix.Poll(p, 0)
	return err == nil && p[0].Revents&unix.POLLHUP != 0
}
