package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tailcut/tailcut/internal/disk"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/mapreduce"
)

// Folders knows where a run keeps what. The journal and the lock are in the root; all else is in a folder below that
// has the run's name, so that nothing of another run can be taken for its own.
type Folders struct {
	Root string
	Run  string // the name; "" for a run whose journal is of a version that kept everything in the root
}

// home is the folder of all that is the run's alone.
func (f Folders) home() string { return filepath.Join(f.Root, f.Run) }

// Journal returns the path of the run's journal.
func (f Folders) Journal() string { return filepath.Join(f.Root, "journal") }

// Lock returns the path of the file that the engine holds locked.
func (f Folders) Lock() string { return filepath.Join(f.Root, "lock") }

// Account returns the file in which map attempts write down what they map.
func (f Folders) Account() string { return filepath.Join(f.home(), "mapped") }

// Stdin returns the file with the standard input of the run, if its tasks read that in blocks.
func (f Folders) Stdin() string { return filepath.Join(f.home(), "stdin") }

// SyncStdin waits until that file and its name are on the disk.
func (f Folders) SyncStdin(file *os.File) error {
	return errors.Join(file.Sync(), disk.SyncFolder(f.home()), disk.SyncFolder(f.Root))
}

// Done returns the folder of a task's committed result.
func (f Folders) Done(stage, index int) string {
	return filepath.Join(f.DoneStage(stage), jobfile.TaskName(index))
}

// DoneStage returns the folder of a stage's committed results.
func (f Folders) DoneStage(stage int) string {
	return filepath.Join(f.home(), "done", fmt.Sprint(stage))
}

// saved returns the folder of what attempts of a task have saved for others to go on from.
func (f Folders) saved(stage, index int) string {
	return filepath.Join(f.allSaved(), fmt.Sprintf("%d-%05d", stage, index))
}

func (f Folders) allSaved() string { return filepath.Join(f.home(), "saved") }

func (f Folders) attempts() string { return filepath.Join(f.home(), "attempts") }

// Attempt returns the folder of an attempt that may still win.
func (f Folders) Attempt(a live.Attempt) string {
	return filepath.Join(f.attempts(), AttemptName(a))
}

// OutputIn returns the file with the result of a task, in the folder of a committed result.
func OutputIn(w *jobfile.Work, dir string) string {
	if w.Array != nil {
		return filepath.Join(dir, jobfile.StdoutName)
	}
	return mapreduce.ResultPath(dir)
}

// AttemptName returns the name of an attempt's folder, by which the account knows it.
func AttemptName(a live.Attempt) string { return fmt.Sprintf("%d-%05d.%d", a.Stage, a.Index, a.Number) }

// create makes the folders of a run with so many stages; those that exist are left alone.
func (f Folders) create(stages int) error {
	if err := f.Claim(); err != nil {
		return err
	}
	dirs := []string{f.attempts()}
	for s := range stages {
		dirs = append(dirs, f.DoneStage(s))
	}
	for _, d := range dirs {
		if err := os.MkdirAll(d, 0o777); err != nil {
			return err
		}
	}
	return nil
}

// commit renames the attempt's folder to its task's. A task that has a result keeps it.
func (f Folders) commit(a live.Attempt) error {
	from, to := f.Attempt(a), f.Done(a.Stage, a.Index)
	if _, err := os.Lstat(to); err == nil {
		return mapreduce.RemoveAll(from)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := mapreduce.Move(from, to); err != nil {
		return fmt.Errorf("the result of stage %d task %d is gone: %w", a.Stage, a.Index, err)
	}
	return nil
}

// clean drops what attempts left that were not committed, but not what they saved for others.
func (f Folders) clean() error {
	entries, err := os.ReadDir(f.attempts())
	for _, e := range entries {
		err = errors.Join(err, mapreduce.RemoveAll(filepath.Join(f.attempts(), e.Name())))
	}
	return err
}

// Draft returns the file with what is to be published.
func (f Folders) Draft() string { return filepath.Join(f.home(), "manifest") }

// retired returns the folder of the results of a run that needs them no more.
func (f Folders) retired() string { return filepath.Join(f.home(), "old") }

// Tidy removes everything but the journal, the lock and the account, once the results are published, or not wanted any
// more. The committed results are gone all at once, so that a run that is taken up finds none of which a part is
// missing.
func (f Folders) Tidy() error {
	if err := mapreduce.RemoveAll(f.retired()); err != nil { // of a Tidy that was cut short
		return err
	}
	err := mapreduce.Move(filepath.Join(f.home(), "done"), f.retired())
	if err == nil {
		err = disk.SyncFolder(f.home())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	results, err := f.retiredResults()
	err = errors.Join(err,
		mapreduce.SideBySide(len(results), func(i int) error { return mapreduce.RemoveAll(results[i]) }),
		mapreduce.RemoveAll(f.retired()), mapreduce.RemoveAll(f.allSaved()), mapreduce.RemoveAll(f.allStderr()),
		mapreduce.RemoveAll(f.failures()), mapreduce.RemoveAll(f.logSocket()), mapreduce.RemoveAll(f.Draft()))
	if err != nil {
		return err
	}
	return mapreduce.RemoveAll(f.attempts())
}

// Tidied tells whether a Tidy has come to its end: the folder of attempts goes last.
func (f Folders) Tidied() bool {
	_, err := os.Lstat(f.attempts())
	return errors.Is(err, fs.ErrNotExist)
}

// retiredResults lists the folders of results that are retired, so that they can be removed side by side.
func (f Folders) retiredResults() (paths []string, err error) {
	stages, err := os.ReadDir(f.retired())
	for _, stage := range stages {
		dir := filepath.Join(f.retired(), stage.Name())
		tasks, unread := os.ReadDir(dir)
		err = errors.Join(err, unread)
		for _, task := range tasks {
			paths = append(paths, filepath.Join(dir, task.Name()))
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return paths, err
}

// syncTree makes all regular files below a folder, and the folders, durable. What is empty needs nothing but its name
// in the folder above. What cannot be part of a result is an error.
func syncTree(root string) error {
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) == 0 {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(root, e.Name())
		switch info, err := e.Info(); {
		case err != nil:
			return err
		case e.IsDir():
			if err := syncTree(path); err != nil {
				return err
			}
		case e.Type().IsRegular() && info.Size() > 0:
			if err := disk.SyncFolder(path); err != nil { // opening and syncing is the same for files
				return err
			}
		case e.Type()&(fs.ModeSocket|fs.ModeDevice) != 0: // which nobody could copy
			return fmt.Errorf("%s in TAILCUT_OUTPUT is a socket or a device, which no result can have; the task must remove it", e.Name())
		}
	}
	return disk.SyncFolder(root)
}
