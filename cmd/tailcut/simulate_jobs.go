package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"sync"

	"github.com/tailcut/tailcut/sim"
)

// jobsFile is the CSV of --jobs-out. Runs end in any order and are written in theirs; a run that has to wait for an earlier one is kept. The zero value writes nothing.
type jobsFile struct {
	mu      sync.Mutex
	file    *os.File
	buffer  *bufio.Writer
	csv     *csv.Writer
	next    int // index of the run to be written next
	pending []pendingJobs
}

type pendingJobs struct {
	run  *simulated
	jobs []sim.JobResult
}

// newJobsFile creates the file for a number of runs; "" is none.
func newJobsFile(path string, runs int) (*jobsFile, error) {
	if path == "" {
		return &jobsFile{}, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("--jobs-out: %w", err)
	}
	f := &jobsFile{file: file, buffer: bufio.NewWriterSize(file, 1<<16), pending: make([]pendingJobs, runs)}
	f.csv = csv.NewWriter(f.buffer)
	return f, f.csv.Write([]string{
		"policy", "run", "job", "arrival_seconds", "completion_seconds", "tasks", "attempts", "fruitful_seconds", "fruitless_seconds",
	})
}

// add takes the jobs of run i, and writes what is next.
func (f *jobsFile) add(i int, run *simulated, jobs []sim.JobResult) error {
	if f.file == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending[i] = pendingJobs{run, jobs}
	for ; f.next < len(f.pending) && f.pending[f.next].run != nil; f.next++ {
		p := &f.pending[f.next]
		for k := range p.jobs {
			if err := f.write(p.run, &p.jobs[k]); err != nil {
				return err
			}
		}
		p.jobs = nil
	}
	return nil
}

func (f *jobsFile) write(run *simulated, j *sim.JobResult) error {
	err := f.csv.Write([]string{
		run.policy, strconv.Itoa(run.run), strconv.FormatUint(uint64(j.Number), 10), plain(j.Arrival.Seconds()), plain(j.Completion.Seconds()),
		strconv.FormatUint(uint64(j.Tasks), 10), strconv.FormatUint(uint64(j.Attempts), 10), plain(j.Fruitful.Seconds()), plain(j.Fruitless.Seconds()),
	})
	if err != nil {
		return fmt.Errorf("--jobs-out: %w", err)
	}
	return nil
}

func (f *jobsFile) close() error {
	if f.file == nil {
		return nil
	}
	f.csv.Flush()
	err := f.csv.Error()
	if flushed := f.buffer.Flush(); err == nil {
		err = flushed
	}
	if closed := f.file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("--jobs-out: %w", err)
	}
	return nil
}
