package mapreduce

import "golang.org/x/sys/unix"

// unread returns how many bytes nobody has read yet of a pipe.
func unread(pipe uintptr) int {
	n, err := unix.IoctlGetInt(int(pipe), unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}
