package proc

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes makes the child the leader of a group that dies with the engine, and has a descriptor of it put in pidfd.
func attributes(pidfd *int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: pidfd}
}

// waitEnd waits until the process has ended and leaves it a zombie, so that its group's number stays taken. It waits with all
// else that the runtime polls, if the kernel gave a descriptor: a thread for each attempt that only waits would be handed
// over to others, and back, with each small task.
func waitEnd(p *os.Process, pidfd int) (*os.ProcessState, error) {
	if pidfd < 0 || !polled(p.Pid, pidfd) {
		for unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		}
	}
	return nil, nil
}

// polled waits for the end of a process by its descriptor, which it closes, and tells whether that worked.
func polled(pid, pidfd int) bool {
	err := unix.SetNonblock(pidfd, true) // for the runtime to poll it
	f := os.NewFile(uintptr(pidfd), "process")
	defer f.Close()
	if err != nil {
		return false
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	return conn.Read(func(uintptr) bool { return ended(pid) }) == nil
}

// ended tells whether a child has ended, without waiting.
func ended(pid int) bool {
	var info unix.Siginfo // Signo stays 0 if there is nothing to tell
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	return err != nil && err != unix.EINTR || info.Signo != 0
}
