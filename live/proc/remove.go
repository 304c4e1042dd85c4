package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

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
