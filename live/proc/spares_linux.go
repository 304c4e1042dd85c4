package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// state is what is known of a folder when it is given to an attempt.
type state = unix.Stat_t

func (f *folder) note() error { return unix.Fstat(int(f.handle.Fd()), &f.given) }

// untouched tells whether the folder is empty, in its place, and as it was given: who makes, removes or changes
// anything in it or on it changes ctime. What came and went within one tick of the kernel's clock is not seen, and left
// nothing.
func (f *folder) untouched() bool {
	var now, there unix.Stat_t
	was := &f.given
	if unix.Fstat(int(f.handle.Fd()), &now) != nil || unix.Lstat(f.path, &there) != nil {
		return false
	}
	if there.Ino != now.Ino || there.Dev != now.Dev ||
		now.Ctim != was.Ctim || now.Mode != was.Mode || now.Uid != was.Uid || now.Gid != was.Gid || now.Nlink != was.Nlink {
		return false
	}
	return f.stillEmpty()
}

// nobodyWrites tells whether no process has the file open for writing: the kernel grants a read lease only then.
func nobodyWrites(f *os.File) bool {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if err != nil {
		return false
	}
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	return err == nil
}

// syncAll makes files in a folder durable: with the file system they are on, in one go.
func syncAll(dir string, _ []string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return unix.Syncfs(int(d.Fd()))
}
