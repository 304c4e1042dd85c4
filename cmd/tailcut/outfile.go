package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// outFile is a file for results, called what the user knows it as: a flag, or an argument.
type outFile struct{ called, path string }

// checkOut refuses, before any work is done, files that would be written over an input or over each other, or that have
// no folder to be in. A path may be "", which is no file; inputs may be what is none, such as "-" or a generator.
func checkOut(inputs []string, outs ...outFile) error {
	for i, o := range outs {
		if o.path == "" {
			continue
		}
		info, err := os.Stat(o.path)
		switch {
		case err == nil && info.IsDir():
			return fmt.Errorf("%s: %s is a folder; name a file", o.called, o.path)
		case err == nil && !info.Mode().IsRegular():
			continue // such as a pipe, or nothing at all
		}
		if folder, err := os.Stat(filepath.Dir(o.path)); err != nil || !folder.IsDir() {
			return fmt.Errorf("%s: %s: no such folder", o.called, o.path)
		}
		for _, in := range inputs {
			if sameFile(o.path, in) {
				return fmt.Errorf("%s: %s is the input; name another file", o.called, o.path)
			}
		}
		for _, other := range outs[:i] {
			if other.path != "" && sameFile(o.path, other.path) {
				return fmt.Errorf("%s: %s is what %s writes; name another file", o.called, o.path, other.called)
			}
		}
	}
	return nil
}

// sameFile says whether two paths, of which none, one or both exist, lead to one file.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(infoA, infoB)
	}
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absA == absB
}

// outWriter writes an outFile. The file gets its name when it is complete: work that is broken off leaves an older one
// as it was.
type outWriter struct {
	*bufio.Writer
	outFile
	part string // where it is until then; path if that cannot be renamed, such as a pipe
	file *os.File
}

// create begins to write the file; without a path it returns nil.
func (o outFile) create() (*outWriter, error) {
	if o.path == "" {
		return nil, nil
	}
	w := &outWriter{outFile: o, part: fmt.Sprintf("%s.part-%d", o.path, os.Getpid())}
	if info, err := os.Stat(o.path); err == nil && !info.Mode().IsRegular() {
		w.part = o.path
	}
	if w.part != w.path {
		unfinished.begin(w.part)
	}
	var err error
	if w.file, err = os.Create(w.part); err != nil {
		unfinished.end(w.part)
		return nil, o.wrong(err)
	}
	w.Writer = bufio.NewWriterSize(named{w.file, o}, 1<<16)
	return w, nil
}

// fill writes the file; without a path it does nothing.
func (o outFile) fill(write func(io.Writer) error) error {
	w, err := o.create()
	if w == nil {
		return err
	}
	return w.close(write(w))
}

// named is a file whose errors of writing are those of an outFile.
type named struct {
	file *os.File
	outFile
}

func (n named) Write(text []byte) (int, error) {
	k, err := n.file.Write(text)
	if err != nil {
		err = failure{n.wrong(err)}
	}
	return k, err
}

// wrong says which file could not be written, and not the name that it has until it is complete.
func (o outFile) wrong(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s: %s: %w", o.called, o.path, err)
}

// close ends the file: complete, unless the work on it failed. It returns that failure, or its own.
func (w *outWriter) close(failed error) error {
	if w == nil {
		return failed
	}
	defer unfinished.end(w.part)
	err := cmp.Or(failed, w.Flush())
	if err == nil && w.part != w.path {
		err = w.file.Sync()
	}
	err = cmp.Or(err, w.file.Close())
	switch {
	case w.part == w.path:
	case err == nil:
		err = os.Rename(w.part, w.path)
	default:
		_ = os.Remove(w.part)
	}
	if err == nil || failed != nil || errors.As(err, new(failure)) {
		return err
	}
	return failure{w.wrong(err)}
}
