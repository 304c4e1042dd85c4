package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/tailcut/tailcut/internal/suite"
)

// commit names what is measured, for the note of a file.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return ""
	}
	return "at commit " + strings.TrimSpace(string(out))
}

// readResults reads what writeResults has written; an error names the file.
func readResults(path string) (*suite.Results, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	r, err := suite.ReadCSV(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// writeResults writes what there is so far, so that a run that is broken off leaves it, and one that is broken off
// while it writes leaves what was there before.
func writeResults(path, note string, all []*suite.Outcome) error {
	f, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := compressed(f, strings.HasSuffix(path, ".gz"), func(out io.Writer) error { return suite.WriteCSV(out, note, all) }); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func compressed(out io.Writer, zipped bool, write func(io.Writer) error) error {
	if !zipped {
		return write(out)
	}
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := write(z); err != nil {
		return err
	}
	return z.Close()
}
