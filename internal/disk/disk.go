// Package disk waits for what has to be on a disk before somebody relies on it.
package disk

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Full tells whether an error is want of room on a disk, or of what the user may have there.
func Full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// Free returns how many bytes a user can still write where a folder is.
func Free(folder string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: folder, Err: err}
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// SyncFolder waits until the disk has the names in a folder.
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
