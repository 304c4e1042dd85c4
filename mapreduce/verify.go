package mapreduce

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Mistake is a difference between a result and its manifest.
type Mistake struct {
	Path    string `json:"path"` // below the output folder
	Problem string `json:"problem"`
}

// Verify compares the result in a folder with its manifest, byte for byte. It returns what differs, in the order of the
// manifest, what the manifest does not list last.
func (m *Manifest) Verify(out string) (all []Mistake, err error) {
	found := make([]string, len(m.Parts))
	sums := map[string]string{}
	for i := range m.Parts {
		if e := &m.Parts[i]; e.SHA256 != "" && e.Size > 0 {
			sums[e.SHA256] = string(e.Path)
		}
	}
	if err := SideBySide(len(m.Parts), func(i int) (err error) {
		found[i], err = m.Parts[i].compare(out, sums)
		return err
	}); err != nil {
		return nil, err
	}
	listed := map[string]bool{}
	for i, problem := range found {
		path := string(m.Parts[i].Path)
		listed[path] = true
		if problem != "" {
			all = append(all, Mistake{path, problem})
		}
	}
	extra, err := m.extra(out, listed)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(out, SuccessName)); errors.Is(err, fs.ErrNotExist) {
		all = append(all, Mistake{SuccessName, "missing: the result is not complete"})
	}
	return append(all, extra...), nil
}

// compare says what is wrong with an entry, "" for nothing.
func (e *Entry) compare(out string, sums map[string]string) (string, error) {
	now := *e
	switch err := now.look(filepath.Join(out, filepath.FromSlash(string(e.Path)))); {
	case errors.Is(err, fs.ErrNotExist):
		return "missing", nil
	case err != nil:
		return "", err
	case now.Kind != e.Kind:
		return fmt.Sprintf("changed: a %s, and was a %s", orFile(now.Kind), orFile(e.Kind)), nil
	case now.Link != e.Link:
		return fmt.Sprintf("changed: leads to %q, and did to %q", now.Link, e.Link), nil
	case now.SHA256 != e.SHA256 && e.SHA256 != "" && sums[now.SHA256] != "":
		return fmt.Sprintf("changed: has the content of %s", sums[now.SHA256]), nil
	case now.Size != e.Size:
		return fmt.Sprintf("changed: %d bytes, and had %d", now.Size, e.Size), nil
	case now.SHA256 != e.SHA256 && e.SHA256 != "":
		return "changed: other bytes", nil
	}
	return "", nil
}

func orFile(kind string) string {
	if kind == "" {
		return "file"
	}
	return kind
}

// extra lists what looks like part of the result and is not in the manifest.
func (m *Manifest) extra(out string, listed map[string]bool) (all []Mistake, err error) {
	for _, folder := range m.folders() {
		entries, err := os.ReadDir(filepath.Join(out, folder))
		if errors.Is(err, fs.ErrNotExist) {
			continue // what was in it is missing
		}
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if !strings.HasPrefix(entry.Name(), "part-") {
				continue
			}
			root := filepath.Join(folder, entry.Name())
			err := filepath.WalkDir(filepath.Join(out, root), func(path string, d fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				rest, err := filepath.Rel(out, path)
				if err != nil || listed[filepath.ToSlash(rest)] {
					return err
				}
				all = append(all, Mistake{filepath.ToSlash(rest), "extra: not of this result"})
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// Remove removes from a folder what the manifest lists, and nothing else: a folder in which something else is stays.
// SuccessName goes first and the manifest last.
func (m *Manifest) Remove(out string) error {
	if err := removeFile(filepath.Join(out, SuccessName)); err != nil {
		return err
	}
	for i := range m.Parts {
		if e := &m.Parts[i]; e.Kind == kindFolder {
			_ = os.Chmod(filepath.Join(out, filepath.FromSlash(string(e.Path))), 0o700) // it may be gone
		}
	}
	for _, e := range slices.Backward(m.Parts) {
		path := filepath.Join(out, filepath.FromSlash(string(e.Path)))
		if e.Kind == kindFolder {
			_ = os.Remove(path) // unless something else is in it
			continue
		}
		if err := errors.Join(removeFile(path), removeTemp(path, &e)); err != nil {
			return err
		}
	}
	for _, folder := range m.folders() {
		if folder != "" {
			_ = os.Remove(filepath.Join(out, folder)) // the same
		}
	}
	return removeFile(filepath.Join(out, ManifestName))
}

// removeTemp removes what publishing a part may have left that was cut short.
func removeTemp(path string, e *Entry) error {
	if strings.Contains(string(e.Path), FilesSuffix+"/") {
		return nil
	}
	return RemoveAll(tempOf(path))
}

// removeFile removes what is no folder.
func removeFile(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || err == nil && info.IsDir() {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Remove(path)
}
