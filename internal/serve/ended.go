package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// The engine forgets a job soon after its end. What is asked about it later is in a file of the server, a line of JSON
// for each job in the order of their ends.

// record is a job that is over.
type record struct {
	Job
	Key    string          `json:"key,omitempty"`    // of its submission
	Result json.RawMessage `json:"result,omitempty"` // as 'tailcut run --format json' prints it
	Shape  *shape          `json:"shape,omitempty"`  // nil in files of earlier versions
}

// shape is what is known of a job for others that may come like it, see [promise.Shape].
type shape struct {
	Spec   sched.JobSpec `json:"spec"`
	Stages []string      `json:"stages"` // names
}

func shapeOf(j *trace.JournalJob) *shape { return &shape{promise.Shape(&j.Spec), j.Stages} }

// archive is the file of jobs that are over.
type archive struct {
	path  string
	file  *os.File
	lines int
}

// openArchive reads the file, which need not be there. A last line without end was being written when the server died,
// which had told nobody of it.
func openArchive(path string) (*archive, []record, error) {
	if err := sweepDrafts(path); err != nil {
		return nil, nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	var all []record
	for line := range bytes.Lines(text[:whole]) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, nil, fmt.Errorf("%s:%d: damaged: %w; move the file away to start without the list of ended jobs", path, len(all)+1, err)
		}
		all = append(all, r)
	}
	a := &archive{path: path, lines: len(all)}
	if a.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, nil, err
	}
	if err := errors.Join(a.file.Truncate(int64(whole)), seekEnd(a.file)); err != nil {
		a.file.Close()
		return nil, nil, err
	}
	return a, all, nil
}

// sweepDrafts removes what a server left that was killed while it rewrote the file.
func sweepDrafts(path string) error {
	folder := filepath.Dir(path)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), draftName) {
			err = errors.Join(err, os.Remove(filepath.Join(folder, entry.Name())))
		}
	}
	return err
}

// draftName is what the name of the file begins with while it is rewritten.
const draftName = ".ended-"

func seekEnd(f *os.File) error {
	_, err := f.Seek(0, 2)
	return err
}

// add appends a job and returns when it is on the disk. A line that could not be written whole is taken back.
func (a *archive) add(r *record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	at, err := a.file.Seek(0, 1)
	if err != nil {
		return err
	}
	if _, err = a.file.Write(append(line, '\n')); err == nil {
		err = a.file.Sync()
	}
	if err != nil {
		return errors.Join(err, a.file.Truncate(at), seekEnd(a.file))
	}
	a.lines++
	return nil
}

// rewrite leaves only these jobs in the file, at once.
func (a *archive) rewrite(all []record) error {
	next, err := os.CreateTemp(filepath.Dir(a.path), draftName+"*")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(next)
	in := json.NewEncoder(out)
	for i := range all {
		err = errors.Join(err, in.Encode(&all[i]))
	}
	if err = errors.Join(err, out.Flush(), next.Sync()); err == nil {
		err = os.Rename(next.Name(), a.path)
	}
	if err != nil {
		return errors.Join(err, next.Close(), os.Remove(next.Name()))
	}
	_ = a.file.Close()
	a.file, a.lines = next, len(all)
	return nil
}

// kept chooses the jobs that are still listed: so many of the last, none that ended before an instant, and those that
// others wait for.
func kept(all []record, most int, since time.Time, wanted func(id int64) bool) []record {
	first := max(0, len(all)-most)
	var out []record
	for i := range all {
		if r := &all[i]; i >= first && (r.Ended == nil || r.Ended.After(since)) || wanted(r.ID) {
			out = append(out, *r)
		}
	}
	return slices.Clip(out)
}
