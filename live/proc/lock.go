package proc

import (
	"fmt"
	"os"
	"syscall"
)

// LockRun takes the lock of a run's folder. The system gives it back when the engine ends, however it ends.
func LockRun(f Folders) (*os.File, error) {
	lock, err := os.OpenFile(f.Lock(), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		return nil, fmt.Errorf("%s: another engine is at work on this run", f.Root)
	}
	return lock, nil
}
