package past

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/promise"
)

// Files is what is kept without the program: a folder with a file of durations per name. It implements [History] as
// far as that goes.
type Files struct{ Folder string }

var _ History = Files{}

// FileOf returns the file of a name.
func (f Files) FileOf(name string) string {
	return filepath.Join(f.Folder, url.PathEscape(name)+".json")
}

// ListNames returns the names of which there are files, in alphabetical order.
func (f Files) ListNames() (names []string) {
	entries, err := os.ReadDir(f.Folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		escaped, found := strings.CutSuffix(e.Name(), ".json")
		if name, err := url.PathUnescape(escaped); found && err == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// ReadFile reads a file of durations; there need not be one. When ctx is done it returns, whatever the disk does.
func ReadFile(ctx context.Context, path string) (*live.Past, error) {
	data, err := await(ctx, path, func() ([]byte, error) { return os.ReadFile(path) })
	if errors.Is(err, fs.ErrNotExist) {
		return &live.Past{}, nil
	}
	if err != nil {
		return nil, err
	}
	past, err := live.ParsePast(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return past, nil
}

// WriteFile replaces the file at once, so that whoever reads it finds the old or the new. When ctx is done it returns,
// whatever the disk does, which may have the new one later.
func WriteFile(ctx context.Context, path string, h *live.Past) error {
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	_, err = await(ctx, path, func() (struct{}, error) { return struct{}{}, replace(path, data) })
	return err
}

func replace(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(append(data, '\n'))
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

// Add keeps what a job that has succeeded took.
func (f Files) Add(ctx context.Context, j *JobRecord) error {
	if j.Name == "" || j.State != Succeeded {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, Late)
	defer cancel()
	path := f.FileOf(j.Name)
	past, err := ReadFile(ctx, path)
	if err != nil {
		return err
	}
	past.AddRun(j.Name, j.run())
	return WriteFile(ctx, path, past)
}

// Past implements [History].
func (f Files) Past(ctx context.Context, name string, runs int) (*live.Past, error) {
	past, err := ReadFile(ctx, f.FileOf(name))
	if err == nil && runs > 0 {
		past.Runs = past.Runs[max(0, len(past.Runs)-runs):]
	}
	return past, err
}

// Jobs implements [History]: files do not know when jobs were.
func (f Files) Jobs(context.Context, *Query) ([]*JobRecord, error) { return nil, ErrNoProgram }

// Names implements [History].
func (f Files) Names(context.Context) ([]NameRecord, error) { return nil, ErrNoProgram }

// Kept implements [History].
func (f Files) Kept(context.Context, *Query) ([]promise.Outcome, error) { return nil, ErrNoProgram }

// Close implements [History].
func (f Files) Close() error { return nil }
