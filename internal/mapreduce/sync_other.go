//go:build !linux

package mapreduce

import (
	"path/filepath"

	"github.com/tailcut/tailcut/internal/disk"
)

// syncAll makes files in a folder durable.
func syncAll(dir string, names []string) error {
	// opening and syncing is the same for files
	return SideBySide(len(names), func(i int) error { return disk.SyncFolder(filepath.Join(dir, names[i])) })
}
