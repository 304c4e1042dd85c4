package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/tailcut/tailcut/live/proc"
	"github.com/tailcut/tailcut/mapreduce"
	"github.com/tailcut/tailcut/trace"
)

// resultName matches what a run leaves in its output folder, besides _SUCCESS, the private folder, and one folder per
// stage of several.
var resultName = regexp.MustCompile(`^(part-\d{5,}(\.files)?|\.part-\d{5,}\.tmp)$`)

// clear removes an earlier result and what is kept of its run, but nothing that somebody else put beside it. What a run
// that is taken up could publish goes first, then _SUCCESS, and the journal last, so that a clearing that was cut short
// leaves neither a result that looks whole and is not, nor parts that nobody knows.
func (e *engine) clear() error {
	if _, err := os.Stat(e.folders.Root); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := proc.LockRun(e.folders)
	if err != nil {
		return failure{err}
	}
	defer lock.Close()
	names, err := e.results()
	if err != nil {
		return err
	}
	if err := e.folders.Tidy(); err != nil {
		return failure{err}
	}
	for _, name := range names {
		if err := proc.RemoveAll(filepath.Join(e.out, name)); err != nil {
			return failure{err}
		}
	}
	for _, path := range []string{e.folders.Account(), e.folders.Journal()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failure{err}
		}
	}
	return nil
}

// results lists the names in the output folder that belong to the run that it holds.
func (e *engine) results() ([]string, error) {
	names := []string{mapreduce.SuccessName}
	stages, err := e.stageFolders()
	if err != nil {
		return nil, fmt.Errorf("%s: cannot tell what of it belongs to the run (%w); remove it yourself, or name another --output", e.out, err)
	}
	names = append(names, stages...)
	entries, err := os.ReadDir(e.out)
	for _, entry := range entries {
		if resultName.MatchString(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// stageFolders lists the folders of the stages of the run that the output folder holds, if it has several.
func (e *engine) stageFolders() ([]string, error) {
	if _, err := os.Stat(e.folders.Journal()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r, err := trace.OpenJournalReader(e.folders.Journal())
	if err != nil {
		return nil, err
	}
	var work proc.Work
	if err := json.Unmarshal(r.Header.Work, &work); err != nil {
		return nil, err
	}
	if work.Array == nil || len(work.Array.Stages) == 1 {
		return nil, nil
	}
	return r.Header.Stages, nil
}
