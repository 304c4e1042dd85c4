package mapreduce

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// SuccessName is the empty file that Publish leaves in a complete output folder.
const SuccessName = "_SUCCESS"

// PrivateName is what an output folder calls the folder of the run's journal and unfinished work.
const PrivateName = "_tailcut"

// PartName returns the name of a part in the output folder.
func PartName(i int) string { return fmt.Sprintf("part-%05d", i) }

// Publish makes the result of a job visible: part-00000, part-00001 ... in the folder out, one for each of dirs, the
// folders that the final stage's tasks committed, in task order; and _SUCCESS, after all parts have reached the disk.
//
// Parts are hard links, or copies where the file system allows no link, and each appears whole under its name. A
// Publish that was cut short can be repeated, and so can one that was not. A part of that name from elsewhere is
// replaced (_SUCCESS is taken away before); a part beyond the last is an error, for it would be read as part of the
// result.
func Publish(dirs []string, out string) error {
	if err := publish(dirs, out); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

func publish(dirs []string, out string) error {
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	if err := checkForeign(out, len(dirs)); err != nil {
		return err
	}
	success := filepath.Join(out, SuccessName)
	for i, dir := range dirs {
		from, to := partPath(dir), filepath.Join(out, PartName(i))
		if same, err := sameFile(from, to); err != nil {
			return err
		} else if same {
			continue
		}
		if err := os.Remove(success); err == nil {
			if err := syncDir(out); err != nil {
				return err
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := place(from, to); err != nil {
			return err
		}
	}
	if err := syncDir(out); err != nil {
		return err
	}
	f, err := os.Create(success)
	if err != nil {
		return err
	}
	if err := cmp.Or(f.Sync(), f.Close()); err != nil {
		return err
	}
	return cmp.Or(syncDir(out), syncDir(filepath.Dir(out)))
}

// checkForeign looks for parts that this job does not have.
func checkForeign(out string, parts int) error {
	entries, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		digits, ok := strings.CutPrefix(entry.Name(), "part-")
		if !ok {
			continue
		}
		if i, err := strconv.Atoi(digits); err != nil || i < 0 || i >= parts || entry.Name() != PartName(i) {
			return fmt.Errorf("%s is in the way: the job has %d parts", filepath.Join(out, entry.Name()), parts)
		}
	}
	return nil
}

// sameFile says whether to is a link to from. It is an error if from does not exist.
func sameFile(from, to string) (bool, error) {
	a, err := os.Stat(from)
	if err != nil {
		return false, err
	}
	b, err := os.Lstat(to)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(a, b), err
}

// place makes from appear as to at once, replacing what was there. The temporary name is the same each time, so
// that a repetition clears what an interruption left.
func place(from, to string) error {
	temp := filepath.Join(filepath.Dir(to), "."+filepath.Base(to)+".tmp")
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Link(from, temp); err != nil {
		if err := copyFile(from, temp); err != nil {
			return err
		}
	}
	return os.Rename(temp, to)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return cmp.Or(err, out.Sync(), out.Close())
}
