package mapreduce

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tailcut/tailcut/internal/disk"
)

// Move renames a path. Where the system refuses that of a folder (one that an overlay file system has in a lower layer,
// or one that may not be written to) a copy appears under the new name, whole and durable, and the old path goes then.
func Move(from, to string) error {
	err := os.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) && !errors.Is(err, syscall.EACCES) {
		return err
	}
	return copyMove(from, to)
}

func copyMove(from, to string) error {
	temp := tempOf(to)
	if err := errors.Join(RemoveAll(temp), copyTree(from, temp)); err != nil {
		return err
	}
	if err := errors.Join(disk.SyncFolder(filepath.Dir(temp)), os.Rename(temp, to), disk.SyncFolder(filepath.Dir(to))); err != nil {
		return err
	}
	return RemoveAll(from)
}

// Copy makes a durable copy of a path and all below it, where nothing may be yet.
func Copy(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s is there already; name another folder: %w", to, fs.ErrExist)
	}
	return copyTree(from, to)
}

// copyTree makes a durable copy of a path and all below it, which keeps modes and links.
func copyTree(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case mode.IsDir():
		return copyFolder(from, to, mode.Perm())
	case mode.IsRegular():
		in, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
		if err != nil {
			return err
		}
		defer in.Close()
		return errors.Join(createWhole(to, in, true), os.Chmod(to, mode.Perm()))
	case mode&fs.ModeNamedPipe != 0:
		return syscall.Mkfifo(to, uint32(mode.Perm()))
	}
	return fmt.Errorf("%s: cannot be copied: neither a file nor a folder", from)
}

func copyFolder(from, to string, mode fs.FileMode) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if err := copyTree(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return errors.Join(disk.SyncFolder(to), os.Chmod(to, mode))
}

// RemoveAll removes a path and all below it, like os.RemoveAll, also where folders may not be written to: attempts
// leave such.
func RemoveAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() { // and not yet read
			_ = os.Chmod(at, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}
