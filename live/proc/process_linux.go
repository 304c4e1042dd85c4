package proc

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes makes the child the leader of a group that dies with the engine.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// waitEnd waits until the process has ended and leaves it a zombie, so that its group's number stays taken.
func waitEnd(p *os.Process) (*os.ProcessState, error) {
	for unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	return nil, nil
}
