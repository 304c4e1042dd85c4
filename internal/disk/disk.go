// Package disk waits for what has to be on a disk before somebody relies on it.
package disk

import (
	"errors"
	"os"
)

// SyncFolder waits until the disk has the names in a folder.
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
