package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/mapreduce"
)

// carryOut is how long an engine may take between claiming a result in the journal and giving its file its name.
const carryOut = time.Second

// InJournal tells whether the journal alone has a task's result, as of small ones until they are published.
func (t *Result) InJournal() bool { return t.output != nil }

// Read opens the result of a task that is done.
func (r *Run) Read(t *Result) (io.ReadCloser, error) {
	if t.output != nil {
		return io.NopCloser(bytes.NewReader(t.output)), nil
	}
	path, err := r.Path(t)
	if err != nil {
		return nil, err
	}
	// Whatever a task left in the place of a file is not waited for.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: expected a file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Size returns the bytes of a result, and whether they are known.
func (r *Run) Size(t *Result) (int64, bool) {
	if t.output != nil {
		return int64(len(t.output)), true
	}
	path, err := r.Path(t)
	if err != nil {
		return 0, false
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	return info.Size(), true
}

// Path returns the file with the result of a task that is done. A run that is at work moves it, from the attempt's
// folder to the task's and to the output, so all are looked at again for a while.
func (r *Run) Path(t *Result) (string, error) {
	places := []string{t.path}
	if t.path == "" {
		name := mapreduce.PartName(t.Index)
		if r.work.Array != nil && len(r.work.Array.Stages) > 1 {
			name = filepath.Join(r.Stages[t.Stage], name)
		}
		places = []string{
			proc.OutputIn(r.work, r.folders.Done(t.Stage, t.Index)),
			proc.OutputIn(r.work, r.folders.Attempt(live.Attempt{Stage: t.Stage, Index: t.Index, Number: t.Attempt})),
			filepath.Join(r.Out, name),
		}
	}
	for began := time.Now(); ; time.Sleep(carryOut / 100) {
		for _, path := range places {
			if _, err := os.Lstat(path); err == nil {
				return path, nil
			} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
				return "", err
			}
		}
		if !r.Active || time.Since(began) > carryOut {
			return "", fmt.Errorf("%s: the result of task %s is gone", places[0], r.NameOf(t))
		}
	}
}

// Files returns the folder of the files that a task left beside its standard output; "" if it left none.
func (r *Run) Files(t *Result) string {
	if t.output != nil || r.work != nil && r.work.MapReduce != nil {
		return ""
	}
	path, err := r.Path(t)
	if err != nil {
		return ""
	}
	files := filepath.Join(filepath.Dir(path), jobfile.FilesName)
	if filepath.Base(path) != jobfile.StdoutName {
		files = path + mapreduce.FilesSuffix
	}
	if _, err := os.Lstat(files); err != nil {
		return ""
	}
	return files
}
