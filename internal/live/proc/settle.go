package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tailcut/tailcut/internal/disk"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/mapreduce"
)

// Settle gives the results that only the journal has folders beside the others. A job that has ended without being
// published keeps them so when the journal that has them is a server's, which forgets the job. It can be called after
// Close, and again.
func (e *Executor) Settle() error {
	for stage, outputs := range e.kept {
		for index, output := range outputs {
			if err := e.cfg.Folders.Settle(stage, index, output); err != nil {
				return err
			}
		}
		if err := disk.SyncFolder(e.cfg.Folders.DoneStage(stage)); err != nil {
			return err
		}
	}
	return nil
}

// Settle makes the standard output of a task its committed result, which is on the disk when the folder of the stage is
// synced. A task that has a result keeps it.
func (f Folders) Settle(stage, index int, output []byte) error {
	to := f.Done(stage, index)
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	half := filepath.Join(f.home(), "settled")
	if err := errors.Join(mapreduce.RemoveAll(half), os.MkdirAll(half, 0o777), os.MkdirAll(filepath.Dir(to), 0o777)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(half, jobfile.StdoutName), output, 0o666); err != nil {
		return err
	}
	if err := syncTree(half); err != nil {
		return err
	}
	return os.Rename(half, to)
}
