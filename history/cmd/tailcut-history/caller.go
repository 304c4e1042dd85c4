package main

import (
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// afterCaller calls end some time after nobody can say anything more through a pipe, whether what was said has been
// read or not: a caller that is killed kills nobody, and a disk that does not answer would keep us for ever.
func afterCaller(in io.Reader, patience time.Duration, end func()) {
	pipe, ok := in.(*os.File)
	if !ok {
		return
	}
	go func() {
		watched := []unix.PollFd{{Fd: int32(pipe.Fd())}} // of no events but the end, which is always told
		for watched[0].Revents&(unix.POLLHUP|unix.POLLERR) == 0 {
			if _, err := unix.Poll(watched, -1); err != nil && err != unix.EINTR || watched[0].Revents&unix.POLLNVAL != 0 {
				return
			}
		}
		time.Sleep(patience)
		end()
	}()
}
