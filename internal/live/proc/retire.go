package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/tailcut/tailcut/internal/disk"
	"github.com/tailcut/tailcut/internal/mapreduce"
)

// runName is the form of runs' names, which are those of their folders.
var runName = regexp.MustCompile(`^[0-9a-f]{16}$`)

// unnamed is what versions kept in the root that did not name folders by runs, and what a journal is called before it
// is whole.
var unnamed = []string{"attempts", "saved", "done", "old", "stderr", "mapped", "manifest", "journal.new", "journal.pulse", "journal.left", "journal.left.new"}

// Claim makes the root, which is its owner's alone: journals hold environments, and who can open the lock can hold it.
func (f Folders) Claim() error {
	if err := os.MkdirAll(f.Root, 0o700); err != nil {
		return err
	}
	if info, err := os.Stat(f.Root); err == nil && info.Mode().Perm()&0o077 != 0 {
		_ = os.Chmod(f.Root, 0o700) // somebody else's, perhaps
	}
	return nil
}

// Runs returns the names of the runs that have left a folder, in order.
func (f Folders) Runs() (names []string, err error) {
	entries, err := os.ReadDir(f.Root)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, e := range entries {
		if runName.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Retire removes what runs have left in the root, whichever they were, but neither the lock nor a journal, nor what has
// a name that no version gives. A run that begins has nothing to do with any of it.
func (f Folders) Retire() error {
	entries, err := os.ReadDir(f.Root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if runName.MatchString(e.Name()) || slices.Contains(unnamed, e.Name()) {
			err = errors.Join(err, mapreduce.RemoveAll(filepath.Join(f.Root, e.Name())))
		}
	}
	return errors.Join(err, disk.SyncFolder(f.Root))
}
