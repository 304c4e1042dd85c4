//go:build !linux

package proc

import (
	"os"
	"syscall"
)

// attributes makes the child the leader of a group. Only Linux lets it die with the engine.
func attributes(*int) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// waitEnd waits until the process has ended, and returns how.
func waitEnd(p *os.Process, _ int) (*os.ProcessState, error) { return p.Wait() }
