package results

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tailcut/tailcut/internal/mapreduce"
)

// Print writes the results of tasks that are done, one after the other, each line behind its tag unless tags is nil.
func (r *Run) Print(w io.Writer, tasks []*Result, tags *Tags) error {
	for _, t := range tasks {
		if t.State != Done {
			continue
		}
		in, err := r.Read(t)
		if err != nil {
			return err
		}
		out := w
		if tags != nil {
			out = &Tagged{W: w, Tag: tags.Of(t.Stage, t.Index)}
		}
		_, err = io.Copy(out, in)
		in.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// Tagged writes a tag before every line. A line may come in pieces.
type Tagged struct {
	W   io.Writer
	Tag []byte

	inside bool // a line has begun
	buf    []byte
}

// Write implements io.Writer.
func (t *Tagged) Write(text []byte) (int, error) {
	t.buf = t.buf[:0]
	for line := range bytes.Lines(text) {
		if !t.inside {
			t.buf = append(t.buf, t.Tag...)
		}
		t.buf = append(t.buf, line...)
		t.inside = line[len(line)-1] != '\n'
	}
	if _, err := t.W.Write(t.buf); err != nil {
		return 0, err
	}
	return len(text), nil
}

// CopyTo copies the results of tasks that are done into a folder, under the names that publishing gives them, with the
// files that the tasks left. Nothing that is there is replaced.
func (r *Run) CopyTo(folder string, tasks []*Result) error {
	several := r.several()
	for _, t := range tasks {
		if t.State != Done {
			continue
		}
		dir := folder
		if several {
			dir = filepath.Join(folder, r.Stages[t.Stage])
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		to := filepath.Join(dir, mapreduce.PartName(t.Index))
		if err := r.copyOne(t, to); err != nil {
			return err
		}
		if files := r.Files(t); files != "" {
			if err := mapreduce.Copy(files, to+mapreduce.FilesSuffix); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Run) copyOne(t *Result, to string) error {
	in, err := r.Read(t)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if os.IsExist(err) {
		return fmt.Errorf("%s is there already; name another folder: %w", to, fs.ErrExist)
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(to) // rather nothing than half of it
	}
	return err
}
