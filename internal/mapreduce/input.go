package mapreduce

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/tailcut/tailcut/internal/unpack"
)

// ErrInputChanged marks an attempt that failed because a file no longer has the size or the modification time it
// had when the job was planned, or is gone. Running the attempt again cannot help.
var ErrInputChanged = errors.New("changed since the run began")

// Path is the name of a file. In JSON it is a string, or {"base64":"..."} when it is no valid UTF-8, which a file
// name may be and a JSON string may not.
type Path string

// MarshalJSON implements json.Marshaler.
func (p Path) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(p)) {
		return json.Marshal(string(p))
	}
	return json.Marshal(rawPath{Base64: []byte(p)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Path) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var raw rawPath
		if err := json.Unmarshal(data, &raw); err != nil {
			return err
		}
		*p = Path(raw.Base64)
		return nil
	}
	return json.Unmarshal(data, (*string)(p))
}

type rawPath struct {
	Base64 []byte `json:"base64"`
}

// File is a regular file of the input as it was when it was listed.
type File struct {
	Path    Path  `json:"path"`               // absolute
	Size    int64 `json:"size_bytes"`         // at the time of listing
	ModTime int64 `json:"mod_time_unix_nano"` // at the time of listing, nanoseconds since 1970

	Packed unpack.Format `json:"packed,omitempty"` // how it is compressed, told by its content; Size is of that
	Local  bool          `json:"-"`                // LocalFiles listed it, and has set Packed; plans do not keep this
}

// ListInputs returns the regular files that paths name. A folder stands for all regular files below it, each
// folder's entries in byte order of their names. A path that is itself a symbolic link is followed; links inside
// folders, sockets, pipes and devices are passed over, as find -H -type f does. What a run leaves beside its parts is
// passed over, too, so that the output of a run can be the input of another. A path given twice counts twice. A path
// may be a pattern: see Glob. It is an error, naming the path, when one does not exist, cannot be read, or is neither
// a file nor a folder. Once ctx is done no more folders are read, and its error is returned.
func ListInputs(ctx context.Context, paths []string) ([]File, error) {
	var files []File
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("input %s: %w", path, err)
		}
		found, err := Glob(ctx, abs)
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			if files, err = appendPath(ctx, files, path); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// appendPath appends what is at a path.
func appendPath(ctx context.Context, files []File, path string) ([]File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("input: %w", err)
	case info.IsDir():
		return appendFolder(ctx, files, path)
	case info.Mode().IsRegular():
		return appendFile(files, path)
	}
	return nil, fmt.Errorf("input %s: neither a regular file nor a folder", path)
}

// isLeftover tells what a run leaves beside its parts.
func isLeftover(name string) bool {
	return name == SuccessName || name == ManifestName || name == PrivateName || name == StderrName
}

func appendFolder(ctx context.Context, files []File, folder string) ([]File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder) // sorted by name
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		switch {
		case isLeftover(entry.Name()):
		case entry.IsDir():
			files, err = appendFolder(ctx, files, path)
		case entry.Type().IsRegular():
			files, err = appendFile(files, path)
		}
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// appendFile opens the file to learn now, and not in a hundred attempts, that it cannot be read, and how it is
// compressed.
func appendFile(files []File, path string) ([]File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	file := File{Path: Path(path), Size: info.Size(), ModTime: info.ModTime().UnixNano(), Local: true}
	if err := file.detect(f); err != nil {
		return nil, err
	}
	return append(files, file), nil
}
