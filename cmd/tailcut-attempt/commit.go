package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const commitUsage = `usage: tailcut-attempt commit FILE DESTINATION

Makes FILE the result of a task, unless another attempt has been faster: then that result stays. DESTINATION is a path,
as of a shared volume, or s3://BUCKET/KEY. The status is 0 in both cases, and the output says which it was.
`

// commit is the command of this name.
func commit(args []string, stdout, stderr io.Writer) int {
	if len(args) != 2 || strings.HasPrefix(args[0], "-") {
		fmt.Fprint(stderr, commitUsage)
		return 2
	}
	first, err := commitTo(args[0], args[1])
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "tailcut-attempt: %s is not committed: %v\n", args[1], err)
		return 1
	case first:
		fmt.Fprintln(stdout, "committed", args[1])
	default:
		fmt.Fprintln(stdout, "another attempt was faster:", args[1], "stays as it is")
	}
	return 0
}

func commitTo(file, destination string) (first bool, err error) {
	if rest, ok := strings.CutPrefix(destination, "s3://"); ok {
		bucket, key, _ := strings.Cut(rest, "/")
		if bucket == "" || key == "" {
			return false, errors.New("write s3://BUCKET/KEY")
		}
		store, err := s3Of(os.Getenv)
		if err != nil {
			return false, err
		}
		return store.putFirst(file, bucket, key)
	}
	if scheme, _, ok := strings.Cut(destination, "://"); ok {
		return false, fmt.Errorf("%s:// is neither a path nor s3://", scheme)
	}
	return linkFirst(file, destination)
}

// linkFirst gives a copy of a file a name, unless something has that name. To link is one step for whoever looks, on
// any node, and of two that try one fails.
func linkFirst(file, name string) (first bool, err error) {
	from, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer from.Close()
	if info, err := from.Stat(); err != nil || !info.Mode().IsRegular() {
		return false, errors.Join(err, fmt.Errorf("%s is no regular file", file))
	}
	folder := filepath.Dir(name)
	to, err := os.CreateTemp(folder, "."+filepath.Base(name)+".*")
	if err != nil {
		return false, err
	}
	defer os.Remove(to.Name())
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Chmod(0o644), to.Sync(), to.Close()); err != nil {
		return false, err
	}
	if err := os.Link(to.Name(), name); errors.Is(err, fs.ErrExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	dir, err := os.Open(folder)
	if err != nil {
		return true, err
	}
	defer dir.Close()
	return true, dir.Sync()
}
