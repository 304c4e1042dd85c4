//go:build !linux

package proc

import (
	"os"
	"syscall"
)

// attributes makes the child the leader of a group. Only Linux lets it die with the engine.
func attributes(*int) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// pipe is the end of a pipe to read from.
type pipe struct {
	*os.File
	number int // of the descriptor; to ask the file for it would make reads wait in the kernel
}

// newPipe makes a pipe whose ends no child inherits unasked.
func newPipe() (r pipe, w int, err error) {
	var p [2]int
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := syscall.Pipe(p[:]); err != nil {
		return pipe{}, 0, err
	}
	syscall.CloseOnExec(p[0])
	syscall.CloseOnExec(p[1])
	err = syscall.SetNonblock(p[0], true) // for the runtime to poll it
	return pipe{os.NewFile(uintptr(p[0]), "progress"), p[0]}, p[1], err
}

func (r pipe) close() { r.Close() }

func (r pipe) descriptor() int { return r.number }

// left is not asked here: what has left its group is not found.
func (p *process) left() bool { return false }

// hungUp is not asked here: nothing is used twice.
func (r pipe) hungUp() bool { return false }
