package proc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// Making files and removing them again costs a file system more than a small process costs the rest of the system: ext4
// passes over inodes that were freed within the last seconds, one by one. So what an attempt leaves as it was given
// goes to the next one: its folder, under the name of the new attempt, and the file of its standard output, emptied.
// Whether it is as it was, and nobody else has hold of it, is asked of the kernel. What is in doubt is removed.

// spares has folders and files for attempts to come.
type spares struct {
	root string       // folder of all attempts
	held func() error // an error if what is there may be another engine's

	mu      sync.Mutex
	made    int // files for standard output
	folders []*folder
	outs    []*outFile
}

// folder is the folder of an attempt. Nobody holds it open: each launch copies the table of open files.
type folder struct {
	path  string
	given state // as it was given to the attempt
	held  func() error
}

// outFile is where the standard output of an attempt goes.
type outFile struct {
	path   string
	handle *os.File // open for reading, so that whoever has it open for writing is somebody else
	mode   fs.FileMode
}

// pop takes the last of a list, if there is one.
func pop[T any](s *spares, list *[]T) (x T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(*list); n > 0 {
		x, ok = (*list)[n-1], true
		*list = (*list)[:n-1]
	}
	return x, ok
}

func push[T any](s *spares, list *[]T, x T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*list = append(*list, x)
}

// takeFolder returns an empty folder with that name.
func (s *spares) takeFolder(path string) (*folder, error) {
	f, ok := pop(s, &s.folders)
	if ok { // under the new name, which nobody knows, it must still be empty
		if ok = os.Rename(f.path, path) == nil && holdsNothing(path) == nil; !ok {
			_ = os.RemoveAll(path)
		}
	}
	if !ok {
		if err := os.Mkdir(path, 0o777); err != nil {
			return nil, err
		}
		f = &folder{held: s.held}
	}
	f.path = path
	return f, f.note()
}

// giveFolder takes back a folder, if the attempt is known to have left it as it was, and removes it otherwise.
func (s *spares) giveFolder(f *folder, clean bool) {
	if !clean {
		f.drop()
		return
	}
	push(s, &s.folders, f)
}

// drop removes the folder and all in it. What resists is dropped when the run ends.
func (f *folder) drop() {
	if f != nil {
		if f.held() == nil {
			_ = os.RemoveAll(f.path)
		}
	}
}

// empty tells whether nothing is in the folder; what is no longer there is empty, too.
func (f *folder) empty() bool {
	if info, err := os.Lstat(f.path); err == nil && !info.IsDir() {
		return false
	}
	err := holdsNothing(f.path)
	return err == nil || errors.Is(err, fs.ErrNotExist)
}

// holdsNothing returns nil for an empty folder.
func holdsNothing(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	switch _, err = d.Readdirnames(1); err {
	case io.EOF:
		return nil
	case nil:
		return syscall.ENOTEMPTY
	default:
		return err
	}
}

// takeOut returns an empty file.
func (s *spares) takeOut() (*outFile, error) {
	if o, ok := pop(s, &s.outs); ok {
		return o, nil
	}
	s.mu.Lock()
	s.made++
	path := filepath.Join(s.root, fmt.Sprintf("stdout.%d", s.made))
	s.mu.Unlock()
	handle, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDONLY, 0o666)
	if err != nil {
		return nil, err
	}
	info, err := handle.Stat()
	if err != nil {
		return nil, errors.Join(err, handle.Close())
	}
	return &outFile{path: path, handle: handle, mode: info.Mode()}, nil
}

// giveOut takes back a file, unless somebody may still write to it.
func (s *spares) giveOut(o *outFile) {
	if o == nil {
		return
	}
	info, err := o.handle.Stat()
	ok := err == nil && info.Mode() == o.mode && nobodyWrites(o.handle)
	if (!ok || info.Size() > 0) && s.held() != nil {
		o.handle.Close()
		return
	}
	if ok && info.Size() > 0 {
		ok = os.Truncate(o.path, 0) == nil
	}
	if !ok {
		_, _ = o.handle.Close(), os.Remove(o.path) // what is left is dropped when the run ends
		return
	}
	push(s, &s.outs, o)
}

// read returns what is in the file, if it is at most so many bytes and can be read; else nil.
func (o *outFile) read(most int64) []byte {
	info, err := o.handle.Stat()
	if err != nil || info.Size() > most {
		return nil
	}
	b := make([]byte, info.Size())
	n, err := o.handle.ReadAt(b, 0)
	if err != nil && err != io.EOF { // at the end, somebody has cut it meanwhile
		return nil
	}
	return b[:n]
}

// close lets go of everything. The files themselves are dropped with the attempts' folder.
func (s *spares) close() {
	for _, o := range s.outs {
		o.handle.Close()
	}
}
