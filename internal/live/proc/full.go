package proc

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// probeSize is how much a disk must take that is not full.
const probeSize = 64 << 10

// full tells whether an error is want of room on a disk.
func full(err error) bool { return anyOf(err, syscall.ENOSPC, syscall.EDQUOT) }

// fullDisk tells whether an attempt may have failed because a disk is full: it says so, or the disk of the attempts is.
// It returns the reason of the failure with that in it.
func (e *Executor) fullDisk(note string) (string, bool) {
	for _, err := range []error{syscall.ENOSPC, syscall.EDQUOT} { // C libraries begin with a capital letter
		if strings.Contains(strings.ToLower(note), err.Error()) {
			return note, true
		}
	}
	if err := probe(e.cfg.Folders.attempts()); full(err) {
		return note + "; " + err.Error(), true
	}
	return note, false
}

// probe writes a file in a folder and removes it again.
func probe(folder string) error {
	f, err := os.CreateTemp(folder, "probe-*")
	if err != nil {
		return inFolder(folder, err)
	}
	_, err = f.Write(make([]byte, probeSize))
	return inFolder(folder, errors.Join(err, f.Close(), os.Remove(f.Name())))
}

// inFolder names a folder, instead of a file in it, as the place of an error.
func inFolder(folder string, err error) error {
	for _, known := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, known) {
			return &os.PathError{Op: "write", Path: folder, Err: known}
		}
	}
	return err
}
