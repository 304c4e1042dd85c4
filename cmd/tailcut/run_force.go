package main

import (
	"encoding/json"
	"errors"
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

// clear removes an earlier result and what is kept of its run, but nothing that somebody else put beside it: _SUCCESS
// first, then the parts, so that a clearing that was cut short leaves no result that looks whole and is not.
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
	for _, name := range names {
		if err := proc.RemoveAll(filepath.Join(e.out, name)); err != nil {
			return failure{err}
		}
	}
	if err := os.Remove(e.folders.Journal()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failure{err}
	}
	if err := e.folders.Retire(); err != nil {
		return failure{err}
	}
	return nil
}

// results lists the names in the output folder that belong to the run that it holds.
func (e *engine) results() ([]string, error) {
	names := []string{mapreduce.SuccessName}
	names = append(names, e.stageFolders()...)
	entries, err := os.ReadDir(e.out)
	for _, entry := range entries {
		if resultName.MatchString(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// stageFolders lists the folders of the stages of the run that the output folder holds, if it has several and its
// journal says so.
func (e *engine) stageFolders() []string {
	r, err := trace.OpenJournalReader(e.folders.Journal())
	if err != nil {
		return nil
	}
	var work proc.Work
	if json.Unmarshal(r.Header.Work, &work) != nil || work.Array == nil || len(work.Array.Stages) == 1 {
		return nil
	}
	return r.Header.Stages
}
