package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/tailcut/tailcut/sim"
)

// jobsFile is the CSV of --jobs-out. It gets its name when it is complete: an experiment that was broken off leaves
// an older file as it was.
type jobsFile struct {
	path, part string // equal if the file cannot be renamed, such as a pipe
	file       *os.File
	buffer     *bufio.Writer
	csv        *csv.Writer
}

// newJobsFile creates the file; "" is none.
func newJobsFile(path string) (*jobsFile, error) {
	if path == "" {
		return nil, nil
	}
	f := &jobsFile{path: path, part: path + ".part"}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		f.part = path
	}
	var err error
	if f.file, err = os.Create(f.part); err != nil {
		return nil, wrongFlag("jobs-out", err)
	}
	f.buffer = bufio.NewWriterSize(f.file, 1<<16)
	f.csv = csv.NewWriter(f.buffer)
	return f, f.csv.Write([]string{
		"policy", "run", "job", "arrival_seconds", "completion_seconds", "tasks", "attempts", "fruitful_seconds", "fruitless_seconds",
	})
}

// add writes the jobs of a run.
func (f *jobsFile) add(policy string, run int, jobs []sim.JobResult) error {
	for k := range jobs {
		j := &jobs[k]
		err := f.csv.Write([]string{
			policy, strconv.Itoa(run), strconv.FormatUint(uint64(j.Number), 10), plain(j.Arrival.Seconds()), plain(j.Completion.Seconds()),
			strconv.FormatUint(uint64(j.Tasks), 10), strconv.FormatUint(uint64(j.Attempts), 10), plain(j.Fruitful.Seconds()), plain(j.Fruitless.Seconds()),
		})
		if err != nil {
			return wrongFlag("jobs-out", err)
		}
	}
	return nil
}

// close ends the file: complete unless the work on it failed.
func (f *jobsFile) close(failed error) error {
	if f == nil {
		return failed
	}
	f.csv.Flush()
	err := errors.Join(f.csv.Error(), f.buffer.Flush(), f.file.Close())
	switch {
	case f.part == f.path:
	case failed == nil && err == nil:
		err = os.Rename(f.part, f.path)
	default:
		_ = os.Remove(f.part)
	}
	if failed != nil {
		return failed
	}
	if err != nil {
		return fmt.Errorf("--jobs-out: %w", err)
	}
	return nil
}
