package mapreduce

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The attempts of a run keep an account of the input that they map, in one file for all: each piece is written down
// before it is mapped, by one write to the file's end, so that the account has what an attempt mapped that was killed
// in the middle, or died with its engine. It is not synced, and nothing but reports depends on it. A line is
//
//	ATTEMPT OFFSET LENGTH
//
// where the attempt is known by the name of its folder, and the piece is so many bytes of lines that begin at that
// offset of its split; of a compressed file, so many compressed bytes.

// account writes down what one attempt maps. A nil account keeps nothing.
type account struct {
	file *os.File
	name string
}

// openAccount returns nil for an attempt that is not to keep one.
func (s *AttemptSpec) openAccount() (*account, error) {
	if s.Account == "" {
		return nil, nil
	}
	f, err := os.OpenFile(s.Account, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	return &account{file: f, name: filepath.Base(s.Dir)}, nil
}

func (a *account) add(offset, length int64) error {
	if a == nil {
		return nil
	}
	if _, err := fmt.Fprintf(a.file, "%s %d %d\n", a.name, offset, length); err != nil {
		return fmt.Errorf("account: %w", err)
	}
	return nil
}

func (a *account) close() {
	if a != nil {
		a.file.Close()
	}
}

// Mapped is what one attempt mapped of its split.
type Mapped struct {
	Attempt string // the name of its folder
	From    int64  // offset in the split where it began
	Bytes   int64  // of lines, with their ends; of compressed files, compressed
}

// ReadAccount returns what each attempt of a run mapped, in the order in which they began. An account that is not there
// is empty. An attempt may have been killed while it mapped its last piece, which counts as mapped.
func ReadAccount(path string) ([]Mapped, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	defer f.Close()
	var all []Mapped
	at := map[string]int{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		var offset, length int64
		name, rest, _ := strings.Cut(lines.Text(), " ")
		if _, err := fmt.Sscanf(rest, "%d %d", &offset, &length); err != nil || offset < 0 || length < 0 {
			return nil, fmt.Errorf("account: %s:%d: expected an attempt, an offset and a length, got %q", path, n, lines.Text())
		}
		i, ok := at[name]
		if !ok {
			i = len(all)
			at[name] = i
			all = append(all, Mapped{Attempt: name, From: offset})
		}
		all[i].Bytes += length
	}
	return all, lines.Err()
}
