package main

import (
	"strconv"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sim"
)

// jobsFile is the CSV of --jobs-out.
type jobsFile struct {
	out *outWriter
	csv show.CSV
}

// newJobsFile begins the file; nil without one.
func newJobsFile(to outFile) (*jobsFile, error) {
	out, err := to.create()
	if out == nil {
		return nil, err
	}
	f := &jobsFile{out, show.NewCSV(out)}
	return f, f.csv.Write([]string{
		"policy", "run", "job", "arrival_seconds", "completion_seconds", "tasks", "attempts", "fruitful_seconds", "fruitless_seconds", "state", "progress",
	})
}

// add writes the jobs of a run.
func (f *jobsFile) add(policy, progress string, run int, jobs []sim.JobResult) error {
	for k := range jobs {
		j := &jobs[k]
		state := "succeeded"
		if j.Failed {
			state = "failed"
		}
		err := f.csv.Write([]string{
			policy, strconv.Itoa(run), strconv.FormatUint(uint64(j.Number), 10), show.Plain(j.Arrival.Seconds()), show.Plain(j.Completion.Seconds()),
			strconv.FormatUint(uint64(j.Tasks), 10), strconv.FormatUint(uint64(j.Attempts), 10), show.Plain(j.Fruitful.Seconds()), show.Plain(j.Fruitless.Seconds()),
			state, progress,
		})
		if err != nil {
			return failure{f.out.wrong(err)}
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
	return f.out.close(failed)
}
