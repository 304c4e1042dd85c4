package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/trace"
)

// clear removes an earlier result and what is kept of its run, but nothing that somebody else put beside it: _SUCCESS
// first, then the parts, so that a clearing that was cut short leaves no result that looks whole and is not. What has
// been published, or was to be, manifests say; so it matters little what is left of the journal. The folder is locked.
func (e *Engine) clear() error {
	all, err := e.manifests()
	if err != nil {
		return err
	}
	if len(all) == 0 {
		err = e.clearUnlisted()
	}
	for _, m := range all {
		err = errors.Join(err, m.Remove(e.out))
	}
	if err != nil {
		return Failure{err}
	}
	if err := os.Remove(e.folders.Journal()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Failure{err}
	}
	if err := e.folders.Retire(); err != nil {
		return Failure{err}
	}
	return nil
}

func (e *Engine) manifest() string { return filepath.Join(e.out, mapreduce.ManifestName) }

// manifests reads that of the result and those of runs that have begun to publish.
func (e *Engine) manifests() (all []*mapreduce.Manifest, err error) {
	paths := []string{e.manifest()}
	runs, err := e.folders.Runs()
	if err != nil {
		return nil, Failure{err}
	}
	for _, run := range append(runs, "") {
		paths = append(paths, proc.Folders{Root: e.folders.Root, Run: run}.Draft())
	}
	for _, path := range paths {
		m, err := e.readManifest(path)
		if err != nil {
			return nil, err
		}
		if m != nil {
			all = append(all, m)
		}
	}
	return all, nil
}

// readManifest returns nil if there is none, as versions before manifests left it.
func (e *Engine) readManifest(path string) (*mapreduce.Manifest, error) {
	m, err := mapreduce.ReadManifest(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, Failure{fmt.Errorf("%w; without it Tailcut does not know which files belong to the result: remove %s yourself, or name another --output", err, e.out)}
	}
	return m, nil
}

// resultName matches what a run of a version without manifests left in its output folder, besides _SUCCESS, the private
// folder, and one folder per stage of several.
var resultName = regexp.MustCompile(`^(part-\d{5,}(\.files)?|\.part-\d{5,}\.tmp)$`)

// clearUnlisted removes a result without a manifest: of a version that wrote none, or of a newer one if that was
// removed, in whose folders of stages may be what is somebody else's. Where nothing is complete a newer one has
// published nothing.
func (e *Engine) clearUnlisted() error {
	r, err := trace.OpenJournalReader(e.folders.Journal())
	if (err != nil || r.Header.Folder() != "") && !e.complete() {
		return nil
	}
	names := []string{mapreduce.SuccessName}
	var work jobfile.Work
	if r != nil && r.Header.Folder() == "" && json.Unmarshal(r.Header.Work, &work) == nil && work.Array != nil && len(work.Array.Stages) > 1 {
		names = append(names, r.Header.Stages...)
	}
	entries, err := os.ReadDir(e.out)
	for _, entry := range entries {
		if resultName.MatchString(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	for _, name := range names {
		err = errors.Join(err, mapreduce.RemoveAll(filepath.Join(e.out, name)))
	}
	return err
}
