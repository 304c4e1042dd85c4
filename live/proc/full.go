package proc

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// probeSize is how much a disk must take that is not full.
const probeSize = 64 << 10

// withFullDisk adds to the reason of a failure that the disk of the attempts is full, if it is: what the attempt itself
// has said of it was to be kept on the same disk, and may be lost.
func (e *Executor) withFullDisk(note string) string {
	if strings.Contains(note, syscall.ENOSPC.Error()) || strings.Contains(note, syscall.EDQUOT.Error()) {
		return note
	}
	if err := probe(e.cfg.Folders.attempts()); errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return note + "; " + err.Error()
	}
	return note
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
