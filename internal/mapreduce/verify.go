package mapreduce

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
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
func (m *Manifest) Verify(out string) ([]Mistake, error) {
	found := slices.Clone(m.Parts)
	if err := SideBySide(len(found), func(i int) error {
		e := &found[i]
		err := e.look(filepath.Join(out, filepath.FromSlash(string(e.Path))))
		if errors.Is(err, fs.ErrNotExist) {
			e.Kind, err = KindNothing, nil
		}
		return err
	}); err != nil {
		return nil, err
	}
	extra, err := m.extra(out)
	if err != nil {
		return nil, err
	}
	return m.Compare(found, !isMissing(filepath.Join(out, SuccessName)), extra), nil
}

// Missing returns the paths of entries in whose place nothing is, in their order. It looks at no content: whoever asks
// waits for no more than the system's answers.
func (m *Manifest) Missing(out string) (all []Path) {
	gone := make([]bool, len(m.Parts))
	_ = SideBySide(len(gone), func(i int) error {
		gone[i] = isMissing(filepath.Join(out, filepath.FromSlash(string(m.Parts[i].Path))))
		return nil
	})
	for i := range gone {
		if gone[i] {
			all = append(all, m.Parts[i].Path)
		}
	}
	return all
}

func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// Compare returns what differs between the manifest and what was found at the paths of its entries, in their order;
// whether there is a file SuccessName; and what of other paths looks like part of the result.
func (m *Manifest) Compare(found []Entry, success bool, extra []string) (all []Mistake) {
	sums := map[string]string{}
	for i := range m.Parts {
		if e := &m.Parts[i]; e.SHA256 != "" && e.Size > 0 {
			sums[e.SHA256] = string(e.Path)
		}
	}
	for i := range m.Parts {
		if problem := m.Parts[i].compare(&found[i], sums); problem != "" {
			all = append(all, Mistake{string(m.Parts[i].Path), problem})
		}
	}
	if !success {
		all = append(all, Mistake{SuccessName, "missing: the result is not complete"})
	}
	for _, path := range extra {
		all = append(all, Mistake{path, "extra: does not belong to this result"})
	}
	return all
}

// compare says what is wrong with what was found in the place of an entry, "" for nothing.
func (e *Entry) compare(now *Entry, sums map[string]string) string {
	switch {
	case now.Kind == KindNothing:
		return "missing"
	case now.Kind != e.Kind:
		return fmt.Sprintf("changed: a %s, and was a %s", orFile(now.Kind), orFile(e.Kind))
	case now.Link != e.Link:
		return fmt.Sprintf("changed: leads to %q, and did to %q", now.Link, e.Link)
	case now.SHA256 != e.SHA256 && e.SHA256 != "" && sums[now.SHA256] != "":
		return fmt.Sprintf("changed: has the content of %s", sums[now.SHA256])
	case now.Size != e.Size:
		return fmt.Sprintf("changed: %d bytes, and had %d", now.Size, e.Size)
	case now.SHA256 != e.SHA256 && e.SHA256 != "":
		return "changed: other bytes"
	}
	return ""
}

func orFile(kind string) string {
	if kind == "" {
		return "file"
	}
	return kind
}

// extra lists what in a folder looks like part of the result and is not in the manifest.
func (m *Manifest) extra(out string) (all []string, err error) {
	strange := m.Strange()
	for _, folder := range m.folders() {
		entries, err := os.ReadDir(filepath.Join(out, folder))
		if errors.Is(err, fs.ErrNotExist) {
			continue // what was in it is missing
		}
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if !strings.HasPrefix(entry.Name(), partPrefix) {
				continue
			}
			root := filepath.Join(out, folder, entry.Name())
			err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				rest, err := filepath.Rel(out, path)
				if err != nil || !strange(filepath.ToSlash(rest)) {
					return err
				}
				all = append(all, filepath.ToSlash(rest))
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

// Strange returns a function that tells of a path below the output whether it looks like part of the result and is not
// in the manifest.
func (m *Manifest) Strange() func(path string) bool {
	listed := map[string]bool{}
	for i := range m.Parts {
		p := string(m.Parts[i].Path)
		for ; p != "." && !listed[p]; p = path.Dir(p) { // of a result that was in a store no folders are listed
			listed[p] = true
		}
	}
	folders := m.folders()
	return func(path string) bool {
		return !listed[path] && slices.ContainsFunc(folders, func(folder string) bool {
			rest := path
			if folder != "" {
				rest = strings.TrimPrefix(path, folder+"/")
			}
			return strings.HasPrefix(rest, partPrefix)
		})
	}
}

// Remove removes from a folder what the manifest lists, and nothing else: a folder in which something else is stays.
// SuccessName goes first and the manifest last.
func (m *Manifest) Remove(out string) error {
	if err := removeFile(filepath.Join(out, SuccessName)); err != nil {
		return err
	}
	for i := range m.Parts {
		if e := &m.Parts[i]; e.Kind == KindFolder {
			_ = os.Chmod(filepath.Join(out, filepath.FromSlash(string(e.Path))), 0o700) // it may be gone
		}
	}
	for _, e := range slices.Backward(m.Parts) {
		path := filepath.Join(out, filepath.FromSlash(string(e.Path)))
		if e.Kind == KindFolder {
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
