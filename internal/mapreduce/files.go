package mapreduce

import (
	"context"
	"fmt"
	"io"
	"os"
)

// Files is where input is: the file system of this machine, unless a job and its attempts are given another.
type Files interface {
	// List returns the files that a path names, in an order that is a function of their names. What does not exist or
	// cannot be read is an error that names the path.
	List(ctx context.Context, path string) ([]File, error)
	// Open opens a listed file to be read at any offset, from one goroutine.
	Open(ctx context.Context, f File) (Input, error)
}

// Input is an open file of the input.
type Input interface {
	io.ReaderAt
	io.Closer
	// Unchanged returns an error about ErrInputChanged if the file is not as it was listed any more.
	Unchanged() error
}

// LocalFiles is the file system of this machine. Paths may be relative; those of the files it lists are absolute.
type LocalFiles struct{}

// List implements Files as ListInputs does.
func (LocalFiles) List(ctx context.Context, path string) ([]File, error) {
	return ListInputs(ctx, []string{path})
}

// Open implements Files.
func (LocalFiles) Open(_ context.Context, f File) (Input, error) {
	file, err := os.Open(string(f.Path))
	if err != nil {
		return nil, err
	}
	return &localInput{file, f}, nil
}

type localInput struct {
	*os.File
	listed File
}

func (f *localInput) Unchanged() error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return f.listed.Same(info.Size(), info.ModTime().UnixNano())
}

// Same returns an error about ErrInputChanged unless a file has still the size and the modification time with which it
// was listed.
func (f *File) Same(size, modTime int64) error {
	switch {
	case size != f.Size:
		return fmt.Errorf("%s: %w: has %d bytes, and had %d", f.Path, ErrInputChanged, size, f.Size)
	case modTime != f.ModTime:
		return fmt.Errorf("%s: %w: written to again", f.Path, ErrInputChanged)
	}
	return nil
}

// filesOr returns files, or the local ones for none.
func filesOr(files Files) Files {
	if files == nil {
		return LocalFiles{}
	}
	return files
}
