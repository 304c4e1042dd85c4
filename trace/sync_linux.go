package trace

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData makes a file's contents durable, and its size, but not its times.
func syncData(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return err
		}
	}
}
