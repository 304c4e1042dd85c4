package proc

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lastGasp is how long a lock may outlive its engine: a process that the engine was starting when it was killed has the
// engine's files until it becomes another program.
const lastGasp = time.Second

// LockRun takes the lock of a run's folder. The system gives it back when the engine ends, however it ends.
func LockRun(f Folders) (*os.File, error) {
	for began := time.Now(); ; {
		lock, err := os.OpenFile(f.Lock(), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil && inPlace(lock) {
			_ = lock.Chmod(0o600) // older versions let everybody open it
			return lock, nil
		}
		lock.Close()
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK) && time.Since(began) < lastGasp:
			time.Sleep(2 * time.Millisecond)
		case errors.Is(err, syscall.EWOULDBLOCK):
			return nil, fmt.Errorf("%s: another tailcut process works on this run; wait for it, or name another --output", f.Root)
		case err != nil:
			return nil, fmt.Errorf("%s: the file system cannot lock files, so two runs could overwrite each other; name an --output on a local disk: %w", f.Lock(), err)
		}
		// The engine that made the file has removed it in between.
	}
}

// inPlace tells whether the file is still the one of its name.
func inPlace(f *os.File) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(f.Name())
	return err == nil && os.SameFile(mine, there)
}

// Running tells whether an engine is at work in the folder. It asks for the lock and gives it back at once: an engine
// that starts at this very moment waits for longer than that.
func (f Folders) Running() bool {
	lock, err := os.Open(f.Lock())
	if err != nil {
		return false
	}
	defer lock.Close()
	return errors.Is(syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
