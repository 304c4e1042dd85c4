package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// state is what is known of a folder when it is given to an attempt.
type state = unix.Stat_t

func (f *folder) note() error { return unix.Lstat(f.path, &f.given) }

// untouched tells whether the folder is empty, in its place, and as it was given: who makes, removes or changes
// anything in it or on it changes ctime. What came and went within one tick of the kernel's clock is not seen, and left
// nothing.
func (f *folder) untouched() bool {
	var now unix.Stat_t
	was := &f.given
	if unix.Lstat(f.path, &now) != nil || now.Ino != was.Ino || now.Dev != was.Dev ||
		now.Ctim != was.Ctim || now.Mode != was.Mode || now.Uid != was.Uid || now.Gid != was.Gid || now.Nlink != was.Nlink {
		return false
	}
	return holdsNothing(f.path) == nil
}

// nobodyWrites tells whether no process has the file open for writing; false where the kernel cannot tell.
func nobodyWrites(f *os.File) bool { return lease(f) == nil }

// somebodyWrites tells whether a process has the file open for writing; false where the kernel cannot tell.
func somebodyWrites(f *os.File) bool { return lease(f) == unix.EAGAIN }

// lease takes a read lease, which the kernel grants only if nobody has the file open for writing, and gives it back.
func lease(f *os.File) error {
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return err
	}
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	return err
}
