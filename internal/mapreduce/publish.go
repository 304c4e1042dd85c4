package mapreduce

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/tailcut/tailcut/internal/disk"
)

// SuccessName is the empty file that Publish leaves in a complete output folder.
const SuccessName = "_SUCCESS"

// PrivateName is what an output folder calls the folder of the run's journal and unfinished work.
const PrivateName = "_tailcut"

const partPrefix = "part-"

// PartName returns the name of a part in the output folder.
func PartName(i int) string { return fmt.Sprintf(partPrefix+"%05d", i) }

// Publish makes the result of a run visible: the parts in the folder out; a manifest of them; and _SUCCESS, after all
// of that has reached the disk.
//
// What is to be published is written down first, in the file draft. So whatever dies, a repetition knows what belongs
// to the result and what is there by chance. Parts are hard links, or copies where the file system allows no link; each
// appears whole under its name, and no link is followed. A part of that name from elsewhere is replaced; a part beyond
// the last, or files of a part that are not of this result, are an error: nobody else's are removed.
func Publish(out, run, draft string, parts []Part) error {
	if err := publish(out, run, draft, parts); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

func publish(out, run, draft string, parts []Part) error {
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	stages := byFolder(parts)
	there := map[string]names{}
	for folder, of := range stages {
		var err error
		if there[folder], err = checkFolder(out, folder, len(of)); err != nil {
			return err
		}
	}
	success := filepath.Join(out, SuccessName)
	if err := os.Remove(success); err == nil {
		if err := disk.SyncFolder(out); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	m, err := draftOf(run, draft, parts)
	if err != nil {
		return err
	}
	known := m.trees()
	for folder, of := range stages {
		if err := placeAll(filepath.Join(out, folder), of, known, there[folder]); err != nil {
			return err
		}
	}
	if err := m.write(filepath.Join(out, ManifestName)); err != nil {
		return err
	}
	if err := createWhole(success, bytes.NewReader(nil), true); err != nil {
		return err
	}
	return errors.Join(disk.SyncFolder(out), disk.SyncFolder(filepath.Dir(out)))
}

// byFolder groups parts by their folders. Those of one folder follow each other, unless several stages share it.
func byFolder(parts []Part) map[string][]Part {
	if len(parts) == 0 {
		return map[string][]Part{"": nil}
	}
	stages := map[string][]Part{}
	for len(parts) > 0 {
		folder, n := parts[0].Folder, 1
		for n < len(parts) && parts[n].Folder == folder {
			n++
		}
		if of, more := stages[folder]; more {
			stages[folder] = append(of, parts[:n]...)
		} else {
			stages[folder] = parts[:n:n] // not copied: there may be millions
		}
		parts = parts[n:]
	}
	return stages
}

// names are what is in a folder before anything is placed there. Looking there for each part would cost as much as
// placing it.
type names map[string]bool

// checkFolder makes a folder for parts and looks for parts that the job does not have. It returns what it has found.
func checkFolder(out, folder string, parts int) (names, error) {
	dir := filepath.Join(out, folder)
	if folder != "" {
		if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		info, err := os.Lstat(dir)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() { // a link that leads to one is none
			return nil, fmt.Errorf("%s is in the way: expected a folder", dir)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	there := names{}
	for _, entry := range entries {
		there[entry.Name()] = true
		digits, ok := strings.CutPrefix(entry.Name(), "part-")
		if !ok {
			continue
		}
		digits = strings.TrimSuffix(digits, FilesSuffix)
		if strings.Trim(digits, "0123456789") != "" {
			continue // somebody's own
		}
		if i, err := strconv.Atoi(digits); err != nil || i >= parts || strings.TrimSuffix(entry.Name(), FilesSuffix) != PartName(i) {
			return nil, fmt.Errorf("%s is in the way: the job has %d parts", filepath.Join(dir, entry.Name()), parts)
		}
	}
	return there, nil
}

// draftOf reads what an earlier try of the run has written down, or writes it.
func draftOf(run, draft string, parts []Part) (*Manifest, error) {
	if m, err := ReadManifest(draft); err == nil && m.Run == run {
		return m, nil
	}
	entries, files := make([]Entry, len(parts)), make([][]Entry, len(parts))
	if err := SideBySide(len(parts), func(i int) (err error) {
		entries[i], files[i], err = parts[i].describe()
		return err
	}); err != nil {
		return nil, err
	}
	m := &Manifest{Schema: ManifestSchema, Run: run, Parts: entries}
	if slices.ContainsFunc(files, func(of []Entry) bool { return len(of) > 0 }) {
		m.Parts = nil
		for i := range entries {
			m.Parts = append(append(m.Parts, entries[i]), files[i]...)
		}
	}
	return m, m.write(draft)
}

// trees returns the entries of each part's files, by the path of the part.
func (m *Manifest) trees() map[string][]Entry {
	all := map[string][]Entry{}
	for _, e := range m.Parts {
		if part, _, ok := strings.Cut(string(e.Path), FilesSuffix); ok {
			all[part] = append(all[part], e)
		}
	}
	return all
}

// placeAll makes the parts of one folder appear, each at once, after all of them have been brought there and made
// durable under other names. Those names are the same each time, so that a repetition clears what an interruption left.
// Parts without content need no other name, and appear last.
func placeAll(dir string, parts []Part, known map[string][]Entry, there names) error {
	var mu sync.Mutex
	var written, brought []string
	if err := SideBySide(len(parts), func(i int) error {
		p := &parts[i]
		to := filepath.Join(dir, p.base())
		if p.empty() {
			return nil
		}
		if done, err := p.inPlace(to, there); err != nil || done {
			return err
		}
		temp := tempOf(to)
		fresh, err := p.bring(temp)
		mu.Lock()
		defer mu.Unlock()
		if brought = append(brought, to); fresh {
			written = append(written, filepath.Base(temp))
		}
		return err
	}); err != nil {
		return err
	}
	if len(written) > 0 {
		if err := syncAll(dir, written); err != nil {
			return err
		}
	}
	if err := SideBySide(len(brought), func(i int) error { return os.Rename(tempOf(brought[i]), brought[i]) }); err != nil {
		return err
	}
	for i := range parts { // one by one: those who make files in the same folder beside each other wait spinning
		if err := parts[i].placeEmpty(filepath.Join(dir, parts[i].base()), there); err != nil {
			return err
		}
	}
	if err := SideBySide(len(parts), func(i int) error {
		p := &parts[i]
		return p.placeFiles(filepath.Join(dir, p.base()+FilesSuffix), known[filepath.ToSlash(p.path())], there)
	}); err != nil {
		return err
	}
	return disk.SyncFolder(dir)
}

func tempOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
}

// empty tells whether the part is known to have no content.
func (p *Part) empty() bool { return p.File == "" && len(p.Data) == 0 }

// placeEmpty makes a part without content appear: such a file is whole at once.
func (p *Part) placeEmpty(to string, there names) error {
	if !p.empty() {
		return nil
	}
	temp := tempOf(to)
	if there[filepath.Base(temp)] { // of a part with content, that an interruption left
		if err := os.Remove(temp); err != nil {
			return err
		}
	}
	if done, err := p.inPlace(to, there); err != nil || done {
		return err
	}
	if !there[filepath.Base(to)] {
		return createEmpty(to)
	}
	if err := createEmpty(temp); err != nil {
		return err
	}
	return os.Rename(temp, to)
}

// createEmpty makes a file that was not there. The system's own calls do here: package os makes three more.
func createEmpty(path string) error {
	for {
		fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL|syscall.O_CLOEXEC, 0o666)
		if err == nil {
			return syscall.Close(fd)
		}
		if err != syscall.EINTR {
			return &os.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// inPlace tells whether a path is the part already.
func (p *Part) inPlace(to string, there names) (bool, error) {
	if !there[filepath.Base(to)] {
		return false, nil
	}
	found, err := os.Lstat(to)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || !found.Mode().IsRegular() {
		return false, err
	}
	if p.File != "" {
		mine, err := os.Lstat(p.File)
		return err == nil && os.SameFile(mine, found), err
	}
	if found.Size() != int64(len(p.Data)) {
		return false, nil
	}
	data, err := os.ReadFile(to)
	return err == nil && bytes.Equal(data, p.Data), nil
}

// bring makes the part a file of that name, and tells whether its content has still to reach the disk.
func (p *Part) bring(temp string) (fresh bool, err error) {
	if p.File == "" {
		return len(p.Data) > 0, createWhole(temp, bytes.NewReader(p.Data), false)
	}
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := os.Link(p.File, temp); err == nil {
		return p.name != "", nil // results were synced when they were committed
	}
	in, err := os.Open(p.File)
	if err != nil {
		return false, err
	}
	defer in.Close()
	return false, createWhole(temp, in, true)
}

// placeFiles moves the files of a part to where they belong. What is there already has to be what is known of them.
func (p *Part) placeFiles(to string, known []Entry, there names) error {
	placed := there[filepath.Base(to)]
	switch {
	case len(known) == 0 && placed:
		return fmt.Errorf("%s is in the way: it does not belong to this result; move it away", to)
	case len(known) == 0:
		return nil
	case placed:
		found, err := describeTree(to, known[0])
		if err != nil {
			return err
		}
		if !slices.Equal(found, known) {
			return fmt.Errorf("%s is in the way: it does not belong to this result; move it away", to)
		}
		return nil
	}
	if err := Move(p.Files, to); err != nil {
		return err
	}
	return nil
}

// SideBySide calls do for 0 to n-1, as many at once as there are cores, though two at least, and returns the errors.
func SideBySide(n int, do func(int) error) error {
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, min(n, max(2, runtime.NumCPU())))
	for w := range errs {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && errs[w] == nil; i = int(next.Add(1)) - 1 {
				errs[w] = do(i)
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
